"""Frictional contact problems: local form (W, q, mu) and global form (M, H, q, b, mu)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from drystone.errors import ArrayError, ProblemError
from drystone.kernels import blocks as kernels
from drystone.kernels.cones.conic import contact_optimality
from drystone.kernels.contact.residual import contact_residuals
from drystone.problems import _check
from drystone.problems._check import SquareLike
from drystone.problems.backward_error import JUDGED_ROWS, backward_error
from drystone.problems.cones import Cone, PolyhedralCone, as_cone
from drystone.problems.delassus import BlockMatrix, DelassusOperator
from drystone.problems.mass import ARRAY_ROWS, MassMatrix
from drystone.problems.residual import FrictionMeasures
from drystone.types import Bools, Floats, MatrixLike, Real, VectorLike
from drystone.values import among, text, whole

Law = Literal["coulomb", "convex", "static"]
LAWS = {"coulomb": kernels.COULOMB, "convex": kernels.CONVEX, "static": kernels.STATIC}
ABOUT = ("dim", "bilateral", "law", "cone", "slip")  # what is said about contacts beside W, q, mu


class _Contacts(_check.Statement):
    """What both forms state about their contacts; see FrictionProblem for the arguments."""

    dim: int
    law: Law
    cone: Cone
    d: int
    bilateral: int
    nc: int
    mu: Floats
    slip: Floats | None

    def _state(
        self,
        name: str,
        size: int,
        mu: Any,
        dim: Any,
        bilateral: Any,
        law: Any,
        cone: Any,
        slip: Any,
    ) -> None:
        """Check and keep the statement of `size` rows, given by the vector called `name`."""
        if whole(dim) not in (2, 3):
            raise ProblemError(f"dim = {text(dim)}: expected 2 or 3")
        if not among(law, get_args(Law)):
            known = ", ".join(get_args(Law))
            raise ProblemError(f"unknown law {text(law)}: expected one of {known}")
        self.dim, self.law, self.cone = dim, law, as_cone(cone)
        self.d = self.cone.block(dim)
        if law == "static" and self.k > 2:
            raise ProblemError(f"law 'static' needs a smooth cone, not {self.cone}")
        self.size, self.bilateral = size, _check.count("bilateral", bilateral)
        self.nc, rest = divmod(size - self.bilateral, self.d)
        if rest or self.nc < 0:
            raise ArrayError(
                f"{name} has {size} entries and bilateral = {bilateral}: "
                f"the rest must be {self.d} for each contact"
            )
        self.mu = _friction(mu, self.nc)
        self.slip = None if slip is None else _slip(slip, self.nc, self.d)

    @property
    def k(self) -> int:
        """Directions of a polyhedral cone, 0 for a smooth one."""
        return self.cone.k if isinstance(self.cone, PolyhedralCone) else 0

    @cached_property
    def sliding(self) -> Bools:
        """(nc,) contacts with a known slip direction."""
        return np.zeros(self.nc, bool) if self.slip is None else np.asarray(self.slip.any(axis=1))

    def stated_with(self, W: Any, q: Floats) -> FrictionProblem:
        """The same contacts, with W and q."""
        about: dict[str, Any] = {name: getattr(self, name) for name in ABOUT}
        return FrictionProblem(W, q, self.mu, **about)


class FrictionProblem(_Contacts):
    """Find impulses r with velocities u = W r + q, each contact obeying its friction law.

    W: (m, m) dense, sparse, in blocks (a BlockMatrix), or a DelassusOperator; m = d nc +
        bilateral. Rows: for each contact (normal, tangents), then the bilateral rows (u = 0,
        r of any sign).
    q: (m,) free velocity; mu: (nc,) or a number.
    dim: 2 or 3; d = dim, or 4 for a soft finger (normal, two tangents, spin).
    law: "coulomb" exact; "convex" its relaxation (Hart and Anitescu 2003, (2.10)); "static" the
        weaker conditions (14-1) of force level, where friction need only partly oppose the
        tangential acceleration. In the plane "static" and "coulomb" are the same.
    cone: "circular", an even number of directions, EllipticCone, SoftFingerCone, PolyhedralCone.
    slip: (nc, d - 1) known slip direction of sliding contacts (dynamic friction at force level:
        r_t = -mu r_n slip), rows of zeros for contacts without slip. None: no contact slides.
    """

    kind = "friction"

    def __init__(
        self,
        W: SquareLike | DelassusOperator | BlockMatrix,
        q: VectorLike,
        mu: Real | VectorLike,
        *,
        dim: int = 3,
        bilateral: int = 0,
        law: Law = "coulomb",
        cone: str | int | Cone | None = None,
        slip: MatrixLike | None = None,
    ) -> None:
        self._given = W if isinstance(W, BlockMatrix) else None
        if isinstance(W, BlockMatrix):
            self.W = W.scipy
        else:
            self.W = W if isinstance(W, DelassusOperator) else _check.square("W", W)
        self.q = _check.vector("q", q, self.W.shape[0])
        self._state("q", self.q.size, mu, dim, bilateral, law, cone, slip)
        if not isinstance(self.W, DelassusOperator):
            _check.positive_diagonal("W", self.W, strict=False)
        if law == "convex" and self._given is None and not isinstance(self.W, DelassusOperator):
            # third-party files carry 6 digits; a dense eigenvalue check stops being cheap
            _check.symmetric("W", self.W, rtol=1e-4)
            if self.size <= 300:
                _check.semidefinite("W", self.W, rtol=1e-4)
        if not isinstance(self.W, DelassusOperator):
            _ = self.form.unit  # blocks and units: what every method needs first is stated too

    @property
    def matrix_free(self) -> bool:
        return isinstance(self.W, DelassusOperator)

    @cached_property
    def form(self) -> BlockForm:
        """Circular cones in uniform blocks: what the block methods work on."""
        return BlockForm(self)

    @cached_property
    def dense(self) -> Floats:
        """W as a C-ordered array."""
        if isinstance(self.W, np.ndarray):
            return self.W
        formed = self.W.formed() if isinstance(self.W, DelassusOperator) else self.W
        return np.ascontiguousarray(formed.toarray())

    def dual(self, value: Floats) -> Floats:
        """u = W r + q."""
        return np.asarray(self.W @ _check.given("value", value, self.size) + self.q)

    def residuals(self, value: Floats, dual: Floats | None = None) -> tuple[float, float]:
        """(scaled, unit-free) residual of r; see ``problems.residual``."""
        form, value = self.form, _check.given("value", value, self.size)
        velocity = self.dual(value) if dual is None else _check.given("dual", dual, self.size)
        r, u = form.impulses(value), form.velocities(velocity)
        if self.slip is None and self.k in (0, 2):
            law = LAWS[self.law]
            res = contact_residuals(form.key, r, u, form.q, form.mu, form.unit, law)
            return float(res[0]), float(res[1])
        return self._measures.residuals(r, u)

    def optimality(self, value: Floats, dual: Floats | None = None) -> tuple[float, float]:
        """(primal, gap) of r: errors of velocities and of energy; see ``problems.residual``."""
        form = self.form
        r, u = form.impulses(value), form.velocities(self.dual(value) if dual is None else dual)
        if self.slip is None and self.k in (0, 2):
            out = contact_optimality(form.key, r, u, form.q, form.mu, form.unit, LAWS[self.law])
            return float(out[0]), float(out[1])
        return self._measures.optimality(r, u)

    def backward_error(
        self, value: Floats, dual: Floats | None = None, *, enough: float = 0.0
    ) -> float:
        """The least relative change of q with which r solves exactly, or a bound of it below
        `enough`; see ``problems.backward_error``. Zero where it is not measured: cones of more
        than two directions, known slip, the law "static", more than 300 rows."""
        judged = self.law != "static" and self.k in (0, 2) and not self.matrix_free
        if not judged or self.size > JUDGED_ROWS or self.sliding.any():
            return 0.0
        form = self.form
        u = form.velocities(self.dual(value) if dual is None else dual)
        return backward_error(self, form.impulses(value), u, enough)

    @property
    def _measures(self) -> FrictionMeasures:
        form = self.form
        return FrictionMeasures(form.q, form.mu, form.unit, self.law, form.slip, self.k)

    def __repr__(self) -> str:
        return (
            f"FrictionProblem(nc={self.nc}, dim={self.dim}, law={self.law!r}, cone={self.cone}, "
            f"bilateral={self.bilateral}, sliding={int(self.sliding.sum())})"
        )


class BlockForm:
    """A friction problem as nb uniform blocks with circular cones.

    Elliptic and soft-finger cones are stretched to circular ones; bilateral rows are gathered
    into blocks with mu = -1, padded with rows that decouple. ``impulses``, ``velocities`` and
    ``value`` translate. q: (nb, d); mu: (nb,); unit: (nb,) sqrt of the mean diagonal of W.
    """

    def __init__(self, problem: FrictionProblem) -> None:
        d, self.size, self._d = problem.d, problem.size, problem.d
        self._pad = -problem.bilateral % d
        extra = (problem.bilateral + self._pad) // d
        self.nb, self.key = problem.nc + extra, (0,) * d
        self.mu = np.concatenate([problem.mu, np.full(extra, -1.0)]) if extra else problem.mu
        self._problem = problem
        self._stretch, self._unstretch = _stretches(problem)
        self.q = self.velocities(problem.q)

    @cached_property
    def W(self) -> BlockMatrix:
        given = self._problem._given
        if given is not None and given.d == self._d and not self._pad and self._stretch is None:
            return given
        W = self._problem.W
        W = W.formed() if isinstance(W, DelassusOperator) else W
        if self._stretch is not None:
            W = sp.csr_array(self._stretch.T @ sp.csr_array(W) @ self._stretch)
        if self._pad:
            W = sp.csr_array(sp.block_diag([sp.csr_array(W), sp.eye_array(self._pad)]))
        return BlockMatrix.of(W, self._d)

    @cached_property
    def unit(self) -> Floats:
        W = self._problem.W
        if not isinstance(W, DelassusOperator) or self._stretch is not None:
            return self.W.unit
        mean = np.append(W.diagonal(), np.ones(self._pad)).reshape(self.nb, self._d).mean(axis=1)
        return np.sqrt(np.where(mean > 0, mean, 1.0))

    @cached_property
    def slip(self) -> Floats | None:
        """(nb, d - 1) slip directions in stretched coordinates: velocities stretch by T'."""
        problem = self._problem
        if problem.slip is None:
            return None
        tangents = problem.cone.stretch(problem.dim)
        out = np.zeros((self.nb, self._d - 1))
        out[: problem.nc] = problem.slip if tangents is None else _unit(problem.slip @ tangents)
        return out

    @cached_property
    def J(self) -> sp.csr_array:
        """Rows of a DelassusOperator in block order: W of this form is J M^-1 J'."""
        operator = self._problem.W
        J = operator.J if self._stretch is None else sp.csr_array(self._stretch.T @ operator.J)
        if self._pad:
            J = sp.csr_array(sp.vstack([J, sp.csr_array((self._pad, J.shape[1]))]))
        return J

    def impulses(self, value: Floats) -> Floats:
        """(nb, d) stretched impulses of a value (m,)."""
        if self._unstretch is not None:
            value = self._unstretch @ value
        return self._blocks(value)

    def velocities(self, dual: Floats) -> Floats:
        """(nb, d) velocities conjugate to the stretched impulses."""
        return self._blocks(dual if self._stretch is None else self._stretch.T @ dual)

    def value(self, r: Floats) -> Floats:
        """(m,) impulses of the problem from (nb, d) blocks."""
        flat = r.reshape(-1)[: self.size]
        return flat.copy() if self._stretch is None else np.asarray(self._stretch @ flat)

    def _blocks(self, flat: Floats) -> Floats:
        if self._pad:
            flat = np.append(flat, np.zeros(self._pad))
        return np.ascontiguousarray(flat).reshape(self.nb, self._d)


