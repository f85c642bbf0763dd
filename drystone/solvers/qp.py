"""Quadratic programming, "qp" (Baraff 1992, chapter 8; Hart and Anitescu 2003 for the convex law).

Form 1 (8-10): min z'(M z + q) subject to M z + q >= 0, z >= 0. The minimum is zero exactly at the
solutions of the LCP; M may be unsymmetric. Form 2 (8-11): min 1/2 z'M z + q'z subject to z >= 0,
whose optimality conditions are the LCP if M is symmetric ((8-12), where z'w = 0 is printed as z'w
>= 0). Both want M positive semidefinite. An equality row needs no splitting: its z is free, its w
is zero. Rows between two bounds add their w^- to form 1 as a variable.

The minimiser of an interior-point library is polished by one linear solve on its active set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from drystone.errors import OptionError
from drystone.problems import BoxedLCP, FrictionProblem, Problem
from drystone.problems.convert import ConicProgram, PyramidLCP, fold, scaled, to_conic, to_lcp
from drystone.solvers._convex import box_rows, minimise
from drystone.solvers._polish import interior, polish_boxed, reused
from drystone.solvers.base import Answer, Limits, Solver, Start
from drystone.solvers.certificates import boxes_infeasible
from drystone.solvers.interior_point import polished
from drystone.types import Floats, Status

GAPS = (1e-9, 1e-12, 1e-7)  # tried in order until the polished answer is within the tolerance
CHECKED = 2000  # rows up to which semidefiniteness is checked before the library is asked


@dataclass(frozen=True, kw_only=True)
class QP(Solver):
    """Convex quadratic program, or second-order cone program for round cones.

    form: 1 is (8-10), which states non-penetration itself; 2 is (8-11), symmetric M only. The
        convex law with polyhedral cones is its LCP in form 1, a far smaller program in the
        forces alone in form 2; with round cones it has only the latter.
    """

    form: int = 1

    name: ClassVar[str] = "qp"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form not in (1, 2):
            raise OptionError(f"qp: form = {self.form}: expected 1 for (8-10) or 2 for (8-11)")

    def refuses(self, problem: Problem) -> str | None:
        problem = problem.local
        if not isinstance(problem, FrictionProblem):
            return self._refuses_matrix("M", problem.M)
        if frictionless(problem):
            return self._refuses_matrix("A", normal_lcp(problem)[0].M)
        if problem.law != "convex":
            return f"law={problem.law!r} is not convex; state the relaxation law='convex'"
        if problem.sliding.any() and (problem.k == 0 or self.form == 2):
            return "known slip directions with the convex law need a polyhedral cone and form 1"
        return None

    def _refuses_matrix(self, name: str, M: Any) -> str | None:
        if self.form == 2 and M.shape[0] and abs(M - M.T).max() > 1e-9 * abs(M).max():
            return f"form 2 needs a symmetric {name}: use form=1"
        return indefinite(name, M)

    def run(self, problem: Any, start: Start, limits: Limits) -> Answer:
        if not isinstance(problem, FrictionProblem):
            return solve_boxed(problem, self.form, start, limits)
        if frictionless(problem):
            lcp, Q = normal_lcp(problem)
            answer = solve_boxed(lcp, self.form, Start(None, start.basis), limits)
            value = np.asarray(Q @ answer.value)
        elif problem.k:
            pyramid = to_lcp(problem)
            if self.form == 2:
                answer = _solve_facets(problem, pyramid, limits)
            else:
                answer = solve_boxed(pyramid.lcp, 1, Start(None, start.basis), limits)
            value = pyramid.value(answer.value)
        else:
            return _solve_cones(problem, limits)
        return Answer(value, answer.status, answer.iterations, extras=answer.extras)


def frictionless(problem: FrictionProblem) -> bool:
    """Whether no contact has friction of unknown direction."""
    return not bool((~problem.sliding & (problem.mu > 0)).any())


def normal_lcp(problem: FrictionProblem) -> tuple[BoxedLCP, sp.csr_array]:
    """(LCP of the normal forces, map Q to impulses) of a problem without unknown friction."""
    folded = fold(problem)
    lower = np.where(folded.bilateral, -np.inf, 0.0)
    return BoxedLCP(folded.A, folded.b, lower, np.inf), folded.Q


def indefinite(name: str, M: Any) -> str | None:
    """None if M + M' is positive semidefinite to 1e-9, else the sentence that says otherwise."""
    if M.shape[0] == 0 or M.shape[0] > CHECKED:
        return None
    dense = M if isinstance(M, np.ndarray) else M.toarray()
    half = 0.5 * (dense + dense.T)
    shift = 1e-9 * max(float(np.abs(half).max()), 1e-300)
    try:
        np.linalg.cholesky(half + shift * np.eye(half.shape[0]))
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(half)[0])
        if least < -shift:
            return f"{name} must be positive semidefinite, but {name} + {name}' has {2 * least:.4g}"
    return None


