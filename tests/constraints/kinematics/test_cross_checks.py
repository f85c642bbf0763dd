"""The thesis' own formulas: second partials by 8 x 8 systems (6.3), heights over a plane (6.4)."""

import numpy as np
import pytest
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

from drystone.geometry import shapes as sh
from tests.constraints.kinematics.test_properties import kinematics

A, B = (0.9, 0.5, 0.4), (0.3, 0.8, 0.5)


def quadric(axes, x, R):
    """M of F(p) = (p - x)' M (p - x) - 1."""
    return R @ np.diag(1.0 / np.array(axes) ** 2) @ R.T


def extremal(y, config, turns):
    """(5-2): y = p_a, p_b, l1, l2; config: position and rotation vector of both bodies.

    Returns E (8,), its derivatives by y (8, 8), and the quadrics.
    """
    pa, pb, l1, l2 = y[:3], y[3:6], y[6], y[7]
    R = [Rotation.from_rotvec(config[6 * s + 3 : 6 * s + 6]).as_matrix() @ turns[s] for s in (0, 1)]
    M, N = quadric(A, config[:3], R[0]), quadric(B, config[6:9], R[1])
    da, db = pa - config[:3], pb - config[6:9]
    F, G = 2 * M @ da, 2 * N @ db
    E = np.concatenate([F + l2 * G, [da @ M @ da - 1, db @ N @ db - 1], (pb - pa) + l1 * G])
    J = np.zeros((8, 8))
    J[:3, :3], J[:3, 3:6], J[:3, 7] = 2 * M, 2 * l2 * N, G
    J[3, :3], J[4, 3:6] = F, G
    J[5:, :3], J[5:, 3:6], J[5:, 6] = -np.eye(3), np.eye(3) + 2 * l1 * N, G
    return E, J, G


def solved(config, turns, y):
    return fsolve(lambda z: extremal(z, config, turns)[0], y, xtol=1e-14,
                  fprime=lambda z: extremal(z, config, turns)[1])  # fmt: skip


def first_partials(config, turns, y):
    """dC/dconfig (12,) by the implicit function theorem: dy = -J^-1 dE (6-11, 6-12).

    C = (p_a - p_b).n with the *unit* normal n of B.
    """
    y = solved(config, turns, y)
    _, J, G = extremal(y, config, turns)
    n = G / np.linalg.norm(G)
    out = np.empty(12)
    for k in range(12):
        step = np.zeros(12)
        step[k] = 1e-6
        dE = (extremal(y, config + step, turns)[0] - extremal(y, config - step, turns)[0]) / 2e-6
        dy = np.linalg.solve(J, -dE)
        # (p_a - p_b).dn = 0: n is a unit vector along p_a - p_b
        out[k] = n @ (dy[:3] - dy[3:6])
    return out


def test_second_partials_of_the_configuration():
    """(6-6): C'' = x' H x' + grad C . x'', H the differences of exact first partials."""
    rng = np.random.default_rng(11)
    turns = Rotation.random(2, random_state=rng).as_matrix()
    x = np.array([[0.9, 0.5, 0.6], [0.0, 0, 0]])
    velocity, accel = rng.normal(size=(2, 2, 6))
    found, k = kinematics((sh.Ellipsoid(*A), sh.Ellipsoid(*B)), x, velocity, turns, margin=4.0)
    n, gap = found.normal[0], found.gap[0]
    pa, pb = found.point[0] + 0.5 * gap * n, found.point[0] - 0.5 * gap * n
    config = np.concatenate([x[0], np.zeros(3), x[1], np.zeros(3)])
    zero = np.concatenate([pa, pb, [0.0, 0.0]])
    _, _, G = extremal(zero, config, turns)
    F = 2 * quadric(A, x[0], turns[0]) @ (pa - x[0])
    size = np.linalg.norm(G)
    y = np.concatenate([pa, pb, [gap / size, np.linalg.norm(F) / size]])
    assert extremal(y, config, turns)[0] == pytest.approx(np.zeros(8), abs=1e-9)
    grad = first_partials(config, turns, y)
    H, h = np.empty((12, 12)), 1e-4
    for i in range(12):
        step = np.zeros(12)
        step[i] = h
        ends = [first_partials(config + s * step, turns, y) for s in (-2, -1, 1, 2)]
        H[i] = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
    v, a = velocity.ravel(), accel.ravel()
    assert k.velocity[0, 0] == pytest.approx(grad @ v, rel=1e-7)
    assert k.accel(accel)[0, 0] == pytest.approx(v @ H @ v + grad @ a, rel=1e-6)