def _stretches(problem: FrictionProblem) -> tuple[sp.csr_array | None, sp.csr_array | None]:
    """Block diagonal map of stretched impulses to impulses, and its inverse; None: identity."""
    tangents = problem.cone.stretch(problem.dim)
    if tangents is None:
        return None, None
    contacts, rest = sp.eye_array(problem.nc), sp.eye_array(problem.bilateral)
    out = []
    for square in (tangents, np.linalg.solve(tangents, np.eye(problem.d - 1))):
        block = np.eye(problem.d)
        block[1:, 1:] = square
        out.append(sp.csr_array(sp.block_diag([sp.kron(contacts, block), rest])))
    return out[0], out[1]


class GlobalFrictionProblem(_Contacts):
    """M v = q + H r, u = H' v + b, r and u obeying the friction law.

    M: (ndof, ndof) symmetric positive definite; H: (ndof, m); q: (ndof,); b: (m,).
    The value is r; v follows from it. Other arguments as in FrictionProblem.
    """

    kind = "global-friction"

    def __init__(
        self,
        M: SquareLike,
        H: SquareLike,
        q: VectorLike,
        b: VectorLike,
        mu: Real | VectorLike,
        *,
        dim: int = 3,
        bilateral: int = 0,
        law: Law = "coulomb",
        cone: str | int | Cone | None = None,
        slip: MatrixLike | None = None,
    ) -> None:
        self.M = _check.square("M", M)
        ndof = self.M.shape[0]
        self.H = sp.csr_array(_check.matrix("H", H, (ndof, None)))
        self.q = _check.vector("q", q, ndof)
        self.b = _check.vector("b", b, self.H.shape[1])
        _check.positive_diagonal("M", self.M, strict=True)
        _check.symmetric("M", self.M, rtol=1e-6)
        self._state("b", self.b.size, mu, dim, bilateral, law, cone, slip)
        self.mass = MassMatrix(self.M)  # factorised: the proof that M is positive definite
        self._H = self.H.toarray() if ndof <= ARRAY_ROWS else self.H

    @cached_property
    def local(self) -> FrictionProblem:  # type: ignore[override]
        """The same problem as u = W r + q with W = H' M^-1 H."""
        W = self.mass.congruence(self._H)
        q = self._H.T @ self.mass.solve(self.q) + self.b
        return self.stated_with(W, q)

    def velocity(self, value: Floats) -> Floats:
        """v = M^-1 (q + H r)."""
        return self.mass.solve(self.q + self._H @ _check.given("value", value, self.size))

    def velocities(self, v: Floats) -> Floats:
        """u = H' v + b."""
        return np.asarray(self._H.T @ _check.given("v", v, self.q.size) + self.b)

    def dual(self, value: Floats) -> Floats:
        return self.velocities(self.velocity(value))

    def residuals(self, value: Floats, dual: Floats | None = None) -> tuple[float, float]:
        value = _check.given("value", value, self.size)
        return self.local.residuals(value, self.dual(value) if dual is None else dual)

    def optimality(self, value: Floats, dual: Floats | None = None) -> tuple[float, float]:
        return self.local.optimality(value, self.dual(value) if dual is None else dual)

    def backward_error(
        self, value: Floats, dual: Floats | None = None, *, enough: float = 0.0
    ) -> float:
        """As of the local form."""
        dual = self.dual(value) if dual is None else dual
        return self.local.backward_error(value, dual, enough=enough)

    def __repr__(self) -> str:
        return f"GlobalFrictionProblem(nc={self.nc}, ndof={self.q.size}, dim={self.dim})"


def _friction(mu: Any, nc: int) -> Floats:
    given = _check.numbers("mu", mu)
    out = _check.vector("mu", np.full(nc, given) if given.ndim == 0 else given, nc)
    if (out < 0).any():
        i = int(np.argmax(out < 0))
        raise ProblemError(f"mu[{i}] = {out[i]}: friction coefficients must not be negative")
    return out


def _slip(slip: Any, nc: int, d: int) -> Floats:
    out = _check.numbers("slip", slip)
    if out.shape != (nc, d - 1):
        raise ArrayError(f"slip has shape {out.shape}: expected {(nc, d - 1)}")
    if not np.isfinite(out).all():
        i, j = (int(k) for k in np.argwhere(~np.isfinite(out))[0])
        raise ArrayError(f"slip[{i}, {j}] is {out[i, j]}")
    return _unit(out)


def _unit(out: Floats) -> Floats:
    """Rows of length one; rows of zeros stay."""
    speed = np.linalg.norm(out, axis=1, keepdims=True)
    return np.divide(out, speed, out=np.zeros_like(out), where=speed > 0)
