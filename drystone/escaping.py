"""Texts that were written by others, made harmless for where they are shown.

Names of bodies, titles and descriptions of scenes, paths and what errors quote come from files that
anybody may have written. Each place where a text is shown has one function here, and every text
goes through it on its way there.
"""

from __future__ import annotations

import html
import re
import unicodedata

PANEL_CHARACTERS = 2000  # characters of one text that are shown in a panel
WORD_JOINER = "\u2060"  # of no width
_MARKDOWN = re.compile(r"([!-/:-@\[-`{-~])")  # ASCII that means something to Markdown
_ADDRESS = re.compile(r"(www|https?:/|@)(?=[./\w-])", re.IGNORECASE)  # of what it makes a link
# Where a spreadsheet may see the start of a formula: at the start of a cell, which is also after a
# separator that is not ours (a spreadsheet of another country separates cells by semicolons).
_FORMULA = re.compile(r"(^|[;\t\r\n])(\s*[=+\-@|%\uff1d\uff0b\uff0d\uff20])")
_BLANK = ("\t", "\r", "\n")  # at the start of a cell: skipped by some spreadsheets


def for_html(text: object) -> str:
    """In a page: as it is, never as tags or attributes."""
    return html.escape(for_line(text), quote=True)


def for_markdown(text: object) -> str:
    """In one line of Markdown that may be rendered with HTML: every sign as a character reference,
    so that neither Markdown, nor HTML, nor JSX sees any of them; addresses are cut by a character
    of no width, so that no link is made of them."""
    line = for_line(" ".join(str(text)[:PANEL_CHARACTERS].split()))
    cut = _ADDRESS.sub(f"\\1{WORD_JOINER}", line)
    return _MARKDOWN.sub(lambda found: f"&#{ord(found[1])};", cut)


def for_figure(text: object) -> str:
    """In a figure: dollar signs begin no formula, and an underscore at the start hides no label."""
    plain = re.sub(r"\\(?=\$)", r"\\ ", for_line(text)).replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def for_cell(text: object) -> object:
    """In a cell of a table that a spreadsheet may open, or a terminal print: text, never a formula,
    nor what moves the cursor. Numbers stay, and so do the breaks of cells of several lines."""
    if not isinstance(text, str):
        return text
    try:
        float(text)
    except ValueError:
        marked = _FORMULA.sub(r"\1'\2", _visible(text, "".join(_BLANK)))
        return f"'{marked}" if marked.startswith(_BLANK) else marked
    return text


def for_line(text: object) -> str:
    """On one line of a terminal, or as a label: what would move the cursor, change colours, turn
    the direction of writing or hide is written as an escape."""
    return _visible(str(text), "")


def for_lines(text: object) -> str:
    """The same of a text of several lines."""
    return _visible(str(text), "\n")


def _visible(text: str, kept: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in kept or not _hidden(c) else _escape(c) for c in text)


def _hidden(c: str) -> bool:
    """Controls, formats (direction of writing, zero width), surrogates, line separators."""
    return unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def _escape(c: str) -> str:
    code = ord(c)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
