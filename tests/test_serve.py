"""The editor's server as a process: what it tells open pages, how it starts and ends."""

from __future__ import annotations

import json
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline import serve
from tests import editing, wikis
from tests.editing import Serving
from tests.processes import all_end, eventually, free_port


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return wikis.copied(tmp_path)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Path, Path]]:
    """A server on a copy of the project and of the tiny wiki: it, the copy, the wiki."""
    folder = tmp_path_factory.mktemp("editing")
    code, root = editing.project(folder / "code"), wikis.copied(folder)
    with Serving(code, root, "--port", str(free_port())) as running:
        running.until("serving")
        yield running, code, root


def at_start(text: str) -> Callable[[str], str]:
    return lambda whole: text + whole


def at_end(text: str) -> Callable[[str], str]:
    return lambda whole: whole + text


def instead(old: str, new: str) -> Callable[[str], str]:
    def change(whole: str) -> str:
        assert old in whole
        return whole.replace(old, new, 1)

    return change


LEDGER = "calculators/two_replica_ledger.py"
FIGURE = "site/templates/parts/figure.html"
# How a file is broken, and what is told: message, file, and the line itself.
BROKEN = {
    "directive": (
        "content/alpha/en.md", instead(":::{calculator}", ":::{calculater}"),
        "did you mean 'calculator'?", "content/alpha/en.md", ":::{calculater} two_replica_ledger",
    ),
    "binding": (
        "content/alpha/en.md", instead("{cite}`manual`", "{cite}`manuel`"),
        "did you mean 'manual'?", "content/alpha/en.md", "As {cite}`manuel` says.",
    ),
    "table": (
        "content/glossary.toml", instead('id = "rank"', 'id = "rank'),
        "not TOML", "content/glossary.toml", 'id = "rank',
    ),
    "record": (
        "experiments/records/tiny.gloo.json", instead('"seed": 0', '"seed": 1'),
        "record cannot be trusted", "experiments/records/tiny.gloo.json", '"seed": 1,',
    ),
    "cut record": (
        "experiments/records/tiny.gloo.json", lambda whole: whole[:60],
        "not a record", "experiments/records/tiny.gloo.json", None,
    ),
    "figure": (
        "content/alpha/drawing.svg", instead("</svg>", "</sv>"),
        "drawing is not XML", "content/alpha/drawing.svg", "</sv>",
    ),
    "element of a figure": (
        "content/alpha/drawing.svg", instead("</svg>", "<script/></svg>"),
        "element not allowed in a drawing", "content/alpha/drawing.svg", "<script/></svg>",
    ),
    "template": (
        FIGURE, at_start("{% if %}\n"), "TemplateSyntaxError", FIGURE, "{% if %}",
    ),
    "name in a template": (
        FIGURE, at_start("{{ nothing }}\n"), "UndefinedError", FIGURE, "{{ nothing }}",
    ),
    "import of a style": (
        "site/styles/base.css", at_start('@import "./gone.css";\n'), "style cannot be read",
        "site/styles/base.css", '@import "./gone.css";',
    ),
    "style": (
        "site/styles/base.css", at_start(".a { color red; }\n"), 'Expected ":"',
        "site/styles/base.css", ".a { color red; }",
    ),
    "script": (
        "site/scripts/main.js", at_start("const = 1;\n"), "script cannot be read",
        "site/scripts/main.js", "const = 1;",
    ),
    "syntax of a calculator": (
        LEDGER, at_start("def compute(:\n"), "SyntaxError", LEDGER, "def compute(:",
    ),
    "import of a calculator": (
        LEDGER, at_end("\nraise RuntimeError('on import')\n"), "RuntimeError: on import",
        LEDGER, "raise RuntimeError('on import')",
    ),
    "calculator": (
        LEDGER, at_end("\n\ndef compute(inputs):\n    return 1 / 0\n"),
        "ZeroDivisionError: division by zero, at calculators/two_replica_ledger.py:",
        "content/alpha/en.md", None,
    ),
    "endless calculator": (
        LEDGER, at_end("\n\ndef compute(inputs):\n    while True:\n        pass\n"),
        "TooLongError: no end within 3 s, at calculators/two_replica_ledger.py:",
        "content/alpha/en.md", None,
    ),
    "calculator without a number": (
        LEDGER,
        at_end(
            "\nfirst = compute\n\n\ndef compute(inputs):\n    result = first(inputs)\n"
            "    result.values['total_count'] = float('nan')\n    return result\n"
        ),
        "value is undefined", "content/alpha/en.md", None,
    ),
    "calculators' words": (
        "calculators/strings/en.toml", at_start("= 3\n"), "not TOML",
        "calculators/strings/en.toml", "= 3",
    ),
    "interface's words": (
        "site/strings/en.toml", at_start("= 3\n"), "interface strings", "site/strings/en.toml",
        "= 3",
    ),
    "missing word": (
        "site/strings/en.toml", instead("\nchecks = ", "\nlooks = "), "interface text missing",
        "site/strings/en.toml", None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_broken_is_told_with_its_line_until_it_is_mended(
    server: tuple[Serving, Path, Path], kind: str
) -> None:
    running, code, root = server
    file, breaking, message, place, line = BROKEN[kind]
    path = (root if (root / file).exists() else code) / file
    text = path.read_text("utf-8")
    said = len(running.lines)
    with running.news("/en/alpha/") as news:
        news.next("troubles")
        editing.write(path, breaking(text))
        trouble = news.trouble(message)
        assert trouble["file"] == place
        assert line is None or trouble["source"] == line
        running.until(rf"^{place}:{trouble['line']}: .*{re.escape(message)}", said)
        if trouble["source"]:
            running.until(rf"^ +{trouble['line']} \| {re.escape(trouble['source'])}", said)
        editing.write(path, text)
        news.peace()
        running.until("mended", said)
    assert running.get("/en/alpha/")[0] == 200


def test_the_home_page_s_calculator_is_told_by_its_own_line(
    server: tuple[Serving, Path, Path],
) -> None:
    running, code, _ = server
    path = code / LEDGER
    text = path.read_text("utf-8")
    with running.news("/en/") as news:
        news.next("page")
        editing.write(path, text + "\n\ndef compute(inputs):\n    return 1 / 0\n")
        trouble = news.trouble("ZeroDivisionError")
        assert (trouble["file"], trouble["source"]) == (LEDGER, "return 1 / 0")
    with running.news("/en/beta/") as news:
        news.trouble("ZeroDivisionError")
        editing.write(path, text)
        news.peace()


def test_a_page_that_is_left_is_told_nothing_and_a_new_one_everything(
    server: tuple[Serving, Path, Path],
) -> None:
    running, _, root = server
    with running.news("/en/beta/") as news:
        assert "A remark." in news.page("A remark.")
        wikis.replace(root / "content/beta/en.md", "A remark.", "Another remark.")
        assert "Another remark." in news.page("Another remark.")
        wikis.replace(root / "content/beta/en.md", "Another remark.", "A remark.")
        news.page("A remark.")


def test_what_the_whole_check_finds_in_the_other_language_goes_with_the_mending(
    server: tuple[Serving, Path, Path],
) -> None:
    running, _, root = server
    path = root / "content/alpha/en.md"
    text = path.read_text("utf-8")
    with running.news("/en/alpha/") as news:
        news.next("troubles")
        editing.write(path, text.replace("A trap with", "With $q^{77}$ a trap and"))
        assert news.trouble("formula missing")["file"] == "content/alpha/zh-cn.md"
        said = len(running.lines)
        editing.write(path, text)
        news.peace()
        running.until("mended", said)
        assert not any("whole site checked" in line for line in running.lines[said:])


def test_search_is_made_behind_the_editor_s_back(server: tuple[Serving, Path, Path]) -> None:
    running, _, root = server
    said = len(running.lines)
    wikis.replace(root / "content/beta/en.md", "A remark.", "A remark worth finding.")
    running.until("whole site checked in .*: 0 errors, 1 warnings; search is up to date", said)
    status, entry = running.get("/pagefind/whatever/pagefind-entry.json")
    assert (status, set(json.loads(entry)["languages"])) == (200, {"en", "zh-cn"})
    wikis.replace(root / "content/beta/en.md", "A remark worth finding.", "A remark.")


def test_what_is_not_there_is_not_found(server: tuple[Serving, Path, Path]) -> None:
    running, _, _ = server
    for path in ("/en/nothing/", "/assets/nothing.js", "/records/../../x", "/pagefind/x/../../y"):
        assert running.get(path)[0] == 404
    assert running.get("/en/alpha")[0] == 307
    assert running.get("/records/tiny.gloo.json")[0] == 200


def test_a_taken_port_gives_way_to_the_next() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        listener = serve.listen(port)
        with listener:
            assert listener.getsockname()[1] > port


def test_interrupting_leaves_nothing_running(tmp_path: Path, root: Path) -> None:
    code = editing.project(tmp_path / "code")
    running = Serving(code, root, "--port", str(free_port()))
    running.until("serving")
    with running.news("/en/alpha/") as news:
        news.next("page")
        wikis.replace(root / "content/beta/en.md", "b = 2", "b = 3")
        running.until("content/beta/en.md: ")
        # The programs for formulas and bundles, and the build behind.
        eventually(lambda: len(running.children()) >= 3, 20)
        children = running.children()
        assert len(children) >= 3
        started = time.monotonic()
        assert running.stop(signal.SIGINT) == 0
        assert time.monotonic() - started < 10
    assert running.lines[-1].endswith("stopped")
    assert all_end(children)
    assert not list((root / ".cache").rglob("*.building-*/build.json"))


def test_changed_code_of_the_build_starts_the_server_again(tmp_path: Path, root: Path) -> None:
    code = editing.project(tmp_path / "code")
    with Serving(code, root, "--port", str(free_port())) as running:
        url = running.url
        path = code / "site/pipeline/fill.py"
        text = path.read_text("utf-8")
        said = len(running.lines)
        editing.write(path, text + "\nnonsense(\n")
        running.until(r"^site/pipeline/fill.py:\d+: build does not start", said)
        said = len(running.lines)
        editing.write(path, text.replace('class="bound"', 'class="bound tied"'))
        assert running.until(r"serving (http://127\.0\.0\.1:\d+)/", said).group(1) == url
        # It serves from its first moment; the page is there once the book is built.
        tied = 'class="bound tied"'
        assert eventually(lambda: tied in running.get("/en/alpha/")[1], editing.START)