def solve_boxed(problem: BoxedLCP, form: int, start: Start, limits: Limits) -> Answer:
    """One of the two forms, in unit-free unknowns, fixed rows taken out, polished."""
    again = reused(problem, start.basis, limits.tol)
    if again is not None:
        extras = {"basis": start.basis, "info": {"form": form, "reused": True}}
        return Answer(again, Status.SOLVED, 0, extras=extras)
    moving = np.flatnonzero(problem.lower < problem.upper)
    fixed = np.where(problem.lower == problem.upper, problem.lower, 0.0)
    if not moving.size:
        return Answer(fixed, Status.SOLVED, 0, extras={"info": {"form": form}})
    program, scale = _statement(problem, moving, fixed, form)

    def finished(x: Floats) -> Floats:
        z = fixed.copy()
        z[moving] = x[: moving.size] * scale
        return polish_boxed(problem, np.clip(z, problem.lower, problem.upper))

    answer = _minimised(program, problem, fixed, finished, form, limits)
    if answer.status is Status.INFEASIBLE and not boxes_infeasible(problem):
        answer.status = Status.STALLED
    if max(problem.residuals(answer.value)) <= limits.tol:
        answer.extras["basis"] = interior(problem, answer.value)
    return answer


def _minimised(
    program: ConicProgram,
    problem: BoxedLCP | FrictionProblem,
    best: Floats,
    finished: Callable[[Floats], Floats],
    form: int,
    limits: Limits,
) -> Answer:
    """The best answer to a problem that minimisers of a program, to one gap after the other, lead
    to; finished: the value of a minimiser, polished; best: the answer where there is none."""
    least, iterations = np.inf, 0
    for gap in GAPS:
        found = minimise(program, gap, limits)
        iterations += found.iterations
        if found.certificate is not None or not np.isfinite(found.x).all():
            break
        value = finished(found.x)
        error = max(problem.residuals(value))
        if error < least:
            best, least = value, error
        if least <= limits.tol or limits.expired():
            break
    info: dict[str, Any] = {"form": form, "objective": found.objective}
    if found.certificate is not None:
        info["certificate"], info["proves"] = found.certificate, found.proves
    return Answer(best, found.status, iterations, extras={"info": info})


def _statement(problem: BoxedLCP, moving: Any, z: Floats, form: int) -> tuple[ConicProgram, Floats]:
    """The program of the rows that can move, and the scale of its unknowns."""
    q = problem.dual(z)[moving]
    M = problem.M if moving.size == problem.size else problem.M[moving][:, moving]
    part = scaled(BoxedLCP(M, q, problem.lower[moving], problem.upper[moving]))
    stated = part.problem
    assert isinstance(stated, BoxedLCP)
    size = max(float(np.abs(stated.q).max()), np.finfo(float).tiny)
    size = size if np.isfinite(1.0 / size) else 1.0
    lower, upper = stated.lower / size, stated.upper / size
    build = (form_1, form_2)[form - 1]
    return build(sp.csc_array(stated.M), stated.q / size, lower, upper), part.scale * size


