"""The editor's server as a process: what it tells open pages, how it starts and ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import serve
from tests import editing, wikis
from tests.editing import Serving


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


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


BROKEN = {
    "template": (
        "site/templates/parts/figure.html", "{% if %}\n", "TemplateSyntaxError",
        "site/templates/parts/figure.html", "{% if %}",
    ),
    "name in a template": (
        "site/templates/parts/figure.html", "{{ nothing }}\n", "UndefinedError",
        "site/templates/parts/figure.html", "{{ nothing }}",
    ),
    "style": (
        "site/styles/base.css", '@import "./gone.css";\n', "style does not bundle",
        "site/styles/base.css", '@import "./gone.css";',
    ),
    "script": (
        "site/scripts/main.js", "const = 1;\n", "script does not bundle",
        "site/scripts/main.js", "const = 1;",
    ),
    "calculator": (
        "calculators/two_replica_ledger.py", "def compute(:\n", "SyntaxError",
        "calculators/two_replica_ledger.py", "def compute(:",
    ),
    "string": (
        "site/strings/en.toml", "= 3\n", "interface strings", "site/strings/en.toml", "= 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_part_of_the_site_is_told_with_its_line(
    server: tuple[Serving, Path, Path], kind: str
) -> None:
    running, code, _ = server
    file, broken, message, place, line = BROKEN[kind]
    text = (code / file).read_text("utf-8")
    with running.news("/en/alpha/") as news:
        news.next("troubles")
        editing.write(code / file, broken + text)
        trouble = news.trouble(message)
        assert (trouble["file"], trouble["line"], trouble["source"]) == (place, 1, line)
        running.until(rf"^{place}:1: .*{message}")
        running.until(r"^ +1 \| " + line.replace("(", r"\("))
        editing.write(code / file, text)
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
        deadline = time.monotonic() + 20
        while len(running.children()) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)  # the programs for formulas and bundles, and the build behind
        children = running.children()
        assert len(children) >= 3
        started = time.monotonic()
        assert running.stop(signal.SIGINT) == 0
        assert time.monotonic() - started < 10
    assert running.lines[-1].endswith("stopped")
    # The bundler's own helper ends when it finds the bundler gone.
    deadline = time.monotonic() + 10
    while any(map(is_running, children)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [pid for pid in children if is_running(pid)] == []
    assert not list((root / ".cache").rglob("*.building-*/build.json"))


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state != "Z"


def test_changed_code_of_the_build_starts_the_server_again(tmp_path: Path, root: Path) -> None:
    code = editing.project(tmp_path / "code")
    with Serving(code, root, "--port", str(free_port())) as running:
        url = running.url
        path = code / "site/pipeline/fill.py"
        text = path.read_text("utf-8")
        said = len(running.lines)
        editing.write(path, text + "\nnonsense(\n")
        running.until(r"^build.py:1: build does not start", said)
        said = len(running.lines)
        editing.write(path, text.replace('class="bound"', 'class="bound tied"'))
        assert running.until(r"serving (http://127\.0\.0\.1:\d+)/", said).group(1) == url
        # It serves from its first moment; the page is there once the book is built.
        deadline = time.monotonic() + editing.START
        while 'class="bound tied"' not in running.get("/en/alpha/")[1]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
