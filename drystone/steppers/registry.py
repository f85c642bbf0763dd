"""Methods by their names: ours, which the package lists, and those of users.

Users add their own with ``ds.register_method``, or with an entry point of the group
``drystone.methods`` whose object is the class.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from drystone import steppers as table
from drystone.errors import OptionError
from drystone.registry import Registry, check_name, check_registered
from drystone.solvers.base import Solver
from drystone.solvers.registry import SOLVERS
from drystone.steppers.base import Method
from drystone.values import parts_of, text

M = TypeVar("M", bound=type[Method])
RESERVED = "own"  # in a comparison: the method of the scene


def _checked(method: Any) -> type[Method]:
    """A user's class."""
    if not (isinstance(method, type) and issubclass(method, Method)):
        raise OptionError(f"register_method: {text(method)}: expected a subclass of ds.Method")
    owner = f"register_method: {method.__name__}"
    check_registered(owner, method, Method, "stepper")
    for option in fields(method):
        if option.init and option.default is MISSING and option.default_factory is MISSING:
            raise OptionError(f"{owner}.{option.name} needs a default: names stand for methods")
    if check_name(f"{owner}.name", method.name, "leap-frog") == RESERVED:
        raise OptionError(f"{owner}.name = {RESERVED!r}: another name: it means a scene's method")
    known = {option.name for option in fields(method)}
    for word in method.words:
        if word not in known:
            raise OptionError(f"{owner}.words: {word!r} is none of its options")
    return method


METHODS: Registry[type[Method]] = Registry(
    "method", "drystone.methods", (getattr(table, name) for name in table.OURS.values()), _checked
)


def register_method(method: M) -> M:
    """Add a method of your own, a subclass of ``ds.Method``, under its `name`: simulations, scene
    files, recordings and commands then know it by that name. May stand as a decorator."""
    METHODS.register(method)
    return method


def choices(method: type[Method], option: str) -> tuple[str, ...]:
    """The texts that an option may have: those of its annotation, and names of solvers where it
    may be one."""
    parts = parts_of(get_type_hints(method)[option])
    values = [value for part in parts if get_origin(part) is Literal for value in get_args(part)]
    texts = tuple(value for value in values if isinstance(value, str))
    return (*texts, *SOLVERS) if Solver in parts else texts
