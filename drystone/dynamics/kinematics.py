"""Representations of orientations and the map G(q) of each: q' = G(q) omega (Anitescu et al. 1998,
(29) to (37)).

The state holds quaternions; here is every representation that Anitescu, Potra and Stewart name,
behind one interface, so that a gap f(q) stated in any of them can become rows of a step:
n_hat = G(q)' grad f(q). omega is in world axes, rotations act from the left: R' = omega* R.

    quaternion  (4,)  unit (w, x, y, z); G linear in q, G' G = I / 4
    matrix      (9,)  vec Q, columns of Q one after the other (30); G' G = 2 I
    euler       (3,)  angles (phi, theta, psi), R = Rz(phi) Ry(theta) Rx(psi); singular at
                      theta = +-pi/2, where G does not exist: reported, never divided by
    rodrigues   (3,)  tan(angle / 4) axis: two vectors for every orientation but the reference
                      one, the other being -p / |p|^2; kept at |p| <= 1 by switching, which is
                      the change of chart that avoids the singularity
"""

from __future__ import annotations

import numpy as np

from drystone.dynamics.frames import exponential, product, rotation
from drystone.errors import ArrayError, ModelError, OptionError
from drystone.types import Floats

SINGULAR = 1e-6  # |cos theta| of Euler angles below which they are refused
UNIT = 1e-6  # how far a quaternion or matrix may be off before it is refused


def skew(v: Floats) -> Floats:
    """v* (3, 3), with v* x = v x x."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


class Representation:
    """How an orientation is written: `size` numbers, a name, and the methods below."""

    name: str
    size: int

    def G(self, q: Floats) -> Floats:
        """(size, 3) matrix with q' = G(q) omega; of full column rank (31)."""
        raise NotImplementedError

    def from_quaternion(self, quaternion: Floats) -> Floats:
        """q (size,) of a unit quaternion (4,)."""
        raise NotImplementedError

    def to_quaternion(self, q: Floats) -> Floats:
        """Unit quaternion (4,), with its first nonzero entry positive."""
        raise NotImplementedError

    def normalise(self, q: Floats) -> Floats:
        """The nearest q that is an orientation: norms kept, charts switched, turns taken off."""
        raise NotImplementedError

    def check(self, q: Floats) -> Floats:
        q = np.asarray(q, float)
        if q.shape != (self.size,) or not np.isfinite(q).all():
            raise ArrayError(f"{self.name} q = {q!r}: expected {self.size} finite numbers")
        return q

    def pseudo_inverse(self, q: Floats) -> Floats:
        """G+ (3, size): omega = G+ q', G+ G = I."""
        G = self.G(q)
        return np.asarray(np.linalg.solve(G.T @ G, G.T), float)

    def row(self, q: Floats, gradient: Floats) -> Floats:
        """n_hat = G(q)' grad f (3,): the row of a constraint f(q) for the angular velocity."""
        return self.G(q).T @ np.asarray(gradient, float)

    def step(self, q: Floats, omega: Floats, h: float) -> Floats:
        """q after the rotation exp(h omega): the exponential update, exact for constant omega."""
        turned = product(exponential(h * np.asarray(omega, float)), self.to_quaternion(q))
        return self.from_quaternion(turned)

    def euler_step(self, q: Floats, omega: Floats, h: float) -> Floats:
        """normalise(q + h G(q) omega): the update of (37) as printed, of first order."""
        return self.normalise(self.check(q) + h * (self.G(q) @ np.asarray(omega, float)))

    def rotation(self, q: Floats) -> Floats:
        """(3, 3) rotation matrix."""
        return rotation(self.to_quaternion(q))


class Quaternion(Representation):
    name, size = "quaternion", 4

    def G(self, q: Floats) -> Floats:
        w, x, y, z = self.check(q)
        return 0.5 * np.array([[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]])

    def from_quaternion(self, quaternion: Floats) -> Floats:
        return _positive(_unit(quaternion))

    def to_quaternion(self, q: Floats) -> Floats:
        return _positive(_unit(self.check(q)))

    def normalise(self, q: Floats) -> Floats:
        length = float(np.linalg.norm(self.check(q)))
        if length == 0.0:
            raise ModelError("quaternion q = 0 is no orientation")
        return np.asarray(q, float) / length


class Matrix(Representation):
    name, size = "matrix", 9

    def G(self, q: Floats) -> Floats:
        Q = self.check(q).reshape(3, 3, order="F")
        # omega* column_j = -column_j* omega
        return np.concatenate([-skew(Q[:, j]) for j in range(3)])

    def from_quaternion(self, quaternion: Floats) -> Floats:
        return rotation(_unit(quaternion)).ravel(order="F")

    def to_quaternion(self, q: Floats) -> Floats:
        R = self.check(q).reshape(3, 3, order="F")
        off = float(np.abs(R.T @ R - np.eye(3)).max())
        if off > UNIT or np.linalg.det(R) < 0:
            raise ModelError(f"matrix q is no rotation: Q'Q is off the identity by {off:.2g}")
        return _positive(_of_matrix(R))

    def normalise(self, q: Floats) -> Floats:
        """The polar factor: the nearest rotation in the Frobenius norm."""
        U, _, V = np.linalg.svd(self.check(q).reshape(3, 3, order="F"))
        U[:, 2] *= np.sign(np.linalg.det(U @ V))
        return (U @ V).ravel(order="F")