def form_1(M: sp.csc_array, q: Floats, lower: Floats, upper: Floats) -> ConicProgram:
    """(8-10) for boxes: min x'w + (upper - lower)'y, x = z - bound, w + y >= 0, y >= 0.

    y is w^- of the rows between two finite bounds; a row with an upper bound only is mirrored.
    """
    low, high = np.isfinite(lower), np.isfinite(upper)
    free, both = ~low & ~high, np.flatnonzero(low & high)
    at = np.where(low, lower, np.where(high, upper, 0.0))
    sign = np.where(low | ~high, 1.0, -1.0)
    q = q + M @ at
    n, ny, bound = q.size, both.size, np.flatnonzero(~free)
    take = sp.eye_array(n, format="csr")
    mirrored = sp.diags_array(sign) @ M
    yes = sp.csr_array((np.ones(ny), (both, np.arange(ny))), shape=(n, ny))
    eye_y, none = sp.eye_array(ny), sp.csr_array((ny, n))
    G = sp.vstack(
        [
            sp.hstack([take[free] @ M, sp.csr_array((int(free.sum()), ny))]),
            sp.hstack([-(take[bound] @ mirrored), -yes[bound]]),
            sp.hstack([-(sp.diags_array(sign) @ take)[bound], sp.csr_array((bound.size, ny))]),
            sp.hstack([take[both], sp.csr_array((ny, ny))]),
            sp.hstack([none, -eye_y]),
        ]
    )
    width = (upper - lower)[both]
    h = np.concatenate([-q[free], (sign * q)[bound], np.zeros(bound.size), width, np.zeros(ny)])
    P = sp.block_diag([M + M.T, sp.csr_array((ny, ny))])
    rows = (int(free.sum()), h.size - int(free.sum()))
    cones = (("zero", rows[0]), ("nonnegative", rows[1]))
    program = ConicProgram(sp.csc_array(P), np.append(q, width), sp.csc_array(G), h, cones)
    return _shifted(program, at, ny)


def _shifted(program: ConicProgram, at: Floats, ny: int) -> ConicProgram:
    """The same program in z = x + at, so that both forms answer in the same unknowns."""
    if not at.any():
        return program
    move = np.append(at, np.zeros(ny))
    c, h = program.c - program.P @ move, program.h + program.G @ move
    return ConicProgram(program.P, c, program.G, h, program.cones)


def form_2(M: sp.csc_array, q: Floats, lower: Floats, upper: Floats) -> ConicProgram:
    """(8-11): min 1/2 z'M z + q'z in the box."""
    G, h = box_rows(lower, upper)
    return ConicProgram(sp.csc_array(0.5 * (M + M.T)), q, G, h, (("nonnegative", h.size),))


def _solve_cones(problem: FrictionProblem, limits: Limits) -> Answer:
    """The convex law with round cones: min 1/2 r'W r + q'r, r in the cones."""
    program, form = to_conic(problem), problem.form
    s = 1.0 / np.repeat(form.unit, problem.d)
    S = sp.diags_array(s)
    size = max(float(np.abs(s * program.c).max()), 1e-300) if s.size else 1.0
    # every block is scaled as a whole, which leaves its cone as it is
    program = ConicProgram(
        sp.csc_array(S @ program.P @ S), s * program.c / size, program.G, program.h, program.cones
    )

    def finished(x: Floats) -> Floats:
        r = form.value((x * s * size).reshape(form.nb, problem.d))
        return polished(problem, r, limits)

    return _minimised(program, problem, np.zeros(problem.size), finished, 2, limits)


def _solve_facets(problem: FrictionProblem, pyramid: PyramidLCP, limits: Limits) -> Answer:
    """The convex law with polyhedral cones in the forces alone; the value is z of its LCP."""
    program, scale = facet_program(pyramid, problem.form.unit[: problem.nc])

    def finished(f: Floats) -> Floats:
        return polish_boxed(pyramid.lcp, lcp_value(pyramid, f * scale))

    nothing = np.zeros(pyramid.lcp.size)
    return _minimised(program, pyramid.lcp, nothing, finished, 2, limits)


