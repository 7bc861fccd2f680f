"""Grids in the site: on the pages that have them, in the manifest, in the cache."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import brotli
import pytest

from calculators import page
from pipeline import bundle, grid, write
from pipeline.code import calculator_digest
from pipeline.errors import has_errors
from tests import wikis
from tests.test_grid import asked, place, stored

# -- the site ----------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return wikis.copied(tmp_path)


def specs(root: Path) -> list[Mapping[str, Any]]:
    """The calculators of the wiki's pages as they are rendered."""
    checked = wikis.checked(root)
    assert not has_errors(checked.findings)
    found: list[Mapping[str, Any]] = []
    for path, html in sorted(checked.rendered.pages.items()):
        for piece in html.decode().split(" data-spec>")[1:]:
            text = piece.partition("</script>")[0]
            found.append({**json.loads(text), "page": path})
    return found


def test_every_state_of_the_tiny_wiki_is_there_to_the_byte(root: Path) -> None:
    files = wikis.checked(root).rendered.files
    found = specs(root)
    pages = ("alpha/", "beta/", "")
    wanted = [f"{language}/{name}index.html" for language in ("en", "zh-cn") for name in pages]
    assert [spec["page"] for spec in found] == wanted
    for spec in found:
        body = files[spec["grid"]["file"]]
        assert isinstance(body, bytes)
        assert len(stored(body)) == (64 if spec["name"] == "lr_schedule" else 144)
        for changes, answer in stored(body):
            assert answer == asked(spec, changes)
        assert set(spec["grid"]["inputs"]) == {
            key for changes, _ in stored(body) for key in changes
        }


def test_files_are_listed_and_lie_beside_their_compressed_forms(root: Path) -> None:
    checked = wikis.checked(root)
    out = write.write(checked).out
    manifest = json.loads((out / "build.json").read_text("utf-8"))["files"]
    listed = [path for path in manifest if path.startswith("grids/")]
    plain = [path for path in listed if path.endswith(".json")]
    assert len(plain) == 6
    assert sorted(listed) == sorted(p + end for p in plain for end in ("", ".br", ".gz"))
    for path in plain:
        body = (out / path).read_bytes()
        assert bundle.digest(body)[:12] in path
        assert brotli.decompress((out / f"{path}.br").read_bytes()) == body
        assert gzip.decompress((out / f"{path}.gz").read_bytes()) == body


def test_place_can_do_without(root: Path) -> None:
    for name in ("en.md", "zh-cn.md"):
        wikis.replace(root / "content/alpha" / name, ":id: ledger", ":id: ledger\n:grid: off")
    assert ["grid" in spec for spec in specs(root)] == [False, True, True] * 2


def test_equal_places_share_a_file_and_others_do_not(tmp_path: Path) -> None:
    layer = grid.Layer(tmp_path)
    one, two = place("float_order"), {**place("float_order"), "id": "there"}
    other = {**one, "hide": ["orders"]}
    layer.make([one, two, other, place("float_order", "zh-cn"), place("float_order", ranks=3)])
    paths = {item.path for item in layer.grids.values()}
    assert len(layer.grids) == len(paths) == 4


# -- the cache ---------------------------------------------------------------------------------


def test_grid_is_kept_and_a_changed_calculator_makes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = place("float_order")

    def made() -> grid.Grid:
        layer = grid.Layer(tmp_path)
        layer.make([spec])
        [found] = layer.grids.values()
        return found

    first = made()
    respond = page.respond
    monkeypatch.setattr(page, "respond", lambda request: respond(request).replace("0", "1"))
    assert made() == first
    monkeypatch.setattr(grid, "calculator_digest", lambda name: f"{name} has changed")
    second = made()
    assert second.path != first.path
    assert second.forms[""] != first.forms[""]


@pytest.mark.parametrize(
    "file", ["float_order.py", "numbers.py", "page.py", "render.py", "specs.py", "strings/en.toml"]
)
def test_every_source_of_an_answer_is_part_of_the_key(file: str, tmp_path: Path) -> None:
    folder = tmp_path / "calculators"
    shutil.copytree(wikis.PROJECT / "calculators", folder)
    before = calculator_digest("float_order", folder)
    path = folder / file
    path.write_text(path.read_text("utf-8") + "\n# changed\n", "utf-8")
    assert calculator_digest("float_order", folder) != before


def test_state_that_fails_is_a_finding(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    respond = page.respond

    def broken(request: str) -> str:
        if json.loads(request)["inputs"]["accumulation_steps"] == 3:
            raise ZeroDivisionError("a fault made by a test")
        return respond(request)

    monkeypatch.setattr(page, "respond", broken)
    (told,) = [item for item in wikis.checked(root).findings if "beside" in item.what]
    line = Path(__file__).read_text("utf-8").split("\n")[told.line - 1]
    assert (told.file, line.strip()) == ("tests/test_grid_site.py", told.value)
    assert told.what == "two_replica_ledger fails in a state beside that of ledger"
    assert told.rule == "ZeroDivisionError: a fault made by a test"
    assert told.action == "mend the calculator, or say `:grid: off`"
    assert wikis.checked(root).rendered.pages["en/alpha/index.html"].count(b'"grid":') == 0
