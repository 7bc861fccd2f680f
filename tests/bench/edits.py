"""Saved changes of every kind, and how the open page shows that it has them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from playwright.sync_api import BrowserContext, Page

from experiments import record as records_of
from tests import editing, wikis
from tests.bench.wiki import make
from tests.editing import Serving

SLUG = "chapter-4"
FIGURE = ":::{figure} drawing.svg\n:id: drawing\nA box.\n:::\n\n{#limits}\n"
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
    const all = { subtree: true, childList: true, characterData: true, attributes: true };
    observer.observe(document.documentElement, all);
    document.addEventListener("wiki-changed", check);
  });
}"""
# A worker says that its script runs; the page shows it.
FIRST = 240_000.0
WORKERS = """{
  const Plain = Worker;
  window.Worker = class extends Plain {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", ({ data }) => {
        if (data.kind === "probe") document.documentElement.dataset.worker = data.n;
      });
    }
  };
}"""
MAIN = "document.querySelector('main').textContent.replace(/\\s+/g, ' ').includes(wanted)"
SOURCE = "document.querySelector('main').innerHTML.includes(wanted)"
PROPERTY = "getComputedStyle(document.documentElement).getPropertyValue('--probe') == wanted"
ELEMENT = "document.querySelector('wiki-calculator').dataset.probe == wanted"
WORKER = "document.documentElement.dataset.worker == wanted"
THEME = "document.querySelector('wiki-theme').dataset.probe == wanted"


@dataclass
class Site:
    """A server on a copy of the project, and a made-up bilingual wiki."""

    code: Path
    root: Path
    serving: Serving

    def edit(self, path: Path, change: Callable[[str], str]) -> None:
        """Save a file changed from what it was at first."""
        kept = path.with_name(f".{path.name}.first")
        if not kept.exists():
            kept.write_text(path.read_text("utf-8"), "utf-8")
        editing.write(path, change(kept.read_text("utf-8")))

    def mend(self, path: Path) -> None:
        """Save a file as it was at first."""
        self.edit(path, lambda text: text)


def serve(folder: Path, chapters: int, port: int) -> Site:
    """A server on a fresh copy of the project and a wiki of so many chapters."""
    code, root = editing.project(folder / "code"), make(folder / "wiki", chapters)
    for language in ("en", "zh-cn"):
        wikis.replace(root / f"content/{SLUG}/{language}.md", "{#limits}\n", FIGURE)
    drawing = (wikis.WIKI / "content/alpha/drawing.svg").read_text("utf-8")
    (root / f"content/{SLUG}/drawing.svg").write_text(drawing, "utf-8")
    return Site(code, root, Serving(code, root, "--port", str(port)))


def opened(context: BrowserContext, site: Site, path: str) -> Page:
    """A page that listens for news and whose Python has started."""
    page = context.new_page()
    page.add_init_script(WORKERS)
    page.on("request", lambda _: None)  # from here on, so that none is missed below
    # A large book that no build has seen takes its time before its first page is there.
    with page.expect_request(lambda request: "/-/events" in request.url, timeout=FIRST):
        page.goto(site.serving.url + path, timeout=FIRST)
    # Python starts when the page is idle; what an editor waits for begins after that.
    page.wait_for_selector("wiki-calculator[data-state=live]", timeout=90_000)
    return page


@dataclass(frozen=True)
class Edit:
    """One kind of change: `save` makes the change number `n`; `wanted` is what it shows."""

    save: Callable[[Site, int], None]
    wanted: str
    look: str = MAIN
    language: str = "en"

    def milliseconds(self, page: Page, site: Site, n: int) -> float:
        """From the save to the change in the page."""
        wanted = self.wanted.format(n=n)
        page.evaluate(WATCH, [self.look, wanted])
        saved = time.time() * 1000
        self.save(site, n)
        return float(page.evaluate("window.seen")) - saved


