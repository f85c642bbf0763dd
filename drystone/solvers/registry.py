"""Names of the methods, and where each lives. Methods load when first asked for."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import import_module

from drystone.errors import OptionError
from drystone.solvers.base import Solver

# name: (module, class, options that the name stands for)
METHODS: dict[str, tuple[str, str, dict[str, object]]] = {
    "auto": ("auto", "Auto", {}),
    "lemke": ("lemke", "Lemke", {}),
    "dantzig": ("dantzig", "Dantzig", {}),
    "enumerative": ("enumerative", "Enumerative", {}),
    "lp": ("lp", "LP", {}),
    "qp": ("qp", "QP", {}),
    "lotstedt": ("lotstedt", "Lotstedt", {}),
    "ramp": ("ramp", "Ramp", {}),
    "qp-signs": ("qp_signs", "QPSigns", {}),
    "pgs": ("pgs", "PGS", {}),
    "jacobi": ("pgs", "PGS", {"sweep": "jacobi"}),
    "sor": ("pgs", "PGS", {"sweep": "sor"}),
    "nsgs": ("nsgs", "NSGS", {}),
    "newton": ("newton", "Newton", {}),
    "apgd": ("apgd", "APGD", {}),
    "admm": ("admm", "ADMM", {}),
    "interior-point": ("interior_point", "InteriorPoint", {}),
}


@cache
def by_name(name: str) -> Solver:
    """The method of that name with its default options."""
    if name not in METHODS:
        near = get_close_matches(name, METHODS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise OptionError(f"unknown solver {name!r}{hint} Known: {', '.join(METHODS)}")
    module, cls, options = METHODS[name]
    return getattr(import_module(f"drystone.solvers.{module}"), cls)(**options)
