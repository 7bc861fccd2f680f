"""The book's drawings: one SVG file serves every language, any theme and a narrow screen."""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
FIGURES = sorted(ROOT.glob("content/*/*.svg"))
LOCALES = tomllib.loads((ROOT / "content/locales.toml").read_text(encoding="utf-8"))
LANGUAGES = ("en", "zh-cn")
STYLESHEET = ROOT / "site/styles/figures.css"

NAMESPACE = "{http://www.w3.org/2000/svg}"
CLASSES = {"correct", "implemented", "muted", "accent", "paper"}
PAINT = {"fill", "stroke", "fill-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap"}
TYPE = {"font-family", "font-size", "font-style", "font-weight", "text-anchor", "dy"}
ATTRIBUTES = {
    "svg": {"viewBox", "role", "fill", "font-family", "font-size"},
    "title": {"lang"},
    "desc": {"lang"},
    "g": PAINT | {"class", "id"},
    "text": TYPE | {"x", "y", "lang", "class"},
    "tspan": TYPE,
    "path": PAINT | {"d", "class", "id"},
    "rect": PAINT | {"x", "y", "width", "height", "class", "id"},
    "circle": PAINT | {"cx", "cy", "r", "class", "id"},
}
MINIMUM_DESCRIPTION = 80  # characters; a Chinese character says about as much as two Latin ones
MAXIMUM_WIDTH = 420.0
MINIMUM_TEXT = 13.0
MINIMUM_INDEX = 11.0  # subscripts and superscripts, which move off the line with dy
NARROW_SCREEN = 328.0
MINIMUM_PIXELS = 11.0
CJK = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")


def parse(source: str) -> ElementTree.Element:
    return ElementTree.fromstring(source)


def tag(element: ElementTree.Element) -> str:
    return element.tag.removeprefix(NAMESPACE)


def content(element: ElementTree.Element) -> str:
    return "".join(element.itertext()).strip()


def allowed_problems(root: ElementTree.Element) -> Iterator[str]:
    """Only elements, attributes, classes and colours that the stylesheet and the build know."""
    for element in root.iter():
        name = tag(element)
        if name not in ATTRIBUTES:
            yield f"element <{name}> is not one of {', '.join(ATTRIBUTES)}"
            continue
        for attribute, value in element.attrib.items():
            if attribute not in ATTRIBUTES[name]:
                yield f"attribute {attribute}={value!r} is not allowed on <{name}>"
            if attribute in {"fill", "stroke"} and value not in {"currentColor", "none"}:
                yield f"{attribute}={value!r}: a colour is currentColor, its meaning is a class"
            if "url(" in value or "://" in value:
                yield f"attribute {attribute}={value!r} refers to something outside the drawing"
        for unknown in sorted(set(element.get("class", "").split()) - CLASSES):
            yield f"class {unknown!r} is not one of {', '.join(sorted(CLASSES))}"


def language_problems(root: ElementTree.Element) -> Iterator[str]:
    """Every language has its title, its alternative in words, and as many labels as the other."""
    for name in ("title", "desc"):
        found = Counter(e.get("lang", "") for e in root if tag(e) == name)
        if found != Counter(LANGUAGES):
            yield f"<{name}> is there for {dict(found)}, it must be there once for each language"
    for element in root:
        if tag(element) == "desc" and len(content(element)) < MINIMUM_DESCRIPTION:
            yield f"<desc lang={element.get('lang')!r}> is shorter than {MINIMUM_DESCRIPTION}"
    labels = [e for e in root.iter(f"{NAMESPACE}text") if "lang" in e.attrib]
    counts = {lang: sum(e.get("lang") == lang for e in labels) for lang in LANGUAGES}
    if sum(counts.values()) != len(labels) or len(set(counts.values())) != 1:
        yield f"labels by language: {counts} of {len(labels)}; the languages must have equally many"
    for element in labels:
        if (element.get("lang") == "zh-cn") != bool(CJK.search(content(element))):
            yield f"label {content(element)!r} is marked as {element.get('lang')!r}"


def view_box(root: ElementTree.Element) -> tuple[float, float]:
    _, _, width, height = (float(part) for part in root.get("viewBox", "0 0 0 0").split())
    return width, height


def frame_problems(root: ElementTree.Element) -> Iterator[str]:
    """The drawing scales with its column, has a role, and names its parts after its file."""
    width, height = view_box(root)
    if not (0 < width <= MAXIMUM_WIDTH and height > 0):
        yield f"viewBox is {root.get('viewBox')!r}, its width must be at most {MAXIMUM_WIDTH:.0f}"
    if root.get("role") != "img" or root.get("fill") != "currentColor":
        yield "the drawing must have role='img' and fill='currentColor'"