def _replacing(file: str, old: str, new: str, where: str = "root") -> Callable[[Site, int], None]:
    """Saves `file` with `new`, in which {n} is the number of the change, in place of `old`."""

    def save(site: Site, n: int) -> None:
        def change(text: str) -> str:
            assert re.search(old, text), f"{file} does not say {old!r}"
            given = new.replace("{n}", str(n))
            return re.sub(old, lambda found: found.expand(given), text, count=1)

        site.edit(getattr(site, where) / file, change)

    return save


def _in_record(site: Site, n: int) -> None:
    def change(text: str) -> str:
        body = json.loads(text)
        del body["record_sha256"]
        body["results"]["sum"]["total"] = float(f"{n}.5")
        return json.dumps(asdict(records_of.seal(body)))

    site.edit(site.root / "experiments/records/tiny.gloo.json", change)


TEXT = f"content/{SLUG}/en.md"
RESULT = """
first = compute


def compute(inputs):
    result = first(inputs)
    result.values["total_count"] = 10{n}
    return result
"""

EDITS = {
    "chapter, English": Edit(
        _replacing(TEXT, "Two ranks hold", "Two ({n}) hold"), "Two ({n}) hold"
    ),
    "chapter, Chinese": Edit(
        _replacing(f"content/{SLUG}/zh-cn.md", "Two ranks hold", "Two ({n}) hold"),
        "Two ({n}) hold", language="zh-cn",
    ),
    "formula": Edit(
        _replacing(TEXT, "By {eq}`main` it is so.", "Now $q_{{n}}^{{n}}$."), "q_{{{n}}}^{{{n}}}"
    ),
    "template": Edit(
        _replacing("site/templates/page.html", "<h1>", "<p>probe {n}</p><h1>", "code"), "probe {n}"
    ),
    "style": Edit(
        _replacing("site/styles/base.css", r"\Z", r"\n:root { --probe: {n}; }\n", "code"),
        "{n}", PROPERTY,
    ),
    "script": Edit(
        _replacing(
            "site/scripts/wiki-calculator.js", r"connectedCallback\(\) \{",
            r"\g<0>\n    this.dataset['probe'] = '{n}';", "code",
        ),
        "{n}", ELEMENT,
    ),
    "worker script": Edit(
        _replacing(
            "site/scripts/worker.js", r"\Z", r"\nscope.postMessage({ kind: 'probe', n: {n} });\n",
            "code",
        ),
        "{n}", WORKER,
    ),
    "theme script": Edit(
        _replacing(
            "site/scripts/theme.js", r"connectedCallback\(\) \{",
            r"\g<0>\n      this.dataset['probe'] = '{n}';", "code",
        ),
        "{n}", THEME,
    ),
    "calculator": Edit(
        _replacing("calculators/two_replica_ledger.py", r"\Z", RESULT, "code"),
        "Two ranks hold 10{n} tokens",
    ),
    "calculator's sentence": Edit(
        _replacing(
            "calculators/strings/en.toml", r'(\[two_replica_ledger\]\ntitle = )"[^"]*"',
            r'\1"Ledger {n}"', "code",
        ),
        "Ledger {n}",
    ),
    "interface's words": Edit(
        _replacing("site/strings/en.toml", r'\nchecks = "[^"]*"', r'\nchecks = "Look {n}"', "code"),
        "Look {n}",
    ),
    "record": Edit(_in_record, "gave {n}.5"),
    "figure": Edit(_replacing(f"content/{SLUG}/drawing.svg", "A box", "Box {n}"), "Box {n}"),
    "glossary": Edit(
        _replacing("content/glossary.toml", "One process of", "Process {n} of"),
        "Process {n} of", SOURCE,
    ),
    "sources": Edit(
        _replacing("content/sources.toml", "The manual", "Manual {n}"), "Manual {n}", SOURCE
    ),
    "summary": Edit(
        _replacing("content/summary.toml", 'title.en = "All"', 'title.en = "Part {n}"'),
        "Part {n}",
    ),
}  # fmt: skip
