"""What the compiled loop asks Python for: collisions, Newton's method, sweeps on threads."""

from __future__ import annotations

import numpy as np

from drystone.geometry.detector import Detector
from drystone.kernels import ledger as kernels
from drystone.kernels.step import begin, blocks, codes, plan, prepare, sweeps
from drystone.model import Model
from drystone.solvers.newton import PLAIN
from drystone.solvers.registry import METHODS as SOLVERS
from drystone.steppers.time_stepping.buffers import Buffers
from drystone.steppers.time_stepping.impact import collide
from drystone.steppers.time_stepping.options import TimeStepping
from drystone.steppers.time_stepping.solve import IslandSolver, Solved, stands
from drystone.steppers.time_stepping.stalling import told
from drystone.steppers.time_stepping.threads import Sweeper
from drystone.types import Status

METHODS = [*dict.fromkeys(("nsgs", "newton", *SOLVERS.ours)), "stall"]  # by their bits
STATUSES = tuple(Status)


class Aid:
    """Each method does what a stage returned a code for, in the buffers."""

    options: TimeStepping
    model: Model
    buffers: Buffers
    detector: Detector
    solver: IslandSolver
    bouncer: IslandSolver
    sweeper: Sweeper
    method_names: list[str]

    def _collide(self) -> None:
        """Collisions of this step with restitution; the kick is given anew after them."""
        buffers, s = self.buffers, self.buffers.s
        buffers.store(0, int(s.rows))
        part = buffers.rows()
        half = s.impact_share * (s.v_free - s.v0)
        h, gravity = s.h, buffers.pull
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
        # contacts may be added after a solve, and collide in turn: what was before them counts, too
        begun = s.begun
        begun.driving += blows[3]
        begun.impact += blows[:3].sum()
        begun.impact_energy += blows[:3].sum()
        begun.integration -= offset
        begun.residual = max(begun.residual, hits.residual)
        begun.failed = max(begun.failed, float(hits.status is not Status.SOLVED))
        s.collisions += hits.collisions
        s.iterations += hits.iterations

    def _sweep(self) -> None:
        """Sweeps of the chosen islands on several threads."""
        s = self.buffers.s
        self.sweeper.solve(s, s.chosen[: s.n_chosen].copy())
        sweeps.counted(s, s.islands)

    def _newton(self) -> None:
        """Newton on the islands that are planned for it; large ones are refused for lack of room,
        and wait longer where it did not arrive."""
        s, view = self.buffers.s, self._view()
        tol, missed = self.options.tol, False
        self.solver.jams = False
        policy = self.options.policy
        for k in np.flatnonzero(s.plan[: s.islands] == codes.SMALL_NEWTON):
            if not self._smooth:
                self._whole(int(k), view)
                continue
            self._island(int(k), view, policy.newton_steps)
            if not s.tight:
                s.tight_steps = 2
        for k in np.flatnonzero(s.plan[: s.islands] == codes.LARGE_NEWTON):
            lo, size = int(s.start[k]), int(s.start[k + 1] - s.start[k])
            if not self._smooth:  # pivoting is for small ones: more sweeps
                continue
            large = not stands(s.body[lo : lo + size], s.moves, s.v_free, s.rest_speed, policy)
            steps = policy.large_newton_steps if large else policy.newton_steps
            if size < s.newton_refused and not self._island(int(k), view, steps, large):
                s.newton_refused = size
            missed |= bool(s.residual[k].max() > tol)
        tries = s.newton_tried == s.solves
        if tries and missed:
            longer = min(4 * s.newton_interval, policy.newton_interval)
            s.newton_interval = s.newton_wait = longer
        elif tries and not s.tight:
            # as for small islands: impulses that stopped what moved are no warm start for what
            # rests, so the next step asks again before anybody waits
            s.tight_steps, s.newton_wait = 2, 0
            s.newton_interval = max(1, s.newton_interval // 4)
        self._adopt_answers(view)

    @property
    def _smooth(self) -> bool:
        return self.options.smooth(self.model.dim)

    def _whole(self, k: int, view: Solved) -> None:
        """The whole chain of methods on island k."""
        s = self.buffers.s
        self.buffers.store(int(s.start[k]), int(s.start[k + 1]))
        self.solver._island(self.buffers.rows(), k, view)
        self._jams(k, view)

    def _island(self, k: int, view: Solved, steps: int, large: bool = False) -> bool:
        s = self.buffers.s
        self.buffers.store(int(s.start[k]), int(s.start[k + 1]))
        done = self.solver._newton(self.buffers.rows(), k, view, steps, large)
        self._jams(k, view)
        return done

    def _jams(self, k: int, view: Solved) -> None:
        """Leave island k, if it jams: its residual says so, and nothing else would help."""
        if k in view.stalls:
            self.buffers.s.plan[k] = codes.DONE
            self._note_jam(*told(self.model, self.buffers.rows(), view.stalls))

    def _note_jam(self, names: tuple[str, ...], log: tuple[str, ...]) -> None:
        """This step jams."""
        raise NotImplementedError

    def _ask(self) -> None:
        """All islands by a solver of the library."""
        s, view = self.buffers.s, self._view()
        s.methods = 0
        self.solver.jams = False
        self.solver._generic(self.buffers.rows(), s.v_free, view)
        s.v[:], s.failed = view.v, view.failed
        s.iterations += view.iterations
        self._used(view, view.status)
        if view.stalls:
            self._note_jam(*told(self.model, self.buffers.rows(), view.stalls))

    def _stuck(self) -> None:
        """Islands that sweeps did not solve either: the whole chain of methods, if small."""
        s, view = self.buffers.s, self._view()
        if s.only_sweeps:
            self._stall(view)
            return
        for k in np.flatnonzero(s.plan[: s.islands] != codes.DONE):
            size = int(s.start[k + 1] - s.start[k])
            if size <= self.options.policy.small or (
                size <= self.options.policy.medium and not self._smooth
            ):
                self._whole(int(k), view)
            elif size <= self.options.policy.medium:
                self._island(int(k), view, PLAIN)
        self._adopt_answers(view)
        plan.conclude(s)

    def _adopt_answers(self, view: Solved) -> None:
        """Velocities from the new impulses; what it took."""
        s = self.buffers.s
        push = prepare.push_planar if self.model.dim == 2 else prepare.push_spatial
        (blocks.push if self.buffers.stores else push)(s, self.detector.scan)
        s.iterations += view.iterations
        self._used(view, Status.MAX_ITERATIONS)

    def _used(self, view: Solved, status: Status) -> None:
        """Note the methods of a solve, and how it ended if not well."""
        s, names = self.buffers.s, self.method_names
        for name in view.methods:
            if name not in names:
                names.append(name)
            s.methods |= 1 << names.index(name)
        s.status = STATUSES.index(status)

    def _stall(self, view: Solved) -> None:
        """Islands that Gauss-Seidel did not solve, if they jam."""
        s = self.buffers.s
        self.solver.jams = False
        for k in np.flatnonzero(~(s.residual[: s.islands].max(axis=1) <= s.tol)):
            self.buffers.store(int(s.start[k]), int(s.start[k + 1]))
            rows = self.buffers.rows()
            if any(self.solver._stalls(rows, int(k), view, locks) for locks in (False, True)):
                self._jams(int(k), view)
        self._adopt_answers(view)
        s.failed = -1
        plan.conclude(s)
        if s.failed >= 0 and not np.isfinite(s.residual[s.failed]).all():
            s.status = STATUSES.index(Status.SINGULAR)

    def _view(self) -> Solved:
        """The state of the solve, as it lies in the buffers."""
        s = self.buffers.s
        n, ni, failed = s.rows, s.islands, s.failed
        status = Status.SOLVED if failed < 0 else Status.MAX_ITERATIONS
        return Solved(
            s.r[:n], s.u[:n], s.v, s.q[:n], s.mu[:n], status, s.residual[:ni], 0, (), failed
        )
