"""What the compiled loop asks Python for: collisions, Newton's method, sweeps on threads."""

from __future__ import annotations

import numpy as np

from drystone.geometry.detector import Detector
from drystone.kernels import ledger as kernels
from drystone.kernels.step import begin, plan, prepare, sweeps
from drystone.kernels.step import names as the
from drystone.model import Model
from drystone.solvers.newton import PLAIN
from drystone.solvers.registry import METHODS as SOLVERS
from drystone.steppers.time_stepping.buffers import Buffers
from drystone.steppers.time_stepping.impact import collide
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.solve import STEPS, IslandSolver, Solved, newton_steps
from drystone.steppers.time_stepping.stalling import told
from drystone.steppers.time_stepping.threads import Sweeper, Task
from drystone.types import Status

METHODS = (*dict.fromkeys(("nsgs", "newton", *SOLVERS.ours)), "stall")  # by their bits


class Aid:
    """Each method does what a stage returned a code for, in the buffers."""

    options: TimeStepping
    model: Model
    buffers: Buffers
    detector: Detector
    solver: IslandSolver
    bouncer: IslandSolver
    sweeper: Sweeper

    def _collide(self) -> None:
        """Collisions of this step with restitution; the kick is given anew after them."""
        buffers, s = self.buffers, self.buffers.s
        buffers.store(0, int(s.count[the.ROWS]))
        part = buffers.rows()
        half = 0.5 * (s.v_free - s.v0)
        h, gravity = float(s.real[the.H]), buffers.pull
        hits = collide(part, s.v0.copy(), half, h, gravity, buffers.typical, self.bouncer)
        if not hits.collisions:
            return
        s.v0[:] = hits.v - half
        kick = begin.kick_planar if self.model.dim == 2 else begin.kick_spatial
        kick(s, self.detector.scan)
        blows, offset = np.zeros(4), 0.0
        half = np.where(self.model.inverse_mass[:, None] > 0, half, 0.0)
        for rows_, r, old, new in hits.parts:
            kernels.contact_work(rows_.body, rows_.moves, rows_.J, r, old, new, blows)
            offset += float((r * rows_.velocities(half)).sum())
        s.begun[the.DRIVING] = blows[3]
        s.begun[the.IMPACT] = s.begun[the.IMPACT_ENERGY] = blows[:3].sum()
        s.begun[the.INTEGRATION] = -offset
        s.begun[the.RESIDUAL] = hits.residual
        s.begun[the.R_FAILED] = hits.status is not Status.SOLVED
        s.count[the.COLLISIONS] = hits.collisions
        s.count[the.ITERATIONS] += hits.iterations

    def _sweep(self) -> None:
        """Sweeps of the chosen islands on several threads."""
        s = self.buffers.s
        n, ni, m = int(s.count[the.ROWS]), int(s.count[the.ISLANDS]), int(s.chosen_count[0])
        task = Task(
            s.start[: ni + 1], s.body[:n], s.bias[:n], s.mu[:n], int(s.count[the.LAW]),
            s.limit[:ni], s.enough[:ni], s.resort[:ni], s.least[:ni], s.most[:ni],
            bool(s.leave[0]), s.q[:n], s.v, s.r[:n], s.u[:n], s.ended[:ni], s.sweeps[:ni],
            s.residual[:ni], s.contact[:n], s.motion,
        )  # fmt: skip
        self.sweeper.solve(s.chosen[:m].copy(), task, s.position)
        sweeps.counted(s, ni)

    def _newton(self) -> None:
        """Newton on the islands that are planned for it; large ones are refused for lack of room,
        and wait longer where it did not arrive."""
        s, view = self.buffers.s, self._view()
        tol, missed = self.options.tol, False
        self.solver.jams = False
        for k in np.flatnonzero(s.plan[: s.count[the.ISLANDS]] == the.SMALL_NEWTON):
            self._island(int(k), view, STEPS)
            if not s.count[the.WAS_TIGHT]:
                s.count[the.TIGHT] = 2
        for k in np.flatnonzero(s.plan[: s.count[the.ISLANDS]] == the.LARGE_NEWTON):
            lo, size = int(s.start[k]), int(s.start[k + 1] - s.start[k])
            rest = float(s.real[the.REST])
            steps = newton_steps(s.body[lo : lo + size], s.moves, s.v_free, rest)
            if size < s.count[the.REFUSED] and not self._island(int(k), view, steps):
                s.count[the.REFUSED] = size
            missed |= bool(s.residual[k].max() > tol)
        if s.count[the.TRIED] and missed:
            longer = min(4 * int(s.count[the.PENALTY]), the.LONGEST)
            s.count[the.PENALTY] = s.count[the.WAIT] = longer
        elif s.count[the.TRIED] and not s.count[the.WAS_TIGHT]:
            # as for small islands: impulses that stopped what moved are no warm start for what
            # rests, so the next step asks again before anybody waits
            s.count[the.TIGHT], s.count[the.WAIT] = 2, 0
            s.count[the.PENALTY] = max(1, int(s.count[the.PENALTY]) // 4)
        self._adopt_answers(view)

    def _island(self, k: int, view: Solved, steps: int) -> bool:
        s = self.buffers.s
        self.buffers.store(int(s.start[k]), int(s.start[k + 1]))
        done = self.solver._newton(self.buffers.rows(), k, view, steps)
        self._jams(k, view)
        return done

    def _jams(self, k: int, view: Solved) -> None:
        """Leave island k, if it jams: its residual says so, and nothing else would help."""
        if k in view.stalls:
            self.buffers.s.plan[k] = the.DONE
            self._note_jam(*told(self.model, self.buffers.rows(), view.stalls))

    def _note_jam(self, names: tuple[str, ...], log: tuple[str, ...]) -> None:
        """This step jams."""
        raise NotImplementedError

    def _stuck(self) -> None:
        """Islands that sweeps did not solve either: the whole chain of methods, if small."""
        s, view = self.buffers.s, self._view()
        for k in np.flatnonzero(s.plan[: s.count[the.ISLANDS]] != the.DONE):
            size = int(s.start[k + 1] - s.start[k])
            if size <= the.SMALL:
                self.buffers.store(int(s.start[k]), int(s.start[k + 1]))
                self.solver._island(self.buffers.rows(), int(k), view)
                self._jams(int(k), view)
            elif size <= the.MEDIUM:
                self._island(int(k), view, PLAIN)
        self._adopt_answers(view)
        plan.conclude(s)

    def _adopt_answers(self, view: Solved) -> None:
        """Velocities from the new impulses; what it took."""
        s = self.buffers.s
        push = prepare.push_planar if self.model.dim == 2 else prepare.push_spatial
        push(s, self.detector.scan)
        s.count[the.ITERATIONS] += view.iterations
        for name in view.methods:
            s.count[the.METHODS] |= 1 << METHODS.index(name)

    def _view(self) -> Solved:
        """The state of the solve, as it lies in the buffers."""
        s = self.buffers.s
        n, ni, failed = (int(s.count[k]) for k in (the.ROWS, the.ISLANDS, the.FAILED))
        status = Status.SOLVED if failed < 0 else Status.MAX_ITERATIONS
        return Solved(
            s.r[:n], s.u[:n], s.v, s.q[:n], s.mu[:n], status, s.residual[:ni], 0, (), failed
        )