# The convex law with polyhedral cones as a program in the forces themselves.
#
# min 1/2 f'A f + b'f with each contact's force inside the facets of its cone: k rows for a
# contact and no further unknowns, where form 1 of its LCP has k + 2 of each. The directions'
# shares beta and the slip lambda of the LCP follow from f and a, and the LCP is what the answer
# is polished on.


def facet_program(pyramid: PyramidLCP, unit: Floats) -> tuple[ConicProgram, Floats]:
    """The program in unit-free forces, and their scale; unit (nc,) of each contact."""
    folded, places = pyramid.folded, pyramid.directions
    n, k, d = folded.b.size, places.D.shape[1], folded.d
    s = 1.0 / np.sqrt(np.maximum(np.abs(folded.A.diagonal()), np.finfo(float).tiny))
    s[folded.normal] = 1.0 / unit
    s[places.tangents] = 1.0 / unit[places.sticky, None]  # one scale a contact: its cone stays
    b = s * folded.b
    size = max(float(np.abs(b).max(initial=0.0)), 1e-300)
    smooth = np.flatnonzero(folded.tangent < 0)
    push = sp.csr_array(
        (-np.ones(smooth.size), (np.arange(smooth.size), folded.normal[smooth])),
        shape=(smooth.size, n),
    )
    outward = _outward(k, d)  # (d - 1, k) unit normals of the facets' traces
    slope = folded.mu[places.sticky] * (np.cos(np.pi / k) if k > 2 else 1.0)
    rows = np.arange(places.sticky.size * k).reshape(-1, k)
    entries = [np.broadcast_to(-slope[:, None], rows.shape)]
    columns = [np.broadcast_to(folded.normal[places.sticky, None], rows.shape)]
    for axis in range(d - 1):
        entries.append(np.broadcast_to(outward[axis], rows.shape))
        columns.append(np.broadcast_to(places.tangents[:, axis, None], rows.shape))
    where = (np.tile(rows.ravel(), d), np.concatenate([c.ravel() for c in columns]))
    inside = sp.csr_array(
        (np.concatenate([e.ravel() for e in entries]), where), shape=(rows.size, n)
    )
    A = 0.5 * (folded.A + folded.A.T)
    P = sp.csc_array(s[:, None] * A * s)
    G = sp.csc_array(sp.vstack([push, inside]))
    cones = (("nonnegative", smooth.size + rows.size),)
    return ConicProgram(P, b / size, G, np.zeros(smooth.size + rows.size), cones), s * size


def _outward(k: int, d: int) -> Floats:
    if d == 2:
        return np.array([[1.0, -1.0]])
    angles = 2.0 * np.pi * (np.arange(k) + 0.5) / k
    return np.array([np.cos(angles), np.sin(angles)])


def lcp_value(pyramid: PyramidLCP, f: Floats) -> Floats:
    """z = (c_n, beta, lambda, joints) of forces f: r_t shared by the two directions next to it."""
    folded, places = pyramid.folded, pyramid.directions
    k = places.D.shape[1]
    a = folded.A @ f + folded.b
    z = np.zeros(places.n)
    z[places.first] = np.maximum(f[folded.normal], 0.0)
    z[places.contacts :] = f[folded.bilateral]
    t = f[places.tangents]
    if k == 2:
        z[places.beta] = np.maximum(t * places.D[0], 0.0)
    else:
        wedge = 2.0 * np.pi / k
        angle, size = np.arctan2(t[:, 1], t[:, 0]), np.hypot(t[:, 0], t[:, 1])
        j = np.floor(angle / wedge)
        past = angle - j * wedge
        share = size / np.sin(wedge)
        each, left = np.arange(len(t)), j.astype(np.int64) % k
        z[places.beta[each, left]] = share * np.sin(wedge - past)
        z[places.beta[each, (left + 1) % k]] = share * np.sin(past)
    z[places.last] = np.maximum((-a[places.tangents] @ places.D).max(axis=1, initial=0.0), 0.0)
    return z
