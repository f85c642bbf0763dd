"""One error measure per problem, used by every solver and every test.

Friction, exact Coulomb: u~ = u + mu |u_t| n and F_i = r_i - P_K(r_i - u~_i) for each contact;
the convex relaxation takes u~ = u. res = |F| / max(|q|, |r|, |u|), not divided if that maximum
is below machine epsilon. Unit-free: the same of (r sqrt(d), u / sqrt(d), q / sqrt(d)) with d the
mean diagonal of the contact's block of W. A polyhedral cone changes two things: |u_t| becomes
the largest -d_j.u_t over its directions (lambda of Anitescu et al. 1998, (7)), and P_K projects on
the polyhedral cone. Impulses that run away (see ``ran_away``) are the mark of a problem without a
solution, not a small error: their residual is infinite.

That residual is blind where impulses are large beside q, as in a wedge that nearly jams: an error
in the velocities is divided by |r|, and the gap r.u~, which bounds the square of their error, by
|r|^2. So friction problems have two measures more, unit-free and relative to q alone, and an answer
is a solution if all are within the tolerance:
primal = |((-u_n)+, dist(r, K))| / |q|, with dist(u, K*) in place of (-u_n)+ for the convex law, and
gap = sum |r_i.u~_i| / |q|^2. u~ is in K* exactly if u_n >= 0, but with a large mu it is near K*
however fast the contact closes: its distance is |u_n| / sqrt(1 + mu^2). What lies within the
rounding of u = W r + q counts as zero. For the convex law the kinetic energy of the error of the
velocities is at most r.u, where u and r are feasible.

LCP: res = |min(z, w)| / |q|; boxed: |z - mid(lower, z - w, upper)| / |q|, which is the same.
It is blind where rows or columns have units of their own: a row of small numbers counts for nothing
beside one of large numbers. So LCPs have a second measure, too, which scaling of rows and columns
does not change, the componentwise backward error (Oettli and Prager 1964):
primal = max |mid(w_i / e_i, (z_i - lower_i) f_i, (z_i - upper_i) f_i)| / max (|q_i| / e_i), with
e = |M| |z| + |q| the size of the terms of a row and f_j = max_i |M_ij| / e_i what a change of z_j
makes of all rows. z is an exact solution if no entry of M and q is changed by a larger share; the
divisor asks for more where z is large, as the residual does. To e_i 1e-4 of the largest q is added,
with rows and columns balanced (largest entries near 1): rows that hold nothing but rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drystone.kernels.blocks import SUM_ROUNDING, box_residuals
from drystone.kernels.contact.residual import ran_away
from drystone.types import Floats

EPS = float(np.finfo(np.float64).eps)


def ratio(error: float, *scales: float) -> float:
    """error / max(scales), or the error itself when every scale is below machine epsilon."""
    scale = max(scales)
    return error if scale < EPS else error / scale


def boxed_residuals(
    z: Floats, w: Floats, q: Floats, lower: Floats, upper: Floats, unit: Floats
) -> tuple[float, float]:
    """(scaled, unit-free) residual of a boxed LCP; `unit` is sqrt of the diagonal, (n,)."""
    plain, scaled = box_residuals(z, w, q, lower, upper, unit)
    return float(plain), float(scaled)


@dataclass(frozen=True, slots=True)
class FrictionMeasures:
    """Errors of contacts, any law.

    q: (nc, d) rows (normal, tangents); mu: (nc,), negative for a bilateral block (u = 0);
    unit: (nc,) sqrt of the mean diagonal; slip: (nc, d - 1) unit slip directions, zero for a
    contact without slip, which then has r_t = -mu r_n slip; k: directions of a polyhedral cone,
    0 for the circular one. Law "static" is (14-1): |r_t| <= mu r_n, r_t.u_t <= 0, and
    |u_t| (mu r_n - |r_t|) = 0.
    """

    q: Floats
    mu: Floats
    unit: Floats
    law: str
    slip: Floats | None = None
    k: int = 0

    def residuals(self, r: Floats, u: Floats) -> tuple[float, float]:
        """(scaled, unit-free) residual of r, u (nc, d)."""
        q, mu, law, slip, k = self.q, self.mu, self.law, self.slip, self.k
        root = self.unit[:, None]
        plain = contact_errors(r, u, mu, law, slip, k)
        scaled = contact_errors(r * root, u / root, mu, law, slip, k)
        unit_f, unit_q = _norm(scaled), _norm(q / root)
        unit_r, unit_u = _norm(r * root), _norm(u / root)
        if ran_away(unit_f**2, unit_q**2, unit_r**2, unit_u**2):
            return np.inf, np.inf
        return (
            ratio(_norm(plain), _norm(q), _norm(r), _norm(u)),
            ratio(unit_f, unit_q, unit_r, unit_u),
        )

    def optimality(self, r: Floats, u: Floats) -> tuple[float, float]:
        """(primal, gap) of r, u (nc, d)."""
        mu, law, slip, k = self.mu, self.law, self.slip, self.k
        root = self.unit[:, None]
        r, u, q = r * root, u / root, self.q / root
        size = np.linalg.norm(r, axis=1)
        noise = SUM_ROUNDING * (size + np.linalg.norm(q, axis=1))
        away, outside, work = np.zeros((3, mu.size))
        bilateral = mu < 0
        sliding = slip.any(axis=1) if slip is not None else np.zeros(mu.size, dtype=bool)
        rest = ~bilateral & ~sliding
        away[bilateral] = np.linalg.norm(u[bilateral], axis=1)
        if slip is not None:
            away[sliding] = np.maximum(-u[sliding, 0], 0.0)
            error = contact_errors(r[sliding], u[sliding], mu[sliding], law, slip[sliding], k)
            outside[sliding] = np.hypot(
                np.linalg.norm(error[:, 1:], axis=1), np.minimum(r[sliding, 0], 0.0)
            )
            work[sliding] = np.abs(r[sliding, 0] * u[sliding, 0])
        m, rn, rt, un, ut = mu[rest], r[rest, 0], r[rest, 1:], u[rest, 0], u[rest, 1:]
        outside[rest] = np.linalg.norm(r[rest] - project_cone(r[rest], m, k), axis=1)
        push = np.einsum("ij,ij->i", rt, ut)
        if law == "convex":
            away[rest] = np.linalg.norm(project_cone(-u[rest], m, k), axis=1)
            work[rest] = np.abs(rn * un + push)
        elif law == "coulomb":
            away[rest] = np.maximum(-un, 0.0)
            work[rest] = np.abs(rn * (un + m * slip_speed(ut, k)) + push)
        else:
            force, speed = np.linalg.norm(rt, axis=1), np.linalg.norm(ut, axis=1)
            away[rest] = np.maximum(-un, 0.0)
            work[rest] = np.abs(rn * un) + np.maximum(push, 0.0)
            work[rest] += speed * np.maximum(m * rn - force, 0.0)
        primal = (
            np.maximum(away - noise, 0.0) ** 2 + np.maximum(outside - SUM_ROUNDING * size, 0.0) ** 2
        )
        gap = np.maximum(work - noise * size, 0.0)
        scale = _norm(q)
        scale = scale if scale >= EPS else 1.0
        return float(np.sqrt(primal.sum())) / scale, float(gap.sum()) / scale**2


def contact_errors(
    r: Floats, u: Floats, mu: Floats, law: str, slip: Floats | None = None, k: int = 0
) -> Floats:
    """F, (nc, d): zero exactly where the contact's law holds."""
    error = np.zeros_like(r)
    bilateral = mu < 0
    sliding = slip.any(axis=1) if slip is not None else np.zeros(mu.size, dtype=bool)
    rest = ~bilateral & ~sliding
    error[bilateral] = u[bilateral]
    if slip is not None:
        rs, us = r[sliding], u[sliding]
        error[sliding, 0] = np.minimum(rs[:, 0], us[:, 0])
        error[sliding, 1:] = rs[:, 1:] + (mu[sliding] * rs[:, 0])[:, None] * slip[sliding]
    error[rest] = _law_errors(r[rest], u[rest], mu[rest], law, k)
    return error


