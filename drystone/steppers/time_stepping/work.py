"""What the stages of one step hand to each other."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from drystone.dynamics import bodies
from drystone.dynamics.energy import energy
from drystone.kernels import rigid
from drystone.model import Model, State
from drystone.types import Floats


class Work:
    """Forces and velocities of a step of length h from `state`, which is not changed.

    force (nb, dof): all but gravity; load: the same with the gyroscopic torque, if it is one of
    the forces; energy: (kinetic, of gravity, stored in forces) at the start;
    inertia, inverse_inertia: in world axes; v0: velocity at the start (after collisions, once
    they are done); v_free: v0 kicked by the forces, prescribed bodies at their average velocity;
    inertia_before: at the start, where the step uses that of its end; softening: kinetic energy [J]
    that stiff joints added because they act on M + S (``kernels.joint_stiffness``);
    reach (nb,): how far bodies may travel [m], for contacts that are looked for; travel: how far
    they went when this step was tried before;
    kick: how long forces act [s], h unless the step is done in two kicks; drifts: whether bodies
    move with the velocities of this kick.
    """

    def __init__(
        self,
        model: Model,
        state: State,
        h: float,
        explicit: bool,
        kick: float | None = None,
        drifts: bool = True,
    ) -> None:
        self._clock = perf_counter()
        self.seconds: dict[str, float] = {}
        self.model, self.state, self.h, self._explicit = model, state, h, explicit
        self.reach: Floats = np.zeros(model.nb)
        self.travel: Floats = np.zeros(model.nb)
        self.springs: tuple[float, ...] = (0.0, 0.0)
        self.force = bodies.loads(model, state)
        self.inertia_at(state.orientation, first=True)
        self.kick, self.drifts = h if kick is None else kick, drifts
        along = h if drifts else 0.0
        self._driven = [(i, motion.velocity(state.time, along)) for i, motion in model.motions]
        self.begin(state.velocity.copy())
        self.inertia_before = self.inertia
        self.energy = energy(model, state)
        self.softening = 0.0

    def stage(self, name: str) -> None:
        now = perf_counter()
        self.seconds[name] = now - self._clock
        self._clock = now

    def inertia_at(self, orientation: Floats, first: bool = False) -> None:
        """Inertia in world axes with bodies turned to `orientation`; v_free follows."""
        model = self.model
        if model.dim == 2:
            self.inertia, self.inverse_inertia = model.inertia, model.inverse_inertia
            return
        self.inertia, self.inverse_inertia = (
            np.empty_like(model.inertia),
            np.empty_like(model.inertia),
        )
        rigid.to_world(model.inertia, orientation, self.inertia)
        rigid.to_world(model.inverse_inertia, orientation, self.inverse_inertia)
        if not first:
            self.begin(self.v0)

    def begin(self, v0: Floats) -> None:
        """Set the velocity that the forces kick."""
        model = self.model
        self.v0, self.v_free = v0, np.empty_like(v0)
        self.load = self.force
        if self._explicit and model.dim == 3:
            self.load = self.force.copy()
            rigid.gyroscopic(self.inertia, v0, self.load)
        kick = rigid.kick_planar if model.dim == 2 else rigid.kick_spatial
        kick(
            model.inverse_mass,
            self.inverse_inertia,
            model.gravity,
            self.load,
            v0,
            self.kick,
            self.v_free,
        )
        for i, velocity in self._driven:  # their motion kicks them
            self.v_free[i] = velocity

    def turn(self) -> Floats:
        """(nb, 3, 3) body axes in the world."""
        out = np.empty((self.model.nb, 3, 3))
        for i in range(self.model.nb):
            rigid.rotation_of(self.state.orientation[i], out[i])
        return out
