"""Drawings: one SVG file with both languages becomes the SVG of one language, safe to inline."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from functools import lru_cache

from pipeline.errors import FindingError
from pipeline.model import Text
from pipeline.views import FigureView

SVG = "{http://www.w3.org/2000/svg}"
_LANG = ("lang", "{http://www.w3.org/XML/1998/namespace}lang")
ELEMENTS = frozenset(
    {"svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text"}
    | {"tspan", "title", "desc", "defs", "marker", "use", "symbol", "clipPath", "pattern"}
)
CLASSES = frozenset({"correct", "implemented", "muted", "accent", "paper"})
_COLOURED = ("fill", "stroke", "color", "stop-color")
_PAINTS = ("currentColor", "none", "inherit")
_LOCAL = re.compile(r"url\(#([\w-]+)\)")


class DrawingError(FindingError):
    """A drawing that cannot be used: what, value, rule, what to do; and its file, once known."""


def of(file: Text, languages: tuple[str, ...], language: str, prefix: str) -> FigureView:
    """The drawing of a file. Raises `DrawingError` with the line that is wrong."""
    try:
        return draw(file.text, languages, language, prefix)
    except DrawingError as error:
        error.place = file.file, _line(file.text, error)
        raise


def _line(source: str, error: DrawingError) -> int:
    """The line that the parser names, or the first that holds the element or the attribute."""
    _, value, rule, _ = error.parts
    if found := re.search(r"line (\d+)", rule):
        return int(found.group(1))
    sought = re.split("[=>]", value)[0]
    lines = source.split("\n") if sought != value else []
    return next((at for at, line in enumerate(lines, start=1) if sought in line), 1)


@lru_cache(maxsize=4096)
def draw(source: str, languages: tuple[str, ...], language: str, prefix: str) -> FigureView:
    """The drawing in `language`; ids get `prefix`, so that two drawings can share a page."""
    root = _parse(source)
    _check(root, languages)
    _keep_language(root, language)
    title, description = _words(root, "title"), _words(root, "desc")
    _prefix_ids(root, prefix)
    _name(root, prefix)
    ET.register_namespace("", SVG[1:-1])
    return FigureView(ET.tostring(root, encoding="unicode"), title, description)


def _parse(source: str) -> ET.Element:
    if "<!DOCTYPE" in source or "<!ENTITY" in source:
        raise DrawingError(
            "drawing with a document type",
            "<!DOCTYPE",
            "entities could expand without end",
            "remove the declaration",
        )
    try:
        root = ET.fromstring(source)
    except (ET.ParseError, RecursionError) as error:
        raise DrawingError(
            "drawing is not XML", source[:60], str(error), "correct the file"
        ) from None
    if root.tag != f"{SVG}svg" or "viewBox" not in root.attrib:
        raise DrawingError(
            "drawing is not an SVG with a viewBox",
            root.tag,
            "the root is <svg> with xmlns and viewBox",
            "add them",
        )
    return root


def _check(root: ET.Element, languages: Sequence[str]) -> None:
    for name in ("width", "height"):
        if name in root.attrib:
            raise DrawingError(
                "drawing with a size of its own",
                f"{name}={root.attrib[name]}",
                "the page decides the size",
                "remove it and keep viewBox",
            )
    for element in _elements(root):
        tag = element.tag.removeprefix(SVG)
        if tag not in ELEMENTS:
            raise DrawingError(
                "element not allowed in a drawing",
                f"<{tag}>",
                "drawings are shapes and text",
                "remove it",
            )
        for name, value in element.attrib.items():
            _check_attribute(tag, name, value)
    for tag in ("title", "desc"):
        found = {_language(child) for child in root if child.tag == SVG + tag}
        for language in languages:
            if language not in found:
                raise DrawingError(
                    f"drawing without <{tag}>",
                    language,
                    "a drawing has a title and a description in every language",
                    f'add <{tag} lang="{language}">',
                )


def _check_attribute(tag: str, name: str, value: str) -> None:
    plain = name.rpartition("}")[2]
    if plain.startswith("on") or plain == "style":
        raise DrawingError(
            "attribute not allowed in a drawing",
            f"{plain}={value}",
            "drawings hold no script and no style",
            "remove it",
        )
    if plain == "href" and not value.startswith("#"):
        raise DrawingError(
            "outside reference in a drawing", value, "a drawing stands alone", "draw it here"
        )
    if plain in _COLOURED and value not in _PAINTS and _LOCAL.fullmatch(value) is None:
        raise DrawingError(
            "colour in a drawing",
            f"{plain}={value}",
            "colours are currentColor or a class, so that both themes work",
            f"use one of the classes {', '.join(sorted(CLASSES))}",
        )
    if plain == "class":
        for item in value.split():
            if item not in CLASSES:
                raise DrawingError(
                    "unknown class in a drawing",
                    item,
                    f"the classes are {', '.join(sorted(CLASSES))}",
                    f"correct it on <{tag}>",
                )


def _elements(root: ET.Element) -> Iterator[ET.Element]:
    return (element for element in root.iter() if isinstance(element.tag, str))


def _language(element: ET.Element) -> str:
    return next((element.attrib[name] for name in _LANG if name in element.attrib), "")


def _keep_language(element: ET.Element, language: str) -> None:
    for child in list(element):
        if _language(child) not in ("", language):
            element.remove(child)
        else:
            for name in _LANG:
                child.attrib.pop(name, None)
            _keep_language(child, language)


def _words(root: ET.Element, tag: str) -> str:
    return " ".join(" ".join(child.itertext()) for child in root if child.tag == SVG + tag).strip()


def _prefix_ids(root: ET.Element, prefix: str) -> None:
    for element in _elements(root):
        for name, value in list(element.attrib.items()):
            plain = name.rpartition("}")[2]
            if plain == "id":
                element.attrib[name] = f"{prefix}-{value}"
            elif plain == "href":
                element.attrib[name] = f"#{prefix}-{value[1:]}"
            elif "url(#" in value:
                element.attrib[name] = _LOCAL.sub(rf"url(#{prefix}-\1)", value)


def _name(root: ET.Element, prefix: str) -> None:
    """The drawing is one image whose name is its title and whose description is its desc."""
    for tag in ("title", "desc"):
        for child in root:
            if child.tag == SVG + tag:
                child.attrib["id"] = f"{prefix}-{tag}"
    root.attrib["role"] = "img"
    root.attrib["aria-labelledby"] = f"{prefix}-title"
    root.attrib["aria-describedby"] = f"{prefix}-desc"