def identifier_problems(root: ElementTree.Element, stem: str) -> Iterator[str]:
    identifiers = Counter(e.get("id", "") for e in root.iter() if "id" in e.attrib)
    for identifier, times in identifiers.items():
        if times > 1:
            yield f"id {identifier!r} is used {times} times"
        if not identifier.startswith(f"{stem}-"):
            yield f"id {identifier!r} must start with '{stem}-'"


def type_problems(root: ElementTree.Element) -> Iterator[str]:
    """Labels stay readable when the drawing is as wide as a phone's column."""
    scale = NARROW_SCREEN / (view_box(root)[0] or NARROW_SCREEN)
    base = float(root.get("font-size", "0"))
    for label in root.iter(f"{NAMESPACE}text"):
        size, shift = float(label.get("font-size", base)), 0.0
        for part in [label, *label]:
            shift += float(part.get("dy", "0"))
            is_index = abs(shift) > 0.05  # off the line, until another dy leads back to it
            units = float(part.get("font-size", size))
            if units < (MINIMUM_INDEX if is_index else MINIMUM_TEXT):
                yield f"{content(part)!r} is {units:g} units high, which is too small"
            if not is_index and units * scale < MINIMUM_PIXELS:
                yield f"{content(part)!r} is too small on a column of {NARROW_SCREEN:.0f} pixels"


def path_points(data: str) -> Iterator[tuple[float | None, float | None]]:
    """The points of a path with absolute commands; a coordinate that a command keeps is None."""
    for command, arguments in re.findall(r"([A-Za-z])([^A-Za-z]*)", data):
        numbers = [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", arguments)]
        if command in "ML":
            yield from zip(numbers[::2], numbers[1::2], strict=True)
        elif command == "A":
            yield from zip(numbers[5::7], numbers[6::7], strict=True)
        elif command in "HV":
            yield from ((n, None) if command == "H" else (None, n) for n in numbers)
        elif command != "Z":
            raise ValueError(f"path command {command!r} is not one of M, L, H, V, A, Z")


def extent(label: ElementTree.Element, base: float) -> tuple[float, float]:
    """A cautious estimate of where a label starts and ends: half an em for a Latin letter."""
    size = float(label.get("font-size", base))
    width = size * sum(1.0 if CJK.match(c) else 0.45 for c in content(label))
    share = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.get("text-anchor", "start")]
    start = float(label.get("x", "0")) - share * width
    return start, start + width


def placed(root: ElementTree.Element) -> Iterator[tuple[str, float | None, float | None]]:
    """Every point that a shape or a label occupies at its edge."""
    base = float(root.get("font-size", "14"))
    for e in root.iter():
        if tag(e) == "path":
            yield from (("path", x, y) for x, y in path_points(e.get("d", "")))
        elif tag(e) == "rect":
            x, y = float(e.get("x", "0")), float(e.get("y", "0"))
            yield "rect", x, y
            yield "rect", x + float(e.get("width", "0")), y + float(e.get("height", "0"))
        elif tag(e) == "circle":
            x, y, r = (float(e.get(name, "0")) for name in ("cx", "cy", "r"))
            yield from (("circle", x + s * r, y + s * r) for s in (-1, 1))
        elif tag(e) == "text":
            yield from ((content(e), x, float(e.get("y", "0"))) for x in extent(e, base))


def place_problems(root: ElementTree.Element) -> Iterator[str]:
    """Nothing leaves the view box, where it would be cut off when the drawing is enlarged."""
    width, height = view_box(root)
    for what, x, y in placed(root):
        if not (x is None or -0.5 <= x <= width + 0.5) or not (y is None or -0.5 <= y <= height):
            yield f"{what!r} at ({x}, {y}) leaves the view box of {width:g} by {height:g}"


def problems(source: str, stem: str) -> list[str]:
    root = parse(source)
    return [
        *allowed_problems(root),
        *language_problems(root),
        *frame_problems(root),
        *identifier_problems(root, stem),
        *type_problems(root),
        *place_problems(root),
    ]


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_figure_keeps_every_rule(path: Path) -> None:
    assert problems(path.read_text(encoding="utf-8"), path.stem) == []


