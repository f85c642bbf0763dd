"""Methods as texts: ``time-stepping:convex,dt=1/480``.

A method's name, and after a colon words and KEY=VALUE, with commas between them. A word is a choice
of one of the method's options ("convex" is a formulation, "lemke" a solver or a force method), the
first of ``Method.words`` that knows it.
"""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from drystone.errors import OptionError
from drystone.scenes.base import unknown
from drystone.steppers.base import Method
from drystone.steppers.registry import METHODS, RESERVED, choices

OWN = RESERVED  # the method that the scene brings
EVENT_DRIVEN_BODIES = 30  # bodies up to which events are few enough to follow by default
SWITCHES = {"true": True, "yes": True, "false": False, "no": False, "none": None}


def read_method(text: str, own: Any = None) -> Any:
    """The method that a text describes.

    own: the method of the scene; "own" means it, and a text that names its kind changes only what
    it says. Other methods start from their defaults.
    """
    name, colon, rest = text.strip().partition(":")
    name = name.strip()
    if name == OWN:
        if own is None:
            raise OptionError(f"{text!r}: this world brings no method of its own")
        base = own
    elif name in METHODS:
        base = own if getattr(own, "name", None) == name else METHODS[name]()
    else:
        raise OptionError(_no_method(text, name))
    parts = [part.strip() for part in rest.split(",")] if colon else []
    if any(not part for part in parts):
        raise OptionError(f"{text!r}: expected METHOD:WORD,KEY=VALUE,...")
    options: dict[str, Any] = {}
    for part in parts:
        key, value = _option(text, base, part)
        if key in options:
            raise OptionError(f"{text!r}: {key} is said twice")
        options[key] = value
    try:
        return replace(base, **options) if options else base
    except OptionError as error:
        raise OptionError(f"{text!r}: {error}") from None


def _no_method(text: str, name: str) -> str:
    """That no method has the name; a choice of one of them is taken for what it may be short of."""
    for method, kind in METHODS.items():
        if name in _words(kind):
            return f"{text!r} is not a method: did you mean '{method}:{text.strip()}'?"
    said = unknown("method", name, dict.fromkeys((*METHODS, OWN)))
    return said if text.strip() == name else f"{text!r}: {said}"


def _words(method: type[Method]) -> dict[str, str]:
    """{word: the first option that it is a choice of}"""
    return {
        word: option
        for option in reversed(method.words)
        for word in choices(method, option)
        if word not in SWITCHES
    }


def _option(text: str, base: Any, part: str) -> tuple[str, Any]:
    """KEY=VALUE or a word as an option of a method and its value."""
    known = {item.name: item for item in fields(base)}
    key, equals, value = (piece.strip() for piece in part.partition("="))
    if not equals:
        words = _words(type(base))
        if part in words:
            return words[part], part
        raise OptionError(f"{text!r}: {base.name}: {unknown('choice', part, words)}")
    key = key.replace("-", "_")
    if key not in known:
        raise OptionError(f"{text!r}: {base.name}: {unknown('option', key, known)}")
    if not value:
        raise OptionError(f"{text!r}: {key} has no value")
    return key, value if value in choices(type(base), key) else read_value(value)


def read_value(text: str) -> Any:
    """A whole number, a number (also 1/480), true, false, none, or the text itself."""
    if text.lower() in SWITCHES:
        return SWITCHES[text.lower()]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError):
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _step(dt: float) -> str:
    """A step as a person writes it, 1/960 if it is that to the last bit."""
    near = Fraction(dt).limit_denominator(100_000)
    return str(near) if float(near) == dt else repr(dt)


def default_methods(own: Any, bodies: int) -> list[str]:
    """What a scene is compared by when nothing is said: its own method, the other formulation, a
    finer step; and for small worlds forces from event to event."""
    out = [OWN]
    if getattr(own, "name", None) == "time-stepping":
        other = "coulomb" if own.formulation == "convex" else "convex"
        out.append(f"time-stepping:{other}")
        law = "" if own.formulation == "coulomb" else "coulomb,"
        out.append(f"time-stepping:{law}dt={_step(own.dt / 4)}")
    else:
        out += ["time-stepping:coulomb", "time-stepping:convex"]
    if bodies <= EVENT_DRIVEN_BODIES and getattr(own, "name", None) != "event-driven":
        out.append("event-driven")
    return out
