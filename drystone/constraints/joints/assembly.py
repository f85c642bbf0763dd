"""Assembly: the smallest motion, in the mass metric, that closes all joints.

Newton's method on C(q) = 0 with least-norm steps: dq = L y, y = -B' (B B' + m I)^+ C, B = J L,
L L' = M^-1. Redundant rows, which closed loops have, make B B' singular; the pseudo-inverse does
not mind. m = 0 unless a step fails to bring the joints closer together: then it grows, the step
shrinks and turns downhill, so that what cannot close ends at its least error.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from drystone.constraints.joints.edit import only
from drystone.constraints.joints.metric import Group, Matrix, groups, roots, scaled_rows
from drystone.constraints.joints.rows import JointRows, free_coordinates, joint_rows
from drystone.dynamics.frames import exponential, product
from drystone.errors import ModelError
from drystone.kernels.joints import COUPLED, LENGTH, POINT
from drystone.model import Joints, Model, State
from drystone.types import Floats

ASSEMBLED = 1e-10  # [m or rad], of the scene's size where that is more than 1 m
FITS = 1e-9  # the same: joints that are open by no more fit as they were described
POSITION_ROUNDING = 1e-15  # of the mechanism's size: error of a position that is a float
ITERATIONS = 200  # Newton takes about 10; damped steps near a singular pose, dozens
EIGENVECTOR_ROWS = 100  # rows of a group up to which its eigenvectors are computed
LEAST_EIGENVALUE = 1e-13  # of the greatest eigenvalue: below, a direction does not count
LARGEST_TURN = 0.5  # [rad] that a body turns in one step
# of the matrix, tried in turn until the error falls
DAMPINGS = (0.0, 1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4)


def assemble(model: Model, state: State, tol: float = ASSEMBLED) -> State:
    """The state with all joints closed to `tol` [m or rad]; velocities are kept.

    Dynamic bodies move as little as they can; ModelError names the joints that cannot close.
    """
    out = state.copy()
    joints = model.joints
    if joints is None or joints.nr == 0:
        return out
    size = max(1.0, float(np.abs(state.position).max(initial=0.0)))
    last = free_coordinates(joints, out).value
    error = _rows(joints, out, last)[0].error
    exact = 4.0 * POSITION_ROUNDING * size
    if np.abs(error).max() <= exact:
        return out
    for group in groups(model, joints):
        if np.abs(error[group.rows]).max() > exact:
            _close(model, joints, out, group, last, exact)
    error = _rows(joints, out, last)[0].error
    if np.abs(error).max() > tol * size:
        raise ModelError(_open_joint(model, joints, error))
    return out


def assembled(model: Model, state: State) -> State:
    """The state itself if its joints fit, or with all of them closed: where a run can start."""
    joints = model.joints
    if joints is None or joints.nr == 0:
        return state
    size = max(1.0, float(np.abs(state.position).max(initial=0.0)))
    error = joint_rows(joints, state, free_coordinates(joints, state)).error
    return state if np.abs(error).max() <= FITS * size else assemble(model, state)


def _rows(joints: Joints, state: State, last: Floats) -> tuple[JointRows, Floats]:
    q = free_coordinates(joints, state, last)
    return joint_rows(joints, state, q), q.value


def _close(
    model: Model, joints: Joints, state: State, group: Group, last: Floats, exact: float
) -> None:
    """Close one group as far as it goes; moves state and last in place."""
    part, kept = only(joints, joints.row_joint[group.rows])
    rows, last[kept] = _rows(part, state, last[kept])
    for _ in range(ITERATIONS):
        C = rows.error
        if np.abs(C).max() <= exact:
            return
        L = roots(model, state, group.bodies)
        step = _Steps(scaled_rows(rows.J, group.body, L), C)
        before = state.position[group.bodies], state.orientation[group.bodies]
        for damping in DAMPINGS:
            dq = np.einsum("bef,bf->be", L, step(damping).reshape(L.shape[:2]))
            turn = np.abs(dq[:, model.dim :]).max(initial=0.0)
            dq *= min(1.0, LARGEST_TURN / turn) if turn > 0.0 else 1.0
            state.position[group.bodies], state.orientation[group.bodies] = moved(*before, dq)
            there, values = _rows(part, state, last[kept])
            if step.size(there.error) < (1.0 - 1e-4) * step.size(C):
                break
        else:
            state.position[group.bodies], state.orientation[group.bodies] = before
            return
        rows, last[kept] = there, values


class _Steps:
    """Steps y of one iteration for growing damping; rows are scaled to unit length."""

    def __init__(self, B: Matrix, C: Floats) -> None:
        square = np.asarray(B.multiply(B).sum(axis=1)).ravel()
        self.scale = np.divide(1.0, np.sqrt(square), out=np.zeros(C.size), where=square > 0)
        self.B = sparse.diags(self.scale) @ B
        self.C = self.scale * C
        self.S = (self.B @ self.B.T).tocsc()
        self.dense = C.size <= EIGENVECTOR_ROWS
        if self.dense:
            self.values, self.vectors = np.linalg.eigh(self.S.toarray())

    def size(self, C: Floats) -> float:
        return float(np.linalg.norm(self.scale * C))

    def __call__(self, damping: float) -> Floats:
        if self.dense:
            known = self.values > LEAST_EIGENVALUE * self.values[-1]
            inverse = np.divide(1.0, self.values + damping, out=np.zeros(self.C.size), where=known)
            z = self.vectors @ (inverse * (self.vectors.T @ self.C))
        else:
            z = self._sparse(damping)
        return -np.asarray(self.B.T @ z)

    def _sparse(self, damping: float) -> Floats:
        """With a little damping, taken back by refinement: a proximal-point iteration, which
        tends to the least-norm solution where S is singular."""
        shift = sparse.identity(self.C.size, format="csc") * max(damping, 1e-9)
        factor = splu(self.S + shift)
        z = factor.solve(self.C)
        for _ in range(3 if damping == 0.0 else 0):
            z += factor.solve(self.C - self.S @ z)
        return np.asarray(z)


def moved(position: Floats, orientation: Floats, dq: Floats) -> tuple[Floats, Floats]:
    """Poses of bodies after dq (k, dof), turned by its exponential."""
    dim = position.shape[1]
    if dim == 2:
        return position + dq[:, :2], orientation + dq[:, 2]
    turned = product(exponential(dq[:, 3:]), orientation)
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    return position + dq[:, :3], turned


def _open_joint(model: Model, joints: Joints, error: Floats) -> str:
    """Names the joint with the greatest error and the loop it is in."""
    row = int(np.argmax(np.abs(error)))
    worst = int(joints.row_joint[row])
    kind = joints.row_code[row, 0]
    unit = "m" if kind in (POINT, LENGTH) else ("m or rad" if kind == COUPLED else "rad")
    a, b = (_name(model, i) for i in joints.body[worst])
    text = (
        f"joint {joints.names[worst]!r} between {a} and {b} cannot close: it stays open by "
        f"{abs(error[row]):.4g} {unit}"
    )
    loop = _loop(model, joints, worst)
    if loop:
        text += f"; its loop is {', '.join(loop)}"
    return text


def _name(model: Model, body: int) -> str:
    return "the world" if body < 0 else repr(model.names[body])


def _loop(model: Model, joints: Joints, worst: int) -> list[str]:
    """The other joints on the shortest way from one body of a joint to the other, with bodies."""
    ends = joints.body.copy()
    still = (ends >= 0) & ~(model.inverse_mass[ends] > 0)
    ends[still] = -1  # all that does not move is one body here
    start, goal = (int(i) for i in ends[worst])
    reached: dict[int, tuple[int, int]] = {start: (-1, -1)}
    front = [start]
    while front and goal not in reached:
        following = []
        for body in front:
            for j in np.flatnonzero((ends == body).any(axis=1)):
                other = int(ends[j, 0] + ends[j, 1] - body)
                if j != worst and other not in reached:
                    reached[other] = (body, int(j))
                    following.append(other)
        front = following
    if goal not in reached or start == goal:
        return []
    way, body = [repr(joints.names[worst])], goal
    while body != start:
        body, link = reached[body]
        a, b = (_name(model, int(i)) for i in joints.body[link])
        way.append(f"{joints.names[link]!r} ({a} to {b})")
    return way
