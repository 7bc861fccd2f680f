"""The stylesheet as it is published, and the rules that its sources keep."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

from pipeline import fonts
from pipeline.errors import BuildError
from pipeline.styles import Styles, styles

ROOT = Path(__file__).resolve().parents[1]
SHEETS = sorted((ROOT / "site" / "styles").glob("*.css"))
SERIF = ROOT / "node_modules/@fontsource/source-serif-4/files/source-serif-4-latin-400-normal.woff2"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Styles:
    return styles(ROOT, tmp_path_factory.mktemp("cache"), ["naïve"], ["∑θ"])


def sheet(bundle: Styles) -> str:
    return bundle.files[bundle.urls["main.css"]].decode()


def characters_of(font: bytes) -> set[int]:
    return set(TTFont(io.BytesIO(font)).getBestCmap())


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_a_sheet_is_short_and_has_no_colour_of_its_own(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 250
    assert "!important" not in text
    if path.name != "tokens.css":
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(|oklch\(", text) == []


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_a_sheet_knows_no_left_and_right(path: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
    physical = (
        r"^\s*(?:margin|padding|border)-(?:left|right|top|bottom)\b|^\s*(?:left|right|top|bottom):"
    )
    assert re.findall(physical, text, flags=re.MULTILINE) == []


def test_every_property_in_use_is_a_token() -> None:
    text = "".join(path.read_text("utf-8") for path in SHEETS)
    declared = set(re.findall(r"(--wiki-[a-z0-9-]+):", text))
    assert set(re.findall(r"var\((--wiki-[a-z0-9-]+)", text)) - declared == set()


def test_every_sheet_has_a_layer_declared_once() -> None:
    main = (ROOT / "site" / "styles" / "main.css").read_text("utf-8")
    [order] = re.findall(r"^@layer ([^;{]+);", main, flags=re.MULTILINE)
    layers = re.findall(r'@import "[^"]+" layer\((\w+)\);', main)
    assert set(layers) == set(order.replace(" ", "").split(","))
    imported = set(re.findall(r'@import "\./([^"]+)"', main))
    assert imported == {path.name for path in SHEETS} - {"main.css"}
    for path in SHEETS:
        assert path.name == "main.css" or "@layer" not in path.read_text("utf-8")


def test_the_bundle_names_only_what_is_published(published: Styles) -> None:
    named = re.findall(r"url\(\"?([^\")]*)\"?\)", sheet(published))
    assert named
    for name in named:
        assert f"assets/{name.removeprefix('./')}" in published.files
    assert "truetype" not in sheet(published)


def test_the_same_sources_give_the_same_names(published: Styles, tmp_path: Path) -> None:
    assert styles(ROOT, tmp_path, ["naïve"], ["∑θ"]).files == published.files


def test_a_font_keeps_what_the_book_says_and_nothing_else(tmp_path: Path) -> None:
    small = fonts.cut(SERIF.read_bytes(), fonts.characters(["naïve"]), tmp_path)
    assert ord("ï") in characters_of(small)
    assert ord("ö") not in characters_of(small)
    assert set(map(ord, "0123456789abcXYZ.,−×")) <= characters_of(small)
    assert len(small) < 0.7 * SERIF.stat().st_size


def test_a_formula_font_keeps_the_signs_of_the_formulas(published: Styles) -> None:
    [name] = [path for path in published.files if "KaTeX_Main-Regular" in path]
    found = characters_of(published.files[name])
    assert ord("∇") not in found
    [italic] = [path for path in published.files if "KaTeX_Math-Italic" in path]
    assert ord("θ") in characters_of(published.files[italic])


def test_a_sheet_that_does_not_bundle_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    (tmp_path / "site" / "styles").mkdir(parents=True)
    (tmp_path / "site" / "styles" / "main.css").write_text('@import "./gone.css";')
    with pytest.raises(BuildError) as raised:
        styles(tmp_path, tmp_path, [], [])
    assert 'Could not resolve "./gone.css"' in str(raised.value)
