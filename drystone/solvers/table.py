"""The table of our solvers: one line for each, from which lists, help texts, documentation and
dispatch are made. It loads none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drystone.solvers.base import Solver

LCP, FRICTION = "LCPs", "friction"


@dataclass(frozen=True)
class SolverEntry:
    """A solver by its name.

    solver: its class, a frozen dataclass of options, or where it is: "lemke:Lemke"; about: what it
    does, in a few words; takes: kinds of problems, at least some of each (``refuses`` decides on
    each problem); options: that the name stands for.
    """

    name: str
    solver: str | type[Solver]
    about: str = ""
    takes: tuple[str, ...] = (LCP, FRICTION)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def class_name(self) -> str:
        """Of the class: ``ds.Lemke``."""
        return self.solver.partition(":")[2] if isinstance(self.solver, str) else self.kind.__name__

    @property
    def home(self) -> str:
        """The module of one of ours: "solvers.lemke"."""
        return f"solvers.{str(self.solver).partition(':')[0]}"

    @property
    def kind(self) -> type[Solver]:
        """The class."""
        if not isinstance(self.solver, str):
            return self.solver
        found: type[Solver] = getattr(import_module(f"drystone.{self.home}"), self.class_name)
        return found

    def make(self, **options: Any) -> Solver:
        """The solver with default options, but for those given."""
        return self.kind(**{**self.options, **options})


SPLITTING = "projected splitting"
ONLY_FRICTION = (FRICTION,)
OURS = (
    SolverEntry("auto", "auto:Auto", "chooses, falls back, judges"),
    SolverEntry("lemke", "lemke:Lemke", "complementary pivoting, lexicographic"),
    SolverEntry("dantzig", "dantzig:Dantzig", "Baraff 1994: drives one contact at a time"),
    SolverEntry("enumerative", "enumerative:Enumerative", "all solutions of small problems"),
    SolverEntry("lp", "lp:LP", "Baraff 1989: linear-programming heuristic"),
    SolverEntry(
        "qp", "qp:QP", "quadratic programs of Baraff 1992, and the convex law as a cone program"
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
    SolverEntry("pgs", "pgs:PGS", SPLITTING),
    SolverEntry("jacobi", "pgs:PGS", SPLITTING, options={"sweep": "jacobi"}),
    SolverEntry("sor", "pgs:PGS", SPLITTING, options={"sweep": "sor"}),
    SolverEntry(
        "nsgs", "nsgs:NSGS", "Gauss–Seidel by contacts, each solved exactly", ONLY_FRICTION
    ),
    SolverEntry("newton", "newton:Newton", "semismooth Newton"),
    SolverEntry("apgd", "apgd:APGD", "accelerated projected gradient", ONLY_FRICTION),
    SolverEntry("admm", "admm:ADMM", "alternating directions", ONLY_FRICTION),
    SolverEntry("interior-point", "interior_point:InteriorPoint", "primal-dual path following"),
)


def names(kind: str) -> str:
    """Of our solvers that take some problems of a kind, with commas."""
    return ", ".join(entry.name for entry in OURS if kind in entry.takes)