def heights(axes, x, R, sign):
    """Height over the plane z = 0 of the lower (-1) or upper (+1) surface of an ellipsoid."""
    M = quadric(axes, x, R)

    def f(p):
        d = p - x[:2]
        b, c = M[2, :2] @ d, d @ M[:2, :2] @ d - 1
        return x[2] + (-b + sign * np.sqrt(b * b - M[2, 2] * c)) / M[2, 2]

    return f


def derivatives(f, z, h=1e-3):
    """Gradient and Hessian by differences of fourth order."""
    n = len(z)
    g, H = np.empty(n), np.empty((n, n))
    w = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
    e = h * np.eye(n)
    for i in range(n):
        g[i] = sum(c * f(z + s * e[i]) for s, c in w) / h
        for j in range(n):
            H[i, j] = sum(c * d * f(z + s * e[i] + t * e[j]) for s, c in w for t, d in w) / h**2
    return g, 0.5 * (H + H.T)


def test_heights_over_the_contact_plane():
    """(6-22) and (6-29): p_a', p_b' from D1, D2; C'' without p'', n along z."""
    rng = np.random.default_rng(12)
    turns = Rotation.random(2, random_state=rng).as_matrix()
    x = np.array([[0.9, 0.5, 0.6], [0.0, 0, 0]])
    velocity, accel = rng.normal(size=(2, 2, 6))
    shapes = (sh.Ellipsoid(*A), sh.Ellipsoid(*B))
    found, _ = kinematics(shapes, x, velocity, turns, margin=4.0)
    n = found.normal[0]
    Q = np.array([np.cross([n[1], -n[0], 0.3], n), np.zeros(3), n])  # world turned so that n is z
    Q[0] /= np.linalg.norm(Q[0])
    Q[1] = np.cross(n, Q[0])
    x, turns = x @ Q.T, Q @ turns
    found, k = kinematics(shapes, x, velocity, turns, margin=4.0)
    assert found.normal[0] == pytest.approx([0, 0, 1], abs=1e-9)
    gap, v, a = found.gap[0], velocity, accel

    def height(axes, s, sign):
        """f(p, X) with X = position and rotation vector of body s."""

        def f(z):
            R = Rotation.from_rotvec(z[5:8]).as_matrix() @ turns[s]
            return heights(axes, z[2:5], R, sign)(z[:2])

        z = np.concatenate([found.point[0, :2], x[s], np.zeros(3)])
        return derivatives(f, z)

    (fg, fH), (gg, gH) = height(A, 0, -1.0), height(B, 1, 1.0)
    # D1: grad f(p_a) - grad g(p_b) = 0; D2: (p_a - p_b) + (f - g) grad g = 0, grad g = 0 now
    M, y = np.zeros((4, 4)), np.empty(4)
    M[:2, :2], M[:2, 2:] = fH[:2, :2], -gH[:2, :2]
    y[:2] = -fH[:2, 2:] @ v[0] + gH[:2, 2:] @ v[1]
    M[2:, :2], M[2:, 2:] = np.eye(2), -np.eye(2) + gap * gH[:2, :2]
    y[2:] = -gap * gH[:2, 2:] @ v[1]
    p = np.linalg.solve(M, y)

    def second(H, g, p, v, a):
        return p @ H[:2, :2] @ p + 2 * v @ H[2:, :2] @ p + v @ H[2:, 2:] @ v + g[2:] @ a

    expected = second(fH, fg, p[:2], v[0], a[0]) - second(gH, gg, p[2:], v[1], a[1])
    # C = (f - g) sqrt(1 + |grad g|^2): apart, the turn of the normal adds C |n'|^2 to (6-29)
    turn = gH[:2, :2] @ p[2:] + gH[:2, 2:] @ v[1]
    expected += gap * turn @ turn
    assert k.accel(accel)[0, 0] == pytest.approx(expected, rel=1e-6)