def _law_errors(r: Floats, u: Floats, mu: Floats, law: str, k: int) -> Floats:
    if law != "static":
        shifted = u.copy()
        if law == "coulomb":
            shifted[:, 0] += mu * slip_speed(u[:, 1:], k)
        return r - project_cone(r - shifted, mu, k)
    # (14-1): friction need only partly oppose the tangential acceleration
    error = np.zeros_like(r)
    force, speed = np.linalg.norm(r[:, 1:], axis=1), np.linalg.norm(u[:, 1:], axis=1)
    room = mu * r[:, 0] - force
    along = np.einsum("ij,ij->i", r[:, 1:], u[:, 1:])
    driving = np.maximum(along, 0.0) / np.maximum(np.maximum(force, speed), EPS)
    unmet = np.where(room < 0, -room, np.minimum(room, speed))
    error[:, 0] = np.minimum(r[:, 0], u[:, 0])
    error[:, 1] = np.hypot(unmet, driving)
    return error


def slip_speed(tangential: Floats, k: int = 0) -> Floats:
    """|u_t|, or the largest -d_j.u_t of a polyhedral cone's directions; (nc,)."""
    if k in (0, 2):
        return np.linalg.norm(tangential, axis=1)
    angles = 2.0 * np.pi * np.arange(k) / k
    return (tangential @ np.array([np.cos(angles), np.sin(angles)])).max(axis=1)


