"""Code as HTML with classes; the colours are in the stylesheet."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

PLAIN = ("text", "txt", "")


class UnknownLanguageError(Exception):
    """A language that Pygments does not know."""


def highlight(code: str, language: str) -> str:
    """`code` in a `pre` that the keyboard can scroll. Raises `UnknownLanguageError`."""
    inner = escape(code) if language in PLAIN else _marked(code, language)
    name = escape(language or "text")
    return f'<pre class="code" data-language="{name}" tabindex="0"><code>{inner}</code></pre>\n'


@lru_cache(maxsize=512)
def _marked(code: str, language: str) -> str:
    # Imported here and below: a build whose texts were parsed before marks no code.
    from pygments import highlight as pygments_highlight
    from pygments.formatters import HtmlFormatter

    return str(pygments_highlight(code, _lexer(language), HtmlFormatter(nowrap=True)))


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        raise UnknownLanguageError(language) from None
