"""Solvers by their names: ours, which ``table`` lists, and those of users.

Users add their own with ``ds.register_solver``, or with an entry point of the group
``drystone.solvers`` whose object is the class.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from drystone.errors import OptionError
from drystone.registry import Registry
from drystone.solvers.base import Solver
from drystone.solvers.table import OURS, SolverEntry
from drystone.values import text


def _entry(solver: Any) -> SolverEntry:
    """The entry of a user's class."""
    if not (isinstance(solver, type) and issubclass(solver, Solver)):
        raise OptionError(f"register_solver: {text(solver)}: expected a subclass of ds.Solver")
    name = solver.name
    if not isinstance(name, str) or not name or name != name.strip():
        raise OptionError(
            f"register_solver: {solver.__name__}.name = {text(name)}: expected a name"
        )
    return SolverEntry(name, solver, (inspect.getdoc(solver) or "").partition("\n")[0])


METHODS: Registry[SolverEntry] = Registry("solver", "drystone.solvers", OURS, _entry)


def register_solver(solver: type[Solver]) -> type[Solver]:
    """Add a solver of your own, a subclass of ``ds.Solver``, under its `name`: ``ds.solve``,
    steppers and commands then know it by that name. May stand as a decorator."""
    METHODS.register(solver)
    return solver


@cache
def by_name(name: str) -> Solver:
    """The solver of that name with its default options."""
    return METHODS.find(name).make()
