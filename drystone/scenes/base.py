"""What a scene is, and how its settings are read."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from drystone.arguments import answering
from drystone.errors import OptionError
from drystone.simulation import Simulation
from drystone.steppers.base import Method
from drystone.steppers.event_driven.options import EventDriven
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.values import meant, text
from drystone.world import World

if TYPE_CHECKING:
    from drystone.scenes.checks import Checked

WORDS = {
    "true": True, "yes": True, "on": True, "1": True,
    "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip
TYPES = {int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True)
class Plan:
    """What the function of a scene returns: the world, how long it is worth watching [s], the
    method (the defaults unless a paper fixes more), and hints for drawing."""

    world: World
    duration: float
    method: Any = field(default_factory=TimeStepping)
    view: Mapping[str, Any] = field(default_factory=dict)


@answering
@dataclass(frozen=True)
class Scene:
    """A scene of the gallery, ready to run.

    world; method: ``ds.TimeStepping(dt=1/240)`` unless a paper or the law of impact fixes more;
    duration [s]; summary: one line; paper: where it comes from; settings: all of them, by name.
    view: planar worlds have "limits" ((x0, x1), (y0, y1)) [m], spatial ones "camera" and "target",
    points in the world [m].
    """

    name: str
    world: World
    method: Any
    duration: float
    summary: str
    paper: str
    settings: Mapping[str, Any]
    view: Mapping[str, Any]

    def simulation(self, method: str | Method | None = None, **options: Any) -> Simulation:
        """A simulation from the start, by the scene's own method or another one; options replace
        those of the method."""
        chosen: Any = self.method if method is None else method
        if options and not is_dataclass(chosen):
            raise OptionError(f"method = {text(chosen)}: expected ds.TimeStepping(...) or another")
        for name in options:
            if name not in {item.name for item in fields(chosen)}:
                raise OptionError(f"{name} = {options[name]!r}: {chosen.name} has no such option")
        out = Simulation(self.world, replace(chosen, **options) if options else chosen)
        out.origin = {
            "scene": self.name, "settings": dict(self.settings), "view": dict(self.view),
            "title": f"{self.name}: {self.summary}",
        }  # fmt: skip
        return out

    def check(self, method: str | Method | None = None, **options: Any) -> Checked:
        """Run it from the start, by its own method or another one, and compare with what its
        paper or a closed form says. The result has ``ok`` and ``claims``, and prints as a list;
        scenes of 1989, 1992 and 1994 have checks (``drystone.scenes.checks.MODULES``)."""
        from drystone.scenes.checks import check

        return check(self, self.simulation(method, **options).method)


@dataclass(frozen=True)
class Setting:
    """One setting of a scene: its type (int, float, bool, or a Literal's choices) and default."""

    name: str
    kind: Any
    default: Any

    def read(self, value: Any) -> Any:
        """`value`, or a text from the command line, as this setting's type."""
        out = _read(self.kind, value)
        if out is None:
            choices = " or ".join(get_args(self.kind)) or TYPES[self.kind]
            raise OptionError(f"{self.name} = {value!r}: expected {choices}")
        return out


@dataclass(frozen=True)
class SceneEntry:
    """A line of the gallery. Its function is in `module`; its keyword arguments are the settings,
    so that they are written once."""

    name: str
    module: str
    summary: str
    paper: str

    @property
    def function(self) -> Callable[..., Plan]:
        module = import_module(f"drystone.scenes.{self.module}")
        found: Callable[..., Plan] = getattr(module, self.name.replace("-", "_"))
        return found

    @property
    def settings(self) -> dict[str, Setting]:
        hints = get_type_hints(self.function)
        parameters = inspect.signature(self.function).parameters.values()
        return {p.name: Setting(p.name, hints[p.name], p.default) for p in parameters}

    def build(self, given: Mapping[str, Any]) -> Scene:
        known = self.settings
        try:
            for name in given:
                if name not in known:
                    raise OptionError(unknown("setting", name, known))
            values = {s.name: s.read(given.get(s.name, s.default)) for s in known.values()}
            plan = self.function(**values)
        except OptionError as error:
            raise OptionError(f"scene {self.name!r}: {error}") from None
        return Scene(
            self.name, plan.world, plan.method, plan.duration, self.summary, self.paper,
            MappingProxyType(values), MappingProxyType(dict(plan.view)),
        )  # fmt: skip


def rough(**options: Any) -> EventDriven:
    """The event-driven method for pictures of many bodies: five digits, and contacts that part or
    meet by less than a millimetre a second rest. options: others than these."""
    loose = {
        "integrator": "rk45", "rtol": 1e-5, "atol": 1e-7,
        "rest_speed": 1e-3, "slip_speed": 1e-4, "turning_speed": 1e-4,
    }  # fmt: skip
    return EventDriven(**{**loose, **options})


def unknown(what: str, name: str, known: Mapping[str, Any]) -> str:
    """That there is no such thing, and which was probably meant."""
    hint = meant(name, known, f"expected {', '.join(known)}")
    return f"unknown {what} {name!r}: {hint}"


def positive(**values: float) -> None:
    """Raise OptionError for settings that are not above zero."""
    for name, value in values.items():
        if not value > 0:
            raise OptionError(f"{name} = {value!r}: expected a positive number")


def not_negative(**values: float) -> None:
    """Raise OptionError for settings below zero."""
    for name, value in values.items():
        if not value >= 0:
            raise OptionError(f"{name} = {value!r}: expected zero or more")


def at_least(least: int, **values: int) -> None:
    """Raise OptionError for counts below `least`."""
    for name, value in values.items():
        if value < least:
            raise OptionError(f"{name} = {value!r}: expected {least} or more")


def within(low: float, high: float, **values: float) -> None:
    """Raise OptionError for settings not strictly between two numbers."""
    for name, value in values.items():
        if not low < value < high:
            raise OptionError(f"{name} = {value!r}: expected a number between {low:g} and {high:g}")


def _read(kind: Any, value: Any) -> Any:
    """The value as `kind`, or None if it is not one."""
    if get_origin(kind) is Literal:
        return value if value in get_args(kind) else None
    if kind is bool:
        return value if isinstance(value, bool) else WORDS.get(str(value).lower())
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    if not math.isfinite(number):
        return None
    if kind is int:
        return int(number) if number.is_integer() else None
    return number
