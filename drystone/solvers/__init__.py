"""Methods that solve a problem: one file for each, which says everything about it.

This is the table of ours: one record for each name, from which exports, lists, help texts, pages,
dispatch and the order of ``auto`` are made. It loads none of them. ``registry`` knows them by their
names, together with those of users, whose classes give the same record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from drystone.lazy import lazily

if TYPE_CHECKING:
    from drystone.solvers.admm import ADMM
    from drystone.solvers.apgd import APGD
    from drystone.solvers.auto import Auto
    from drystone.solvers.base import Solver
    from drystone.solvers.dantzig import Dantzig
    from drystone.solvers.enumerative import Enumerative
    from drystone.solvers.interior_point import InteriorPoint
    from drystone.solvers.lemke import Lemke
    from drystone.solvers.lotstedt import Lotstedt
    from drystone.solvers.lp import LP
    from drystone.solvers.newton import Newton
    from drystone.solvers.nsgs import NSGS
    from drystone.solvers.pgs import PGS
    from drystone.solvers.qp import QP
    from drystone.solvers.qp_signs import QPSigns
    from drystone.solvers.ramp import Ramp

__all__ = [
    "ADMM",
    "APGD",
    "LP",
    "NSGS",
    "PGS",
    "QP",
    "Auto",
    "Dantzig",
    "Enumerative",
    "InteriorPoint",
    "Lemke",
    "Lotstedt",
    "Newton",
    "QPSigns",
    "Ramp",
]  # fmt: skip

LCPS, FRICTION = "LCPs", "friction"  # what solvers take; more kinds are known to `auto`:
LARGE_FRICTION, POLYHEDRAL = "large-friction", "polyhedral"
PLAIN_LCP, SPARSE_LCP, BOXED_LCP = "lcp", "sparse-lcp", "boxed-lcp"
LARGE_CONTACTS = 20_000  # contacts; beyond, W is not factorised
SPARSE_ROWS = 400  # rows of a sparse LCP; beyond, pivoting on a dense basis is not tried first
PROBLEMS = {
    FRICTION: "friction with smooth cones",
    LARGE_FRICTION: f"the same with more than {LARGE_CONTACTS:,} contacts",
    POLYHEDRAL: "friction with polyhedral cones or known slip",
    PLAIN_LCP: "LCP, mixed LCP",
    SPARSE_LCP: f"the same, sparse, with more than {SPARSE_ROWS} rows",
    BOXED_LCP: "boxed LCP",
}


@dataclass(frozen=True)
class SolverEntry:
    """A solver by its name.

    solver: its class, a frozen dataclass of options, or where it is: "lemke:Lemke"; about: what it
    does, in a few words; takes: kinds of problems, at least some of each (``refuses`` decides on
    each problem); auto: of ``PROBLEMS``, those for which `auto` asks for it, with its place in the
    order; options: that the name stands for.
    """

    name: str
    solver: str | type[Solver]
    about: str = ""
    takes: tuple[str, ...] = (LCPS, FRICTION)
    auto: Mapping[str, float] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def module(self) -> str:
        """Of the class, in this package: "lemke"."""
        return self.solver.partition(":")[0] if isinstance(self.solver, str) else ""

    @property
    def class_name(self) -> str:
        """Of the class: ``ds.Lemke``."""
        return self.solver.partition(":")[2] if isinstance(self.solver, str) else self.kind.__name__

    @property
    def kind(self) -> type[Solver]:
        """The class."""
        if not isinstance(self.solver, str):
            return self.solver
        found: type[Solver] = getattr(import_module(f"{__name__}.{self.module}"), self.class_name)
        return found

    def make(self, **options: Any) -> Solver:
        """The solver with default options, but for those given."""
        return self.kind(**{**self.options, **options})


SPLITTING = "projected splitting"
ONLY_FRICTION = (FRICTION,)
OURS = (
    SolverEntry("auto", "auto:Auto", "chooses, falls back, judges"),
    SolverEntry(
        "lemke",
        "lemke:Lemke",
        "complementary pivoting, lexicographic",
        auto={PLAIN_LCP: 1, SPARSE_LCP: 3, BOXED_LCP: 1, POLYHEDRAL: 2, FRICTION: 4},
    ),
    SolverEntry(
        "dantzig",
        "dantzig:Dantzig",
        "Baraff 1994: drives one contact at a time",
        auto={POLYHEDRAL: 1},
    ),
    SolverEntry(
        "enumerative",
        "enumerative:Enumerative",
        "all solutions of small problems",
        auto={PLAIN_LCP: 4, POLYHEDRAL: 3},
    ),
    SolverEntry("lp", "lp:LP", "Baraff 1989: linear-programming heuristic"),
    SolverEntry(
        "qp",
        "qp:QP",
        "quadratic programs of Baraff 1992, and the convex law as a cone program",
        auto={BOXED_LCP: 3},
    ),
    SolverEntry(
        "lotstedt", "lotstedt:Lotstedt", "friction bounds from the last step", ONLY_FRICTION
    ),
    SolverEntry(
        "ramp", "ramp:Ramp", "static friction as a steep ramp of dynamic friction", ONLY_FRICTION
    ),
    SolverEntry(
        "qp-signs", "qp_signs:QPSigns", "guesses signs of friction, then a QP", ONLY_FRICTION
    ),
    SolverEntry(
        "pgs",
        "pgs:PGS",
        SPLITTING,
        auto={PLAIN_LCP: 5, SPARSE_LCP: 4, BOXED_LCP: 2, POLYHEDRAL: 4},
    ),
    SolverEntry("jacobi", "pgs:PGS", SPLITTING, options={"sweep": "jacobi"}),
    SolverEntry("sor", "pgs:PGS", SPLITTING, options={"sweep": "sor"}),
    SolverEntry(
        "nsgs",
        "nsgs:NSGS",
        "Gauss–Seidel by contacts, each solved exactly",
        ONLY_FRICTION,
        {FRICTION: 1, LARGE_FRICTION: 1},
    ),
    SolverEntry(
        "newton",
        "newton:Newton",
        "semismooth Newton",
        auto={PLAIN_LCP: 2, SPARSE_LCP: 1, FRICTION: 2},
    ),
    SolverEntry(
        "apgd", "apgd:APGD", "accelerated projected gradient", ONLY_FRICTION, {LARGE_FRICTION: 2}
    ),
    SolverEntry(
        "admm",
        "admm:ADMM",
        "alternating directions",
        ONLY_FRICTION,
        {FRICTION: 5, LARGE_FRICTION: 3},
    ),
    SolverEntry(
        "interior-point",
        "interior_point:InteriorPoint",
        "primal-dual path following",
        auto={PLAIN_LCP: 3, SPARSE_LCP: 2, FRICTION: 3},
    ),
)


def taking(kind: str) -> str:
    """Names of our solvers that take some problems of a kind, with commas."""
    return ", ".join(entry.name for entry in OURS if kind in entry.takes)


def in_order(problem: str, entries: Iterable[SolverEntry] = OURS) -> list[SolverEntry]:
    """Those that `auto` asks, the first one first."""
    return sorted((e for e in entries if problem in e.auto), key=lambda e: e.auto[problem])


if not TYPE_CHECKING:  # a type checker must see that a name does not exist
    __getattr__ = lazily(__name__, {entry.class_name: entry.module for entry in OURS})
