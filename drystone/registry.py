"""Tables of named things that users can add to: shapes, joints, solvers, export formats.

A table holds ours, those that a program registered, and those of installed packages: an entry
point of the table's group, whose object is registered when somebody asks for a name that is not
ours, or for all names. Ours cannot be replaced.

The checks of users' classes are here too: what is wrong is said when a class is registered or
first used, with its name, not deep inside a step.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Protocol, TypeVar, cast

from drystone.arguments import warn_user
from drystone.errors import OptionError
from drystone.values import meant, refused_call, text


class Named(Protocol):
    """An entry of a table."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)
F = TypeVar("F", bound=Callable[..., Any])
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")  # as ours: qp-signs, point-on-line
DECORATOR = "write @dataclass(frozen=True) above it"


class Registry(Mapping[str, T]):
    """Entries by name. what: they are called so in messages; group: of entry points; checked:
    makes an entry of what is registered, or raises OptionError."""

    def __init__(
        self, what: str, group: str, ours: Iterable[T], checked: Callable[[Any], T]
    ) -> None:
        self.what, self.group, self._checked = what, group, checked
        self.ours: dict[str, T] = {entry.name: entry for entry in ours}
        self._added: dict[str, T] = {}
        self._asked = False

    def register(self, item: Any) -> Any:
        """Add an entry; returns what was given, so that it can stand as a decorator."""
        entry = self._checked(item)
        if entry.name in self.ours or entry.name in self._added:
            raise OptionError(f"{self.what} {entry.name!r} exists already: choose another name")
        self._added[entry.name] = entry
        return item

    def find(self, name: Any, owner: str = "") -> T:
        """The entry of that name, or OptionError with those that there are; owner: who asks."""
        if isinstance(name, str) and name in self:
            return self[name]
        hint = meant(name, self) if isinstance(name, str) else ""
        whose = f"{owner}: " if owner else ""
        known = f"{hint} expected {', '.join(self)}".lstrip()
        raise OptionError(f"{whose}unknown {self.what} {text(name)}: {known}")

    def __getitem__(self, name: str) -> T:
        if name in self.ours:
            return self.ours[name]
        self._ask()
        return self._added[name]

    def __iter__(self) -> Iterator[str]:
        self._ask()
        return iter((*self.ours, *self._added))

    def entries(self) -> tuple[T, ...]:
        """All of them, ours first."""
        self._ask()
        return *self.ours.values(), *self._added.values()

    def __len__(self) -> int:
        self._ask()
        return len(self.ours) + len(self._added)

    def _ask(self) -> None:
        """Register what installed packages bring, once; one that is broken is left out, with a
        warning."""
        if self._asked:
            return
        self._asked = True
        for point in entry_points(group=self.group):
            try:
                self.register(point.load())
            except Exception as error:
                whose = f"{point.name} = {point.value}"
                warn_user(f"{self.group}: {whose} is left out: {error}", UserWarning)


def once_a_class(check: F) -> F:
    """A check of a class that is not repeated once it has passed."""
    return cast(F, cache(check))


def check_name(owner: str, value: Any, example: str) -> str:
    """The name, or OptionError unless it is lower-case words joined by hyphens."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise OptionError(f"{owner} = {text(value)}: expected a name such as {example!r}")
    return value


def check_registered(owner: str, cls: type, base: type, *methods: str) -> None:
    """OptionError unless a user's class can stand in a table: a frozen dataclass whose methods can
    be called as those of the base class are."""
    wrong = unfit(cls) or misfit(cls, base, *methods)
    if wrong is not None:
        raise OptionError(f"{owner} {wrong}")


@once_a_class
def unfit(cls: type) -> str | None:
    """Why the fields of a user's class are not its parameters; None if they are."""
    parameters: Any = getattr(cls, "__dataclass_params__", None)
    if not is_dataclass(cls) or ("__dataclass_params__" not in vars(cls) and _fields(cls)):
        return f"must be a dataclass: {DECORATOR}"
    return None if parameters.frozen else f"must be frozen: {DECORATOR}"


def _fields(cls: type) -> list[str]:
    """Annotated names that a dataclass would take for its fields."""
    try:
        own = inspect.get_annotations(cls)
    except NameError:  # an annotation that cannot be evaluated yet
        return ["?"]
    return [name for name, kind in own.items() if "ClassVar" not in str(kind)]


@once_a_class
def misfit(cls: type, base: type, *methods: str) -> str | None:
    """Which overridden method cannot be called as that of the base class; None if all can."""
    for name in methods:
        own = inspect.getattr_static(cls, name)
        if own is inspect.getattr_static(base, name):
            continue
        words = list(inspect.signature(getattr(base, name)).parameters)
        if isinstance(own, staticmethod | classmethod):
            words = words[1:]
        expected = f"expected {name}({', '.join(words)})"
        found = getattr(cls, name)
        if not callable(found):
            return f"has {name} = {text(found)}: {expected}"
        if refused_call(found, *words) is not None:
            given = ", ".join(inspect.signature(found).parameters)
            return f"has a method {name}({given}): {expected}"
    return None
