"""What is wrong with a scene file, in words: file, line, key, value, and what was meant."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from drystone.constraints.joints.registry import other_words
from drystone.errors import SceneFileError
from drystone.scene_files.text import Place
from drystone.values import meant

ERRORS_LISTED = 20  # errors of a file that are listed
TURNS = ("orientation", "inertia_frame")
TURN = (
    "expected an angle [rad] in the plane, a quaternion [w, x, y, z] in space, or {degrees: 90, "
    "axis: [0, 0, 1]}"
)


def where(name: str, place: Place, path: tuple[Any, ...]) -> str:
    """file:line: bodies[3].shape."""
    line = place.find(path).line
    at = f"{name}:{line}" if line else name
    key = key_of(path)
    return f"{at}: {key}" if key else at


def key_of(path: tuple[Any, ...]) -> str:
    """bodies[3].shape.radius."""
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else str(part)
    return out


def scene_file_error(error: ValidationError, data: Any, name: str, place: Place) -> SceneFileError:
    """The SceneFileError of what pydantic found, the first line first."""
    found: dict[tuple[Any, ...], tuple[int, str, str]] = {}
    for item in error.errors(include_url=False):
        path = real_path(item["loc"], data)
        context = item.get("ctx", {})
        if item["type"] == "unknown_key":
            path = (*path, context["key"])
        elif item["type"] in ("union_tag_invalid", "union_tag_not_found"):
            path = (*path, context["discriminator"].strip("'"))
        words = TURN if path and path[-1] in TURNS else _words(item)
        text = f"{where(name, place, path)}{_value(path, data)}: {words}"
        # of the branches of a union the one that got deepest knows best
        if path not in found or len(item["loc"]) > found[path][0]:
            found[path] = len(item["loc"]), text, item["type"]
    kept = _without_shallow(found)
    ordered = sorted(kept, key=lambda path: (place.find(path).line, [str(p) for p in path]))
    lines = tuple(found[path][1] for path in ordered[:ERRORS_LISTED])
    more = len(ordered) - 1
    return SceneFileError(lines[0] + (f" (and {more} more)" if more else ""), lines)


def _without_shallow(found: dict[tuple[Any, ...], Any]) -> list[tuple[Any, ...]]:
    """A complaint about an inner value says more than one about the value that holds it."""
    inner = {path[:k] for path in found for k in range(len(path))}
    return [path for path in found if path not in inner]


def real_path(loc: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    """The part of pydantic's path that is in the data: names of branches are left out."""
    out: list[Any] = []
    for k, part in enumerate(loc):
        inside = (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and part < len(data)
        )
        if inside:
            data = data[part]
            out.append(part)
        elif k == len(loc) - 1 and isinstance(data, dict) and str(part).isidentifier():
            out.append(part)  # a key that is missing
    return tuple(out)


def _value(path: tuple[Any, ...], data: Any) -> str:
    """= 3, if the value is there."""
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return ""
    return f" = {short(data)}"


def short(value: Any) -> str:
    """A value in at most 60 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


# what others call shapes, and keys that are not where they are looked for
ALSO = {
    "cube": "box", "brick": "box", "ball": "sphere", "circle": "disk", "square": "rectangle",
    "plane": "ground", "mesh": "mesh-file",
}  # fmt: skip
ELSEWHERE = {
    "ground": "the ground is one of the bodies, {name: ground, shape: {kind: ground}}",
    "dt": "the step belongs to the method, {name: time-stepping, dt: 0.005}",
}


def _words(item: Any) -> str:
    """What was expected, in our words."""
    kind, context = item["type"], item.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "unknown_key":
        hint = ELSEWHERE.get(context["key"]) if context["hint"].startswith("expected") else None
        return f"unknown key: {hint or context['hint']}"
    if kind == "union_tag_not_found":
        return "is missing"
    if kind == "union_tag_invalid":
        known = [text.strip(" '") for text in context["expected_tags"].split(",")]
        other = (other_words() | ALSO).get(str(context["tag"]))
        tag = other if other in known else context["tag"]
        return meant(tag, known, f"expected one of {', '.join(known)}")
    if kind == "literal_error":
        known = [text.strip(" '") for text in context["expected"].replace(" or ", ",").split(",")]
        return meant(item["input"], known, f"expected {context['expected']}")
    simple = {
        "float_type": "expected a number",
        "finite_number": "expected a finite number",
        "int_type": "expected a whole number",
        "bool_type": "expected true or false",
        "string_type": "expected a string",
        "string_too_short": "expected a string",
        "list_type": "expected a list",
        "dict_type": "expected keys and values",
        "model_type": "expected keys and values",
        "model_attributes_type": "expected keys and values",
    }
    if kind in simple:
        return simple[kind]
    limits = {
        "greater_than": "more than", "greater_than_equal": "at least", "less_than": "less than",
        "less_than_equal": "at most",
    }  # fmt: skip
    for name, word in limits.items():
        if kind == name:
            return f"expected {word} {next(iter(context.values())):g}"
    if kind in ("too_short", "too_long"):
        least = context.get("min_length")
        size = f"at least {least}" if least is not None else f"at most {context['max_length']}"
        return f"expected {size} entries, got {context['actual_length']}"
    return str(item["msg"])
