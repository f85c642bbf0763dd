"""Which contacts there are at a state, beside those of a step; leaves no trace in later steps."""

from __future__ import annotations

import numpy as np

from drystone.constraints.rows import Rows, select
from drystone.dynamics import bodies
from drystone.geometry.detector import Detector
from drystone.kernels import rigid
from drystone.kernels.active import body_reach
from drystone.kernels.step.find import MOST_MARGIN, TRAVEL_SLACK
from drystone.model import Contacts, Model, State
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.types import Floats

TURNS = 0.25  # of what bodies travel: how near they may come without being looked at again


class Search:
    """sizes (nb,): radii of the bodies."""

    def __init__(self, options: TimeStepping, model: Model, detector: Detector) -> None:
        self.options, self.model, self.detector = options, model, detector
        self.sizes = bodies.radii(model)

    def overlaps(self, state: State) -> Contacts:
        """All contacts in a state."""
        known = self.detector.state()
        found = self.near(state)
        self.detector.restore(known)
        return found

    def near(self, state: State) -> Contacts:
        """Contacts within what bodies can travel in a step, and a little beyond."""
        model, geoms, h = self.model, self.model.geoms, self.options.dt
        gap = self.options.active_gap
        if gap is not None and gap != "predicted":
            return self._within(state, np.full(len(geoms), 0.5 * gap))
        reach = np.empty(model.nb)
        fastest = body_reach(_free_velocities(model, state, h), self.sizes, h, reach)
        reach += TRAVEL_SLACK * np.where(np.isfinite(self.sizes), self.sizes, 0.0)
        size = np.where(np.isfinite(geoms.radius), geoms.radius, np.inf)
        margin = np.maximum(reach[geoms.body], np.minimum(fastest, MOST_MARGIN * size))
        return self._within(state, margin)

    def _within(self, state: State, margin: Floats) -> Contacts:
        """Contacts nearer than margin[a] + margin[b], (ng,) [m]."""
        return self.detector.contacts(*bodies.geom_poses(self.model, state), margin)

    def misses(self, state: State, v: Floats, h: float, travel: Floats, rows: Rows) -> bool:
        """Whether bodies that travel so far with velocities v meet others than those in `rows`."""
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
