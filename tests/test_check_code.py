"""Checks of the site's own code that `--check` makes: names in templates, names in stylesheets."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.checks import styles, templates
from pipeline.code import PROJECT
from tests import wikis

STRINGS = {"en": {"nav": {"next": "Next"}}, "zh-cn": {"nav": {"next": "下一章"}}}
TEMPLATES = {
    "sound": (
        "{% set x = page.a %}{{ x }}{% for y in site.b %}{{ loop.index }}{{ y }}{% endfor %}", [],
    ),
    "a name in a branch that no page takes": (
        "\n{% if page.never %}{{ titel }}{% endif %}",
        ["a.html:2: unknown name in a template 'titel': a template takes what the build gives it; "
         "did you mean 'title'?"],
    ),
    "a template in a branch": (
        "{% if page.never %}{% include 'b.htm' %}{% endif %}",
        ["a.html:1: unknown template 'b.htm': templates are in site/templates/; did you mean "
         "'b.html'?"],
    ),
    "words in a branch": (
        '{% if page.never %}\n{{ t("nav.nxet") }}{% endif %}',
        ["a.html:2: unknown words 'nav.nxet': site/strings/en.toml has no such text; did you mean "
         "'nav.next'?"],
    ),
    "no template": (
        "{% if page %}\n{{ page }",
        ["a.html:2: not a template 'a.html': unexpected '}'; mend it"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_looked_at_in_every_branch(name: str, tmp_path: Path) -> None:
    text, expected = TEMPLATES[name]
    (tmp_path / "a.html").write_text(text, "utf-8")
    (tmp_path / "b.html").write_text("", "utf-8")
    found = templates.unknown(tmp_path, STRINGS)
    assert [str(item).replace(f"{tmp_path.as_posix()}/", "") for item in found] == expected


def test_names_come_from_the_code_that_gives_them() -> None:
    assert {"page", "site", "t", "spec_json", "title", "csp"} <= templates.given()
    assert "titel" not in templates.given()


STYLES = {
    "sound": (
        "@layer a;\n@media print { a:hover { --own: 1; text-wrap: pretty; -webkit-mask-image: none"
        " } }"
        '\n@property --x { syntax: "<length>"; inherits: false; initial-value: 0px }\n'
        "/* colr: red; @medai */ a { content: 'x; colr: red;'; background: url(a.png?colr:1;) }",
        [],
    ),
    "a property": (
        "a { color: red;\n  backgruond: blue }", ["site/styles/a.css:2: unknown CSS property "
        "'backgruond': browsers pass over what they do not know: backgruond: blue }; did you mean "
        "'background'?"],
    ),
    "a prefixed property": (
        "a { -webkit-aperance: none; }", ["site/styles/a.css:1: unknown CSS property "
        "'-webkit-aperance': browsers pass over what they do not know: a { -webkit-aperance: none; "
        "}; did you mean 'appearance'?"],
    ),
    "a rule": (
        "@medai print { a { color: red } }", ["site/styles/a.css:1: unknown CSS rule 'medai': "
        "browsers pass over what they do not know: @medai print { a { color: red } }; did you mean "
        "'media'?"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STYLES)
def test_a_stylesheet_names_what_browsers_know(name: str, tmp_path: Path) -> None:
    text, expected = STYLES[name]
    (tmp_path / "site/styles").mkdir(parents=True)
    (tmp_path / "site/styles/a.css").write_text(text, "utf-8")
    assert list(map(str, styles.unknown(tmp_path))) == expected


def test_a_list_of_properties_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(styles, "LIST", "nowhere/*.ts")
    (found,) = styles.unknown(tmp_path)
    assert str(found).startswith("package.json:1: list of CSS properties: no property is listed")


def test_the_site_s_own_styles_and_templates_are_sound(tmp_path: Path) -> None:
    assert list(styles.unknown(PROJECT)) == []
    root = wikis.copied(tmp_path)
    assert wikis.messages(root, is_check=True) == []
