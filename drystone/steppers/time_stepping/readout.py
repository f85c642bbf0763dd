"""What a stepper tells of a state and of its last step, beside the step itself."""

from __future__ import annotations

import numpy as np

from drystone.constraints.rows import Rows, select
from drystone.dynamics import bodies
from drystone.geometry.detector import Detector
from drystone.kernels import rigid
from drystone.kernels.active import body_reach
from drystone.kernels.step.find import NEAR, SLACK
from drystone.model import Contacts, Model, State
from drystone.problems.friction import FrictionProblem
from drystone.steppers.base import StepReport
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.solve import Solved, island_problem
from drystone.types import Floats

TURNS = 0.25  # of what bodies travel: how near they may come without being looked at again


class Readout:
    """The part of a stepper that answers ``Simulation``; sizes (nb,): radii of the bodies."""

    options: TimeStepping
    model: Model
    detector: Detector
    sizes: Floats

    @property
    def rows(self) -> Rows | None:
        """Rows of the last step."""
        raise NotImplementedError

    @property
    def solved(self) -> Solved | None:
        """What its solve gave."""
        raise NotImplementedError

    def check_start(self, state: State) -> None:
        """Bodies that start inside each other are refused, by name and depth."""
        bodies.check_finite(self.model, state)
        if self.options.overlap != "allow":
            found = self._near(state)
            bodies.check_apart(self.model, self.sizes, found, "TimeStepping")

    def penetration(self, state: State) -> float:
        """Greatest depth of any contact in a state [m]; leaves no trace in later steps."""
        return float(np.maximum(-self.overlaps(state).gap, 0.0).max(initial=0.0))

    def overlaps(self, state: State) -> Contacts:
        """All contacts in a state; leaves no trace in later steps."""
        known = self.detector.state()
        found = self._near(state)
        self.detector.restore(known)
        return found

    def problem(self) -> FrictionProblem | None:
        """The last step's friction problem (all islands), or None without contacts."""
        rows, solved = self.rows, self.solved
        if rows is None or solved is None or rows.nc == 0:
            return None
        return island_problem(rows, 0, rows.nc, solved.mu, solved.q, self.options)

    def _near(self, state: State) -> Contacts:
        """Contacts within what bodies can travel in a step, and a little beyond."""
        model, geoms, h = self.model, self.model.geoms, self.options.dt
        gap = self.options.active_gap
        if gap is not None and gap != "predicted":
            return self._within(state, np.full(len(geoms), 0.5 * gap))
        reach = np.empty(model.nb)
        fastest = body_reach(_free_velocities(model, state, h), self.sizes, h, reach)
        reach += SLACK * np.where(np.isfinite(self.sizes), self.sizes, 0.0)
        size = np.where(np.isfinite(geoms.radius), geoms.radius, np.inf)
        return self._within(state, np.maximum(reach[geoms.body], np.minimum(fastest, NEAR * size)))

    def _within(self, state: State, margin: Floats) -> Contacts:
        """Contacts nearer than margin[a] + margin[b], (ng,) [m]."""
        return self.detector.contacts(*bodies.geom_poses(self.model, state), margin)

    def _misses(self, state: State, v: Floats, h: float, travel: Floats, rows: Rows) -> bool:
        """Whether bodies that travel so far with velocities v meet others which `rows` do not know;
        leaves no trace in later steps."""
        body = self.model.geoms.body
        known = self.detector.state()
        found = self._within(state, travel[body])
        self.detector.restore(known)
        here = rows.contacts
        pairs = set(zip(here.geom_a.tolist(), here.geom_b.tolist(), strict=True))
        new = [
            pair not in pairs
            for pair in zip(found.geom_a.tolist(), found.geom_b.tolist(), strict=True)
        ]
        if not any(new):
            return False
        found = select(found, np.array(new))
        pair = np.stack([body[found.geom_a], body[found.geom_b]], axis=1)
        arm = [found.point - state.position[pair[:, s]] for s in (0, 1)]
        speed = bodies.relative_speed(v, pair, arm, found.normal)
        # normals turn with bodies: what nearly closes may close
        return bool((found.gap + h * speed <= TURNS * travel[pair].sum(axis=1)).any())

    def _failure(self, report: StepReport) -> str:
        """Why a step is not good, in words."""
        names, rows, solved = self.model.names, self.rows, self.solved
        if report.jammed:
            return f"at t = {report.time - report.dt:.6g} s {'; '.join(report.log)}"
        where = ""
        if rows is not None and solved is not None and solved.failed >= 0:
            k = solved.failed
            lo, hi = rows.start[k], rows.start[k + 1]
            body = int(rows.body[lo:hi].max())
            where = f" of {hi - lo} contacts that holds body {names[body]!r}"
        if not report.energy.closes and not where:
            return (
                f"at t = {report.time - report.dt:.6g} s the energy ledger does not close: "
                f"{report.energy.unexplained:.2e} J are unexplained"
            )
        return (
            f"at t = {report.time - report.dt:.6g} s the friction problem{where} was not solved: "
            f"{report.status.value} (residual {report.residual:.2e}, wanted "
            f"{self.options.tol:.0e}); sim.save_problem(file) writes it"
        )


def _free_velocities(model: Model, state: State, h: float) -> Floats:
    """(nb, dof) after a step of the loads alone."""
    out, inverse, force = (
        np.empty_like(state.velocity),
        model.inverse_inertia,
        bodies.loads(model, state),
    )
    kick = rigid.kick_planar
    if model.dim == 3:
        inverse, kick = np.empty_like(model.inverse_inertia), rigid.kick_spatial
        rigid.to_world(model.inverse_inertia, state.orientation, inverse)
    kick(model.inverse_mass, inverse, model.gravity, force, state.velocity, h, out)
    for i, motion in model.motions:
        out[i] = motion.velocity(state.time, h)
    return out