class Euler(Representation):
    name, size = "euler", 3

    def G(self, q: Floats) -> Floats:
        phi, theta, _ = self.check(q)
        if abs(np.cos(theta)) < SINGULAR:
            raise ModelError(
                f"euler angles are singular at theta = {theta:.9g} rad: phi and psi turn about "
                "the same axis; use quaternions there"
            )
        c, s, t, k = np.cos(phi), np.sin(phi), np.tan(theta), 1.0 / np.cos(theta)
        return np.array([[c * t, s * t, 1.0], [-s, c, 0.0], [c * k, s * k, 0.0]])

    def from_quaternion(self, quaternion: Floats) -> Floats:
        R = rotation(_unit(quaternion))
        across = float(np.hypot(R[0, 0], R[1, 0]))
        theta = np.arctan2(-R[2, 0], across)
        if across < SINGULAR:  # phi - psi (or the sum) is all there is: psi = 0
            return np.array([np.arctan2(-R[0, 1], R[1, 1]), theta, 0.0])
        return np.array([np.arctan2(R[1, 0], R[0, 0]), theta, np.arctan2(R[2, 1], R[2, 2])])

    def to_quaternion(self, q: Floats) -> Floats:
        phi, theta, psi = self.check(q)
        turns = (np.array([0, 0, phi]), np.array([0, theta, 0]), np.array([psi, 0, 0]))
        z, y, x = (exponential(turn) for turn in turns)
        return _positive(product(z, product(y, x)))

    def normalise(self, q: Floats) -> Floats:
        """Angles with phi and psi in [-pi, pi], |theta| <= pi/2."""
        return self.from_quaternion(self.to_quaternion(q))


class Rodrigues(Representation):
    name, size = "rodrigues", 3

    def G(self, q: Floats) -> Floats:
        p = self.check(q)
        return 0.25 * ((1.0 - p @ p) * np.eye(3) - 2.0 * skew(p) + 2.0 * np.outer(p, p))

    def from_quaternion(self, quaternion: Floats) -> Floats:
        q = _positive(_unit(quaternion))
        return q[1:] / (1.0 + q[0])

    def to_quaternion(self, q: Floats) -> Floats:
        p = self.check(q)
        square = float(p @ p)
        return _positive(np.array([1.0 - square, *(2.0 * p)]) / (1.0 + square))

    def normalise(self, q: Floats) -> Floats:
        """The shorter of the two vectors of the same orientation."""
        p = self.check(q)
        return self.switch(p) if float(p @ p) > 1.0 else p.copy()

    def switch(self, q: Floats) -> Floats:
        """The other vector of the same orientation: the chart whose singularity is far away."""
        p = self.check(q)
        if not p.any():
            raise ModelError("rodrigues vector 0, the reference orientation, has no other one")
        return -p / float(p @ p)


REPRESENTATIONS: dict[str, Representation] = {
    r.name: r for r in (Quaternion(), Matrix(), Euler(), Rodrigues())
}


def representation(name: str) -> Representation:
    """By name: quaternion, matrix, euler, rodrigues."""
    if name not in REPRESENTATIONS:
        raise OptionError(f"unknown representation {name!r}: one of {', '.join(REPRESENTATIONS)}")
    return REPRESENTATIONS[name]


def _unit(q: Floats) -> Floats:
    q = np.asarray(q, float)
    length = float(np.linalg.norm(q))
    if q.shape != (4,) or not abs(length - 1.0) <= UNIT:
        raise ModelError(f"quaternion {q}: length {length:.9g}, expected 1")
    return q / length


def _positive(q: Floats) -> Floats:
    """Of q and -q, which are one orientation, that whose first nonzero entry is positive."""
    first = q[np.flatnonzero(q)[0]]
    return -q if first < 0 else q


def _of_matrix(R: Floats) -> Floats:
    """Unit quaternion of a rotation matrix, through its largest entry."""
    diagonal = np.array([np.trace(R), R[0, 0], R[1, 1], R[2, 2]])
    k = int(np.argmax(diagonal))
    q = np.empty(4)
    if k == 0:
        q[0] = 1.0 + diagonal[0]
        q[1:] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i, j, m = k - 1, k % 3, (k + 1) % 3
        q[0] = R[m, j] - R[j, m]
        q[1 + i] = 1.0 + R[i, i] - R[j, j] - R[m, m]
        q[1 + j], q[1 + m] = R[j, i] + R[i, j], R[m, i] + R[i, m]
    return q / np.linalg.norm(q)
