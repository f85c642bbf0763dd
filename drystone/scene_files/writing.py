"""Documents as text: lines that a person can read, numbers to the last bit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

WIDTH = 100  # columns of a line, as in the sources
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_. /+*()^=-]*[A-Za-z0-9_)]|[A-Za-z]")
_RESERVED = {
    "true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan",
}  # fmt: skip


def json_text(document: Mapping[str, Any]) -> str:
    """JSON, an entry of a list on each line."""
    parts = []
    for key, value in document.items():
        if isinstance(value, list) and value and isinstance(value[0], dict | list):
            rows = ",\n".join(f"    {_json(entry)}" for entry in value)
            parts.append(f"  {_json(key)}: [\n{rows}\n  ]")
        else:
            parts.append(f"  {_json(key)}: {_json(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def yaml_text(document: Mapping[str, Any]) -> str:
    """YAML that readers of versions 1.1 and 1.2 agree on."""
    return "\n".join(_block(document, 0)) + "\n"


def _block(value: Mapping[str, Any], depth: int) -> Iterable[str]:
    pad = "  " * depth
    for key, entry in value.items():
        line = f"{pad}{_scalar(key)}: {_flow(entry)}"
        if isinstance(entry, dict) and entry and len(line) > WIDTH:
            yield f"{pad}{_scalar(key)}:"
            yield from _block(entry, depth + 1)
        elif isinstance(entry, list) and entry and _is_long(entry, line):
            yield f"{pad}{_scalar(key)}:"
            yield from _items(entry, depth + 1)
        elif isinstance(entry, str) and "\n" in entry and entry.strip() == entry:
            yield from _paragraph(f"{pad}{_scalar(key)}: ", entry, depth + 1, line)
        else:
            yield line


def _is_long(entry: list[Any], line: str) -> bool:
    return len(line) > WIDTH or any(isinstance(item, dict) for item in entry)


def _items(entries: list[Any], depth: int) -> Iterable[str]:
    pad = "  " * depth
    for entry in entries:
        line = f"{pad}- {_flow(entry)}"
        if len(line) <= WIDTH or not entry or not isinstance(entry, dict | list):
            yield line
            continue
        inner = _block(entry, depth + 1) if isinstance(entry, dict) else _items(entry, depth + 1)
        for k, text in enumerate(inner):
            yield f"{pad}- {text.lstrip()}" if k == 0 else text


def _paragraph(head: str, text: str, depth: int, line: str) -> Iterable[str]:
    """A text of several lines, as it is; in quotes where that could change it."""
    rows = text.split("\n")
    printable = all(row == row.rstrip() and row.isprintable() for row in rows)
    if not printable or rows[0].startswith(" "):
        yield line
        return
    yield f"{head}|-"
    for row in rows:
        yield f"{'  ' * depth}{row}" if row else ""


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(entry) for entry in value) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED and ": " not in text:
        return text
    return json.dumps(text, ensure_ascii=True)


def _float(value: float) -> str:
    """Exact, and a number for readers of YAML 1.1 too, which want a point before an exponent."""
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    if e and "." not in mantissa:
        mantissa += ".0"
    if e and exponent[0] not in "+-":
        exponent = f"+{exponent}"
    return mantissa + e + exponent
