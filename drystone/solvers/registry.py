"""Solvers by their names: ours, which the package lists, and those of users.

Users add their own with ``ds.register_solver``, or with an entry point of the group
``drystone.solvers`` whose object is the class.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from math import isfinite
from typing import Any

from drystone.errors import OptionError
from drystone.registry import Registry, check_name, check_registered
from drystone.solvers import OURS, PROBLEMS, SolverEntry
from drystone.solvers.base import Solver, check_own
from drystone.values import real, text


def _entry(solver: Any) -> SolverEntry:
    """The entry of a user's class."""
    if not (isinstance(solver, type) and issubclass(solver, Solver)):
        raise OptionError(f"register_solver: {text(solver)}: expected a subclass of ds.Solver")
    owner = f"register_solver: {solver.__name__}"
    check_registered(owner, solver, Solver)
    check_own(owner, solver)
    for option in fields(solver):
        if option.init and option.default is MISSING and option.default_factory is MISSING:
            raise OptionError(f"{owner}.{option.name} needs a default: names stand for solvers")
    name = check_name(f"{owner}.name", solver.name, "projected-gradient")
    about = (inspect.getdoc(solver) or "").partition("\n")[0]
    return SolverEntry(name, solver, about, auto=_places(f"{owner}.auto", solver.auto))


def _places(owner: str, auto: Any) -> dict[str, float]:
    """Checked places in the order of `auto`."""
    known = isinstance(auto, Mapping) and all(problem in PROBLEMS for problem in auto)
    places = [real(place) for place in auto.values()] if known else [None]
    if any(place is None or not isfinite(place) for place in places):
        expected = f"expected places in the order of auto, of problems {', '.join(PROBLEMS)}"
        raise OptionError(f"{owner} = {text(auto)}: {expected}")
    return dict(auto)


SOLVERS: Registry[SolverEntry] = Registry("solver", "drystone.solvers", OURS, _entry)


def register_solver(solver: type[Solver]) -> type[Solver]:
    """Add a solver of your own, a subclass of ``ds.Solver``, under its `name`: ``ds.solve``,
    steppers and commands then know it by that name. May stand as a decorator."""
    SOLVERS.register(solver)
    return solver


@cache
def by_name(name: str) -> Solver:
    """The solver of that name with its default options."""
    return SOLVERS.find(name).make()
