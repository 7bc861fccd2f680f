"""A saved change in the open page: how soon, and what stays as the reader left it."""

from __future__ import annotations

import json
import re
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from experiments import record as records_of
from tests import editing, wikis
from tests.bench.wiki import make
from tests.editing import Serving
from tests.test_serve import free_port

CHAPTERS = 15
ROUNDS = 3
LIMIT = 100.0  # milliseconds from the save to the change in the page, as a median
FIGURE = ":::{figure} drawing.svg\n:id: drawing\nA box.\n:::\n\n{#limits}\n"
CHAPTER = "/en/chapter-4/"
TEXT = "content/chapter-4/en.md"
# Resolves with the time, in milliseconds since 1970, at which the page shows it.
WATCH = """([look, wanted]) => {
  const sees = new Function("wanted", `return ${look}`);
  window.seen = new Promise((resolve) => {
    const observer = new MutationObserver(check);
    function check() {
      if (!sees(wanted)) return;
      resolve(performance.timeOrigin + performance.now());
      observer.disconnect();
      document.removeEventListener("wiki-changed", check);
    }
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    document.addEventListener("wiki-changed", check);
  });
}"""


MAIN = "document.querySelector('main').textContent.replace(/\\s+/g, ' ').includes(wanted)"
PROPERTY = "getComputedStyle(document.documentElement).getPropertyValue('--probe') == wanted"


@dataclass(frozen=True)
class Edit:
    """One kind of change: `save` makes the change number `n`; `wanted` is what it shows."""

    save: Callable[[Site, int], None]
    wanted: str
    look: str = MAIN
    reloads: bool = False


@dataclass
class Site:
    """A server on a copy of the project, and a wiki of 15 bilingual chapters."""

    code: Path
    root: Path
    serving: Serving

    def edit(self, path: Path, change: Callable[[str], str]) -> None:
        """Save a file changed from what it was at first."""
        kept = path.with_name(f".{path.name}.first")
        if not kept.exists():
            kept.write_text(path.read_text("utf-8"), "utf-8")
        editing.write(path, change(kept.read_text("utf-8")))


def in_chapter(site: Site, n: int) -> None:
    site.edit(site.root / TEXT, lambda text: text.replace("Two ranks hold", f"Two ({n}) hold"))


def in_formula(site: Site, n: int) -> None:
    def change(text: str) -> str:
        return text.replace("By {eq}`main` it is so.", f"Now $q_{{{n}}}^{{{n}}}$.")

    site.edit(site.root / TEXT, change)


def in_template(site: Site, n: int) -> None:
    path = site.code / "site/templates/page.html"
    site.edit(path, lambda text: text.replace("<h1>", f"<p>probe {n}</p><h1>"))


def in_style(site: Site, n: int) -> None:
    path = site.code / "site/styles/base.css"
    site.edit(path, lambda text: f"{text}\n:root {{ --probe: {n}; }}\n")


def in_script(site: Site, n: int) -> None:
    path = site.code / "site/scripts/main.js"
    mark = f"[{n}, performance.timeOrigin + performance.now()]"
    site.edit(path, lambda text: f"{text}\nObject.assign(window, {{ probe: {mark} }});\n")


def in_calculator(site: Site, n: int) -> None:
    def change(text: str) -> str:
        more = f'result.values["total_count"] = 10{n}'
        again = f"def compute(inputs):\n    result = first(inputs)\n    {more}\n    return result\n"
        return f"{text}\nfirst = compute\n\n\n{again}"

    site.edit(site.code / "calculators/two_replica_ledger.py", change)


def in_sentence(site: Site, n: int) -> None:
    path = site.code / "calculators/strings/en.toml"
    title = r'(\[two_replica_ledger\]\ntitle = )"[^"]*"'
    site.edit(path, lambda text: re.sub(title, rf'\1"Ledger {n}"', text))


def in_string(site: Site, n: int) -> None:
    path = site.code / "site/strings/en.toml"
    site.edit(path, lambda text: re.sub(r'\nchecks = "[^"]*"', f'\nchecks = "Look {n}"', text))


def in_record(site: Site, n: int) -> None:
    def change(text: str) -> str:
        body = json.loads(text)
        del body["record_sha256"]
        body["results"]["sum"]["total"] = float(f"{n}.5")
        return json.dumps(asdict(records_of.seal(body)))

    site.edit(site.root / "experiments/records/tiny.gloo.json", change)


def in_figure(site: Site, n: int) -> None:
    path = site.root / "content/chapter-4/drawing.svg"
    site.edit(path, lambda text: text.replace("A box", f"Box {n}"))


