"""Tables of named things that users can add to: solvers, export formats.

A table holds ours, those that a program registered, and those of installed packages: an entry
point of the table's group, whose object is registered when somebody asks for a name that is not
ours, or for all names. Ours cannot be replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Any, Protocol, TypeVar

from drystone.arguments import warn_user
from drystone.errors import OptionError
from drystone.values import text


class Named(Protocol):
    """An entry of a table."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


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
        near = get_close_matches(name, self, n=1) if isinstance(name, str) else []
        hint = f"did you mean {near[0]!r}? " if near else ""
        whose = f"{owner}: " if owner else ""
        known = f"{hint}expected {', '.join(self)}"
        raise OptionError(f"{whose}unknown {self.what} {text(name)}: {known}")

    def __getitem__(self, name: str) -> T:
        if name in self.ours:
            return self.ours[name]
        self._ask()
        return self._added[name]

    def __iter__(self) -> Iterator[str]:
        self._ask()
        return iter((*self.ours, *self._added))

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
