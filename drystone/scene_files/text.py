"""Text into data, with the line of everything, and limits on what a text may hold.

YAML is read event by event: nothing is constructed but texts, numbers, true, false, null, lists
and objects with texts as keys; tags are refused. Numbers are those of YAML 1.2: 1e-3 is one.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

from drystone.errors import SceneFileError
from drystone.plain_files import open_plain

MAX_BYTES = 64 * 2**20  # of a file, checked before it is read
MAX_DEPTH = 40  # levels: below the recursion limit of parsers
MAX_NODES = 3_000_000  # after aliases are followed
MAX_DIGITS = 400  # of a number: floats have 309 before the point
ENDINGS = (".yaml", ".yml", ".json")

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.(inf|Inf|INF)")
_WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "true": True, "True": True, "false": False, "False": False,
}  # fmt: skip


class Place:
    """Where a value stands in its text: its line, and the places of what it holds by key."""

    __slots__ = ("inner", "line")

    def __init__(self, line: int, inner: Any = None) -> None:
        self.line = line
        self.inner: Any = inner

    def find(self, path: tuple[Any, ...]) -> Place:
        """The place of what `path` leads to; parts that lead nowhere are skipped."""
        here = self
        for key in path:
            inner = here.inner
            known = inner if isinstance(inner, dict) else range(len(inner or ()))
            if inner is not None and key in known:
                here = inner[key]
        return here


def read_text(path: Path) -> str:
    """Of a file that is not too large, and UTF-8."""
    if path.suffix.lower() not in ENDINGS:
        raise SceneFileError(f"{path}: expected a name ending in {', '.join(ENDINGS)}")
    try:
        with open_plain(path) as file:
            large = os.fstat(file.fileno()).st_size > MAX_BYTES
            raw = b"" if large else file.read()
    except OSError as error:
        raise SceneFileError(f"{path}: {error.strerror or error}") from None
    if large:
        raise SceneFileError(f"{path}: more than {MAX_BYTES // 2**20} MB: too large for a scene")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise SceneFileError(f"{path}:{line}: not a text in UTF-8") from None


def parse(text: str, name: str) -> tuple[Any, Place]:
    """Data and places of a scene file called `name`, which says whether it is JSON."""
    if name.lower().endswith(".json"):
        data = parse_json(text, name)
        try:  # JSON is YAML, but for a few texts: then there are no lines to name
            return data, parse_yaml(text, name)[1]
        except SceneFileError:
            return data, Place(0)
    return parse_yaml(text, name)


def parse_json(text: str, name: str) -> Any:
    def constant(word: str) -> Any:
        raise SceneFileError(f"{name}: {word} is not a number")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(items)
        if len(out) != len(items):
            twice = Counter(key for key, _ in items).most_common(1)[0][0]
            raise SceneFileError(f"{name}: the key {twice!r} is there twice")
        return out

    def integer(digits: str) -> Any:
        return _number(digits, name, 0)

    try:
        data = json.loads(text, parse_constant=constant, object_pairs_hook=pairs, parse_int=integer)
    except json.JSONDecodeError as error:
        raise SceneFileError(f"{name}:{error.lineno}: not JSON: {_broken(error)}") from None
    except RecursionError:
        raise SceneFileError(f"{name}: nested more than {MAX_DEPTH} deep") from None
    _check(data, name)
    return data


def _broken(error: json.JSONDecodeError) -> str:
    """What is wrong with a JSON text, and after which of its characters."""
    before, after = error.doc[: error.pos].rstrip(), error.doc[error.pos :].lstrip()
    if before.endswith(
        ","
    ):  # some versions of Python complain of the comma, others of what follows
        before, after = before[:-1], f",{after}"
    comma, closing = after[:1], after[1:].lstrip()[:1]
    if comma == "," and closing in ("}", "]"):
        return f"a comma before {closing!r}"
    return f"{error.msg[:1].lower()}{error.msg[1:]} (column {error.colno})"


def _check(data: Any, name: str) -> None:
    """Limits of depth and size."""
    level, nodes = [data], 0
    for _ in range(MAX_DEPTH):
        nodes += len(level)
        if nodes > MAX_NODES:
            raise SceneFileError(f"{name}: more than {MAX_NODES} values")
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return
    raise SceneFileError(f"{name}: nested more than {MAX_DEPTH} deep")


def parse_yaml(text: str, name: str) -> tuple[Any, Place]:
    """Data and places of one YAML document."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder(name)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark is not None else ""
        why = " ".join(str(part) for part in (error.context, error.problem) if part)
        if (
            mark is not None
            and "\t" in "".join(text.split("\n")[mark.line :][:1])[: mark.column + 1]
        ):
            why = "a tab: YAML is indented with spaces"
        raise SceneFileError(f"{name}{line}: not YAML: {why}") from None
    except yaml.YAMLError as error:
        raise SceneFileError(f"{name}: not YAML: {' '.join(str(error).split())}") from None
    if not builder.documents:
        raise SceneFileError(f"{name}: is empty")
    if builder.documents > 1:
        raise SceneFileError(f"{name}: holds {builder.documents} documents: expected one")
    return builder.data, builder.place