def test_there_are_figures_for_the_languages_of_the_book() -> None:
    assert len(FIGURES) >= 16
    assert {language["id"] for language in LOCALES["language"]} == set(LANGUAGES)


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_figure_is_shown_by_every_translation_of_its_chapter(path: Path) -> None:
    chapters = [path.parent / f"{language}.md" for language in LANGUAGES]
    written = [chapter for chapter in chapters if chapter.is_file()]
    line = f":::{{figure}} {path.name}\n"
    assert [c.name for c in written if line not in c.read_text(encoding="utf-8")] == []


def test_the_windows_are_drawn_to_the_scale_of_the_experiment() -> None:
    """The filled rectangles of windows.svg are the suffixes that transformer_update supervises."""
    source = ast.parse((ROOT / "experiments/transformer_update.py").read_text(encoding="utf-8"))
    [scenarios] = [
        ast.literal_eval(node.value)
        for node in source.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SCENARIOS"
    ]
    root = parse((ROOT / "content/full-transformer/windows.svg").read_text(encoding="utf-8"))
    filled = [e for e in root.iter(f"{NAMESPACE}rect") if e.get("fill-opacity") == ".75"]
    *windows, _legend = [float(rect.get("width", "0")) for rect in filled]
    positions = [width / 2.4 for width in windows]
    assert positions == pytest.approx(scenarios["unequal"])


def test_every_class_of_a_figure_has_a_colour() -> None:
    stylesheet = STYLESHEET.read_text(encoding="utf-8")
    assert sorted(c for c in CLASSES if f"svg .{c} {{" not in stylesheet) == []


GOOD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 100" role="img"
  fill="currentColor" font-family="sans-serif" font-size="14">
<title lang="en">Two ranks</title><title lang="zh-cn">两个 rank</title>
<desc lang="en">DESCRIPTION</desc><desc lang="zh-cn">DESCRIPTION</desc>
<text lang="en" x="10" y="20">count</text><text lang="zh-cn" x="10" y="20">计数</text>
<text x="60" y="20">n<tspan dy="4" font-size="11">r</tspan></text>
<path d="M10 40H90V60L20 50A5 5 0 0 1 25 55Z" class="correct" id="sample-line"/>
<rect x="100" y="40" width="20" height="20"/><circle cx="200" cy="50" r="9"/>
</svg>""".replace("DESCRIPTION", "Says what can be seen. " * 5)


def test_a_good_drawing_has_no_problem() -> None:
    assert problems(GOOD, "sample") == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</svg>", "<style>text{}</style></svg>", "element <style> is not one of"),
        ("</svg>", "<script>1</script></svg>", "element <script> is not one of"),
        ("</svg>", "<image href='a.png'/></svg>", "element <image> is not one of"),
        ('class="correct"', 'class="right"', "class 'right' is not one of"),
        ('class="correct"', 'style="fill:red"', "attribute style='fill:red' is not allowed"),
        ('class="correct"', 'fill="#0072b2"', "a colour is currentColor"),
        ('class="correct"', 'fill="url(#a)"', "refers to something outside"),
        ('viewBox="0 0 360 100"', 'viewBox="0 0 700 100"', "its width must be at most 420"),
        ('viewBox="0 0 360 100"', 'viewBox="0 0 360 100" width="9"', "attribute width='9'"),
        ('role="img"', "", "must have role='img'"),
        ('<title lang="en">Two ranks</title>', "", "<title> is there for"),
        ("Says what can be seen. " * 5, "Short.", "is shorter than 80"),
        ('<text lang="zh-cn" x="10" y="20">计数</text>', "", "labels by language"),
        (">计数<", ">count<", "label 'count' is marked as 'zh-cn'"),
        (">count<", ">计数<", "label '计数' is marked as 'en'"),
        ('id="sample-line"', 'id="line"', "id 'line' must start with 'sample-'"),
        ("<rect ", '<rect id="sample-line" ', "id 'sample-line' is used 2 times"),
        ('font-size="14"', 'font-size="12"', "is 12 units high"),
        ('font-size="11"', 'font-size="9"', "'r' is 9 units high"),
        ('dy="4" font-size="11"', 'font-size="11"', "'r' is 11 units high"),
        ("H90", "H900", "leaves the view box"),
        ('cx="200"', 'cx="355"', "leaves the view box"),
        ('width="20"', 'width="400"', "leaves the view box"),
        ('x="60" y="20"', 'x="359" y="20"', "leaves the view box"),
    ],
)
def test_a_broken_drawing_is_found(old: str, new: str, message: str) -> None:
    assert old in GOOD
    found = problems(GOOD.replace(old, new), "sample")
    assert any(message in problem for problem in found), found
