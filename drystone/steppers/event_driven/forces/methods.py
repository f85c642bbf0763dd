"""Problems and methods of one instant: what an island states, and who solves it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from drystone.errors import UnsupportedProblemError
from drystone.problems import FrictionProblem
from drystone.solvers.base import Solver
from drystone.solvers.pgs import PGS
from drystone.solvers.ramp import Ramp
from drystone.solvers.registry import by_name
from drystone.steppers.event_driven.forces.state import ContactState, Kind
from drystone.steppers.event_driven.forces.system import System
from drystone.types import Bools, Floats

FRICTIONLESS = ("lp", "qp")  # methods that take no friction of unknown direction
APPROXIMATE = ("lotstedt", "ramp")  # methods with a law of their own
POLYHEDRAL = ("lemke", "enumerative")  # methods that need a polyhedral cone in space


def named(method: str | Solver, tol: float) -> Solver:
    """The method with the residual it has to reach; sweeps that cycle are damped."""
    found = by_name(method) if isinstance(method, str) else method
    if isinstance(method, str):
        found = replace(found, tol=tol)
        if isinstance(found, PGS):
            found = replace(found, damp=True)
    return found


def sliding(system: System) -> Bools:
    """(nc,) contacts of the system under dynamic friction."""
    return np.asarray(system.state.slip_directions[system.contacts].any(axis=1))


def acting(system: System) -> tuple[Floats, Floats]:
    """(slip (nc, d - 1), mu (nc,)) of a system: dynamic friction where a contact slides."""
    state, chosen = system.state, system.contacts
    return state.slip_directions[chosen], state.acting[chosen]


def friction_problem(system: System, directions: int = 0) -> FrictionProblem:
    """The forces of an island: static friction where nothing slips, dynamic where it does.

    Without slip a contact obeys (14-1), which in the plane is Coulomb's law. directions: of a
    polyhedral cone that replaces the circular one in space, 0 for none.
    """
    state = system.state
    slip, mu = acting(system)
    moving = slip.any(axis=1)
    polyhedral = bool(directions) and state.d == 3
    return FrictionProblem(
        system.W,
        system.q,
        mu,
        dim=state.d,
        bilateral=int(system.joints.size),
        law="static" if state.d == 3 and not polyhedral else "coulomb",
        cone=directions if polyhedral else None,
        slip=slip if moving.any() else None,
    )


def ramped_problem(system: System) -> FrictionProblem:
    """The same for "ramp": dynamic friction at every contact, whose strength its velocity says; so
    no slip is stated, and it does not matter who was taken to stick when the phase began."""
    state = system.state
    return FrictionProblem(
        system.W,
        system.q,
        state.mu[system.contacts, 1],
        dim=state.d,
        bilateral=int(system.joints.size),
        law="static" if state.d == 3 else "coulomb",
    )


def prepared(solver: Solver, system: System, ramp_speed: float) -> Solver:
    """The method with what it asks of this instant beyond the problem: the ramp's velocities."""
    if not isinstance(solver, Ramp) or solver.velocity is not None:
        return solver
    velocity = system.state.u[system.contacts, 1:]
    return replace(solver, velocity=velocity, eps=ramp_speed)


def check_supported(solver: Solver, state: ContactState) -> None:
    """lp and qp take contacts without friction or with known slip; the complaint names one."""
    if solver.name not in FRICTIONLESS:
        return
    rough = (state.kind == Kind.STICKING) & (state.mu[:, 0] > 0)
    if rough.any():
        i = int(np.argmax(rough))
        raise UnsupportedProblemError(
            f"{solver.name}: contact {state.key[i]} sticks with friction {state.mu[i, 0]:g}, and "
            f"{solver.name} takes no friction of unknown direction: use dantzig, lemke, qp-signs, "
            "jacobi, lotstedt or ramp"
        )


def suspicious(problem: FrictionProblem) -> Bools:
    """(nc,) contacts whose friction can pull them together: W_nn - mu |W_nt| <= 0.

    Only there can one contact alone be indeterminate or inconsistent. Several contacts may jam
    each other without any of them being suspicious.
    """
    d, nc = problem.d, problem.nc
    block = problem.dense[: d * nc, : d * nc].reshape(nc, d, nc, d)
    index = np.arange(nc)
    own = block[index, :, index, :]
    across: Floats = np.linalg.norm(own[:, 0, 1:], axis=1)
    if problem.slip is not None:
        along = np.einsum("ij,ij->i", own[:, 0, 1:], problem.slip)
        across = np.where(problem.sliding, along, across)
    return np.asarray((problem.mu > 0) & (own[:, 0, 0] <= problem.mu * across * (1 + 1e-12)))