class _Open:
    """A list or object that is being read; size and depth: of what it holds, aliases followed."""

    __slots__ = ("anchor", "data", "depth", "key", "place", "size")

    def __init__(self, data: Any, place: Place, anchor: str | None) -> None:
        self.data, self.place, self.anchor = data, place, anchor
        self.key: str | None = None
        self.size = self.depth = 1


class _Builder:
    """Makes data of events, without recursion."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.open: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int, int]] = {}
        self.data: Any = None
        self.place = Place(1)
        self.documents = 0
        self.nodes = 0

    def take(self, event: Any) -> None:
        kind = type(event).__name__
        line = event.start_mark.line + 1 if event.start_mark is not None else 0
        if kind == "DocumentStartEvent":
            self.documents += 1
        elif kind == "ScalarEvent":
            self._scalar(event, line)
        elif kind == "AliasEvent":
            self._alias(event.anchor, line)
        elif kind in ("SequenceStartEvent", "MappingStartEvent"):
            self._begin(event, kind[0] == "S", line)
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            done = self.open.pop()
            if done.anchor is not None:
                self.anchors[done.anchor] = done.data, done.size, done.depth
            self._put(done.data, done.place, done.size, done.depth)

    def fail(self, line: int, why: str) -> SceneFileError:
        return SceneFileError(f"{self.name}:{line}: {why}")

    def _begin(self, event: Any, sequence: bool, line: int) -> None:
        if event.tag is not None:
            raise self.fail(line, f"the tag {event.tag!r} is not allowed")
        if self.open and isinstance(self.open[-1].data, dict) and self.open[-1].key is None:
            raise self.fail(line, "a key must be a text")
        if len(self.open) >= MAX_DEPTH:
            raise self.fail(line, f"nested more than {MAX_DEPTH} deep")
        data: Any = [] if sequence else {}
        self.open.append(_Open(data, Place(line, [] if sequence else {}), event.anchor))

    def _scalar(self, event: Any, line: int) -> None:
        if event.tag is not None:
            raise self.fail(line, f"the tag {event.tag!r} is not allowed")
        inside = self.open[-1] if self.open else None
        if inside is not None and isinstance(inside.data, dict) and inside.key is None:
            if event.value in inside.data:
                raise self.fail(line, f"the key {event.value!r} is there twice")
            inside.key = event.value
            inside.place.inner[event.value] = Place(line)
            return
        value = event.value
        if event.implicit[0]:  # plain: not in quotes
            value = _resolved(value, self.name, line)
        if event.anchor is not None:
            self.anchors[event.anchor] = value, 1, 0
        self._put(value, Place(line), 1, 0)

    def _alias(self, anchor: str, line: int) -> None:
        if anchor not in self.anchors:
            raise self.fail(line, f"*{anchor} is no value that stands before it")
        if self.open and isinstance(self.open[-1].data, dict) and self.open[-1].key is None:
            raise self.fail(line, "a key must be a text")
        value, size, depth = self.anchors[anchor]
        self._put(value, Place(line), size, depth)

    def _put(self, value: Any, place: Place, size: int, depth: int) -> None:
        self.nodes += 1
        if self.nodes > MAX_NODES or size > MAX_NODES:
            raise self.fail(place.line, f"more than {MAX_NODES} values")
        if len(self.open) + depth > MAX_DEPTH:
            raise self.fail(place.line, f"nested more than {MAX_DEPTH} deep")
        if not self.open:
            self.data, self.place = value, place
            return
        inside = self.open[-1]
        inside.size += size
        inside.depth = max(inside.depth, depth + 1)
        if isinstance(inside.data, list):
            inside.data.append(value)
            inside.place.inner.append(place)
        elif inside.key is not None:
            place.line = inside.place.inner[inside.key].line  # where its key is
            inside.data[inside.key] = value
            inside.place.inner[inside.key] = place
            inside.key = None


def _resolved(text: str, name: str, line: int) -> Any:
    """What a plain scalar means."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text) or _FLOAT.fullmatch(text):
        return _number(text, name, line)
    infinite = _INFINITE.fullmatch(text)
    if infinite:
        return "-inf" if infinite[1] == "-" else "inf"
    return text


def _number(text: str, name: str, line: int) -> Any:
    if len(text) > MAX_DIGITS:
        where = f"{name}:{line}" if line else name
        raise SceneFileError(f"{where}: a number of {len(text)} digits")
    if _INTEGER.fullmatch(text):
        whole = int(text)
        return whole if abs(whole) < 2**53 else float(text)
    return float(text)
