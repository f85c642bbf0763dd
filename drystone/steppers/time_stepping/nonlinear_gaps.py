"""Steps at whose end contacts are as the law says: gap(q') >= 0 itself, not its linear part.

A step of the scheme ends with gap + h u_n' >= 0 (Hart and Anitescu 2003, (2.9)), which leaves gaps
and penetrations of order h^2, since bodies turn. Here one more stage judges the gaps where the
drift would lead, and the solve is repeated with gaps moved by what was left, until contacts that
press touch and none penetrates. What is left shrinks by a factor of order h from solve to solve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from drystone.dynamics import bodies
from drystone.geometry.contact_buffer import COLUMNS
from drystone.geometry.matching import Tags, sources
from drystone.kernels import rigid
from drystone.kernels.step import codes, joint_spare
from drystone.model import Contacts, State
from drystone.types import Floats, Ints

if TYPE_CHECKING:
    from drystone.steppers.time_stepping.host_requests import HostRequests

GAP_SOLVES = 6  # solves with moved gaps
GAP_HALVINGS = 4  # of a step whose gaps do not close
SHORT = 0.1  # of options.dt: in shorter steps the slop is wider
WIDE_SLOP = 10.0  # times the slop, in short steps
FAILED = 1e-4  # residual of a solve that is not to be used
END_MARGIN = 1e-3  # of a geom's size: how far apart contacts are detected at the end of a step
POINT_TRAVEL = 0.05  # of a body's size: how far the point of one contact moves on a body in a step


class NonlinearGaps:
    """Judges gaps at the end of the steps of a stepper, the `host`; close [m]: what may be left of
    them. Steps that leave more than twice as much are halved. In steps that are much shorter than
    options.dt the slop is wider: closing such gaps would need any speed.

    left [m]: of the gaps of the last step.
    """

    halvings = GAP_HALVINGS

    def __init__(self, close: float) -> None:
        self.close, self.left = close, 0.0
        self._rounds = _Rounds()

    def begin(self, host: HostRequests, h: float) -> None:
        """A step of length h [s] begins."""
        options, s = host.options, host.buffers.s
        s.slop = options.slop if h >= SHORT * options.dt else WIDE_SLOP * options.slop
        self.left, self._rounds = 0.0, _Rounds()

    @property
    def closed(self) -> bool:
        """Whether the last step closed its gaps."""
        return self.left <= 2.0 * self.close

    def next_stage(self, host: HostRequests, stage: int) -> int:
        """The stage to continue with after this one, which asked for a judgement."""
        return self._again(host) if self._judge_gaps(host) else stage + 1

    def _again(self, host: HostRequests) -> int:
        """Solve once more, with the bias of contacts as it is now; returns the stage that begins
        it."""
        s, j, mine = host.buffers.s, host.buffers.j, self._touching(host)
        if j is None:
            s.slip_rounds = 1
            return int(s.solve_stage)
        n = int(s.rows)
        j.bias0[mine] = s.bias[mine]
        s.bias[:n], s.v_free[:] = j.bias0[:n], j.free
        joint_spare.quiet(s, j)
        j.goal, j.round, j.misses, j.by_host = codes.START, 0, 0, 0
        return int(j.aim_stage) - 1

    def _judge_gaps(self, host: HostRequests) -> bool:
        """Whether to solve again: the bias then has gaps moved by what their linear part misses."""
        s, now = host.buffers.s, self._rounds
        n, ni, h = int(s.rows), int(s.islands), float(s.h)
        if not now.same(s.bias[:n, 0]):  # rows were made anew, with other contacts
            now = self._rounds = _Rounds()
        if now.count > GAP_SOLVES:
            return False
        if now.count > 0 and not s.residual[:ni].max(initial=0.0) <= FAILED:
            # back to the last solve that can be used
            s.bias[:n, 0], s.r[:n] = now.good
            now.count, now.bias = GAP_SOLVES + 1, s.bias[:n, 0].copy()
            return True
        gap, normal = s.gap[:n], s.r[:n, 0]
        linear = gap + h * (s.u[:n, 0] - s.bias[:n, 0])
        end, beside = self._end(host, linear)
        # contacts without force may open
        open_by = np.where(normal > 0.0, end, np.minimum(end, 0.0))
        worst = float(np.abs(open_by[self._touching(host)]).max(initial=0.0))
        self.left = max(worst, beside)
        if worst <= self.close or worst > 0.5 * now.best or now.count == GAP_SOLVES:
            return False
        now.best, now.count = worst, now.count + 1
        now.good = s.bias[:n, 0].copy(), s.r[:n].copy()
        self._move_gaps(host, gap, end, linear)
        now.bias = s.bias[:n, 0].copy()
        return True

    def _touching(self, host: HostRequests) -> Ints:
        """Rows of contacts."""
        return np.flatnonzero(host.buffers.s.geom_a[: host.buffers.s.rows] >= 0)

    def _move_gaps(self, host: HostRequests, gap: Floats, end: Floats, linear: Floats) -> None:
        """The bias of contacts with gaps (n,) moved by what the linear part misses of their end, as
        ``kernels.step.rows.give_bias`` has it."""
        s, mine = host.buffers.s, self._touching(host)
        size = s.size[s.body[mine]].min(axis=1)
        slack = s.slop * np.where(np.isfinite(size), size, 1.0)
        gap = gap[mine] + end[mine] - linear[mine]
        s.bias[mine, 0] = (gap - np.clip(gap, -slack, slack)) / s.h

    def _end(self, host: HostRequests, linear: Floats) -> tuple[Floats, float]:
        """(n,) gaps where the drift leads, of contacts that are not found there the linear ones;
        the greatest penetration of others that are found."""
        s, scan, mine = host.buffers.s, host.detector.scan, self._touching(host)
        x, R = bodies.geom_poses(host.model, self._arrival_state(host))
        found = self._contacts_at(host, x, R)
        # where corners nearly meet, the same point may have another feature's name
        here = Contacts(
            s.geom_a[mine], s.geom_b[mine], s.point[mine], s.normal[mine], s.gap[mine],
            s.feature[mine],
        )  # fmt: skip
        tags = self._tags(host, found, x, R), self._tags(host, here, scan.x, scan.R)
        at = sources(*tags, reach=POINT_TRAVEL * host.buffers.typical)
        out = linear.copy()
        out[mine[at >= 0]] = found.gap[at[at >= 0]]
        beside = np.delete(found.gap, at[at >= 0])
        return out, float(np.maximum(-beside, 0.0).max(initial=0.0))

    def _arrival_state(self, host: HostRequests) -> State:
        """Where the drift leads."""
        s, j, out = host.buffers.s, host.buffers.j, host.buffers.state()
        if j is not None:
            parts = j.at_position, j.at_orientation, j.at_velocity
            return State(host.now + float(s.h), *(part.copy() for part in parts))
        out.velocity[:] = s.v
        if host.model.dim == 2:
            rigid.drift_planar(out.velocity, s.h, out.position, out.orientation)
        else:
            flow = s.torque_free != 0
            rigid.drift_spatial(
                s.own_inertia, s.own_inverse, flow, out.velocity, s.h, out.position,
                out.orientation,
            )  # fmt: skip
        for k, b in enumerate(s.driven):
            out.position[b] = s.driven_position[s.cursor, k]
            out.orientation[b] = s.driven_orientation[s.cursor, k]
        out.time = float(s.time + s.h)
        bodies.check_finite(host.model, out, s.force, float(s.h))
        return out

    def _contacts_at(self, host: HostRequests, x: Floats, R: Floats) -> Contacts:
        """Contacts at poses x, R of the geoms. Those of the start stay where stages read them."""
        detector, radius = host.detector, host.model.geoms.radius
        n = int(detector.scan.n_contacts)
        kept = {name: getattr(detector.scan, name)[:n].copy() for name in COLUMNS}
        found = detector.contacts(x, R, END_MARGIN * np.where(np.isfinite(radius), radius, 0.0))
        for name, array in kept.items():
            getattr(detector.scan, name)[:n] = array
        detector.scan.n_contacts = n
        return found

    def _tags(self, host: HostRequests, contacts: Contacts, x: Floats, R: Floats) -> Tags:
        """Names of contacts, and their points on geom a."""
        a, uid = contacts.geom_a, host.model.geoms.uid
        local = np.einsum("iba,ib->ia", R[a], contacts.point - x[a])
        return Tags(uid[a], uid[contacts.geom_b], contacts.feature, local)


class _Rounds:
    """Solves of one step with moved gaps: how many, the least that one left [m], the bias of the
    present one, and bias and impulses of the last that is to be used."""

    def __init__(self) -> None:
        self.count, self.best = 0, np.inf
        self.bias: Floats = np.empty(0)
        self.good: tuple[Floats, Floats] = np.empty(0), np.empty(0)

    def same(self, bias: Floats) -> bool:
        """Whether the present solve is that of the last round."""
        return self.count == 0 or np.array_equal(bias, self.bias)