def project_cone(x: Floats, mu: Floats, k: int = 0) -> Floats:
    """Project each row (normal, tangents) of x, (nc, d), on the cone |x_t| <= mu x_n."""
    if k not in (0, 2):
        return _project_polyhedral(x, mu, k)
    n, t = x[:, 0], np.linalg.norm(x[:, 1:], axis=1)
    out = x.copy()
    polar = mu * t <= -n
    slanted = ~polar & (t > mu * n)
    out[polar] = 0.0
    top = (n + mu * t)[slanted] / (1.0 + mu[slanted] ** 2)
    out[slanted, 0] = top
    out[slanted, 1:] *= (mu[slanted] * top / t[slanted])[:, None]
    return out


def _project_polyhedral(x: Floats, mu: Floats, k: int) -> Floats:
    """Projection on the cone over a regular k-gon with vertices mu d_j.

    By symmetry the nearest point lies in the sector of the facet that x points to: a runs along
    the facet's mid direction, b across it.
    """
    n, half = x[:, 0], np.pi / k
    angle = np.arctan2(x[:, 2], x[:, 1])
    middle = (np.floor(angle / (2 * half)) + 0.5) * 2 * half
    cos, sin = np.cos(middle), np.sin(middle)
    a, b = cos * x[:, 1] + sin * x[:, 2], -sin * x[:, 1] + cos * x[:, 2]
    slope, edge = mu * np.cos(half), mu * np.sin(half)
    inside = (a <= slope * n) & (n >= 0)
    face_n = (n + slope * a) / (1 + slope**2)
    on_face = (np.abs(b) <= edge * face_n) & (face_n >= 0)
    ray = np.maximum((n + slope * a + edge * np.abs(b)) / (1 + mu**2), 0.0)
    new_n = np.where(inside, n, np.where(on_face, face_n, ray))
    new_a = np.where(inside, a, np.where(on_face, slope * face_n, slope * ray))
    new_b = np.where(inside | on_face, b, np.copysign(edge * ray, b))
    return np.column_stack([new_n, cos * new_a - sin * new_b, sin * new_a + cos * new_b])


def _norm(x: Floats) -> float:
    return float(np.sqrt(np.vdot(x, x)))