EDITS = {
    "chapter": Edit(in_chapter, "Two ({n}) hold"),
    "formula": Edit(in_formula, "q_{{{n}}}^{{{n}}}"),
    "template": Edit(in_template, "probe {n}"),
    "style": Edit(in_style, "{n}", PROPERTY),
    "calculator": Edit(in_calculator, "Two ranks hold 10{n} tokens"),
    "calculator's sentence": Edit(in_sentence, "Ledger {n}"),
    "string": Edit(in_string, "Look {n}"),
    "record": Edit(in_record, "gave {n}.5"),
    "figure": Edit(in_figure, "Box {n}"),
    "script": Edit(in_script, "{n}", "window.probe?.[0] == wanted", reloads=True),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("editing")
    code, root = editing.project(folder / "code"), make(folder / "wiki", CHAPTERS)
    for language in ("en", "zh-cn"):
        wikis.replace(root / f"content/chapter-4/{language}.md", "{#limits}\n", FIGURE)
    drawing = (wikis.WIKI / "content/alpha/drawing.svg").read_text("utf-8")
    (root / "content/chapter-4/drawing.svg").write_text(drawing, "utf-8")
    with Serving(code, root, "--port", str(free_port())) as serving:
        serving.until("serving")
        yield Site(code, root, serving)


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """An open chapter that listens for news."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    with opened.expect_request(lambda request: "/-/events" in request.url):
        opened.goto(site.serving.url + CHAPTER)
    yield opened
    context.close()


def contention() -> float:
    """How many times longer this machine takes now than it would if it were ours alone."""
    wall, used = time.perf_counter(), time.thread_time()
    while time.thread_time() - used < 0.02:
        pass
    return max(1.0, (time.perf_counter() - wall) / 0.02)


def milliseconds(page: Page, site: Site, edit: Edit, n: int) -> float:
    """From the save to the change in the page."""
    wanted = edit.wanted.format(n=n)
    if not edit.reloads:
        page.evaluate(WATCH, [edit.look, wanted])
    saved = time.time() * 1000
    edit.save(site, n)
    if not edit.reloads:
        return float(page.evaluate("window.seen")) - saved
    page.wait_for_function(f"wanted => {edit.look}", arg=wanted)
    return float(page.evaluate("window.probe[1]")) - saved


def test_a_saved_change_is_in_the_open_page_at_once(page: Page, site: Site) -> None:
    # Python starts when the page is idle; what an editor waits for begins after that.
    page.wait_for_selector("wiki-calculator[data-state=live]", timeout=90_000)
    took: dict[str, list[float]] = {name: [] for name in EDITS}
    shares = []
    for name, edit in EDITS.items():
        for n in range(10, 10 + ROUNDS + 1):
            shares.append(contention())
            took[name].append(milliseconds(page, site, edit, n))
    # The first of each kind starts programs and compiles templates; an editor saves again.
    medians = {name: statistics.median(times[1:]) for name, times in took.items()}
    print({name: f"{time:.0f} ms" for name, time in medians.items()}, statistics.median(shares))
    assert statistics.median(medians.values()) < LIMIT * statistics.median(shares)


def test_the_reader_stays_where_he_was(page: Page, site: Site) -> None:
    in_chapter(site, 1)
    expect(page.get_by_text("Two (1) hold")).to_be_attached()
    box = page.locator("wiki-calculator [data-part=box]").first
    box.fill("3")
    answer = page.locator("wiki-exercise [name=answer]").first
    answer.fill("4.25")
    page.evaluate("document.querySelector('#exercises').scrollIntoView({ behavior: 'instant' })")
    page.wait_for_timeout(300)
    heading = "document.querySelector('#exercises').getBoundingClientRect().top"
    before = page.evaluate(heading)
    page.evaluate("window.mark = document.querySelector('wiki-calculator')")

    def change(text: str) -> str:
        more = "A paragraph that was not there before.\n\n" * 5
        return text.replace("Two ranks", f"{more}Two new ranks")

    site.edit(site.root / TEXT, change)
    expect(page.get_by_text("Two new ranks")).to_be_attached()
    assert box.input_value() == "3"
    assert answer.input_value() == "4.25"
    assert page.evaluate("window.mark === document.querySelector('wiki-calculator')")
    assert abs(page.evaluate(heading) - before) < 2


def test_an_edited_calculator_answers_to_the_inputs_that_were_given(page: Page, site: Site) -> None:
    page.goto(site.serving.url + "/en/chapter-8/")
    calculator = page.locator('wiki-calculator[name="two_replica_ledger"]')
    box = calculator.locator("[name=counts][data-part=box]").first
    box.fill("5")
    box.press("Tab")
    in_calculator(site, 77)
    path = site.code / "calculators/strings/en.toml"
    title = r"(\[two_replica_ledger\.metrics\]\n(?:.*\n)*?total_count = )\"[^\"]*\""
    site.edit(path, lambda text: re.sub(title, r'\1"All of them"', text))
    expect(page.get_by_text("hold 1077 tokens")).to_be_attached()
    expect(calculator).not_to_have_attribute("data-stale", "")
    assert box.input_value() == "5"


def test_an_error_is_told_in_the_page_until_it_is_mended(page: Page, site: Site) -> None:
    site.edit(site.root / TEXT, lambda text: text.replace("{cite}`manual`", "{cite}`manuel`"))
    panel = page.locator("wiki-troubles")
    expect(panel).to_contain_text("content/chapter-4/en.md:")
    expect(panel).to_contain_text("unknown source 'manuel'")
    expect(panel).to_contain_text("did you mean 'manual'?")
    expect(panel).to_contain_text("| As {cite}`manuel` says.")
    site.serving.until(r"^ +\d+ \| As {cite}`manuel` says\.")
    site.edit(site.root / TEXT, lambda text: text)
    expect(panel).to_have_count(0)
