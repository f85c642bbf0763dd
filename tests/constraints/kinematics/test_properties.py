"""Closed forms, invariances, special cases and flags of contact kinematics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from drystone.constraints.kinematics import (
    Feature,
    Flag,
    contact_kinematics,
    contact_system,
    pieces_changed,
)
from drystone.geometry import shapes as sh
from drystone.geometry.detector import Detector
from drystone.model import Contacts, Geoms

pytestmark = pytest.mark.kernels
DICE = sh.Superquadric(1.0, 1.0, 1.0, 0.5, 0.5)  # x^4 + y^4 + z^4 = 1
still = np.zeros(6)


def geoms_of(*shapes):
    pieces = [shape.pieces()[0] for shape in shapes]
    dim = shapes[0].dim
    return Geoms(
        dim=dim,
        kind=np.array([p.kind for p in pieces]),
        body=np.arange(len(pieces)),
        uid=np.arange(len(pieces)),
        offset=np.zeros((len(pieces), dim)),
        turn=np.broadcast_to(np.eye(dim), (len(pieces), dim, dim)).copy(),
        first=np.cumsum([0, *(p.floats.size for p in pieces)]),
        numbers=np.concatenate([p.floats for p in pieces]),
        first_int=np.cumsum([0, *(p.ints.size for p in pieces)]),
        ints=np.concatenate([p.ints for p in pieces]).astype(np.int64),
        radius=np.array([p.radius for p in pieces]),
    )


def kinematics(shapes, x, velocity, R=None, margin=0.3):
    geoms = geoms_of(*shapes)
    n, dim = len(shapes), shapes[0].dim
    x = np.array(x, float)
    R = np.broadcast_to(np.eye(dim), (n, dim, dim)).copy() if R is None else np.array(R)
    found = Detector(geoms, np.ones(n, bool), np.ones(n, np.int64)).contacts(
        x, R, np.full(n, 0.5 * margin)
    )
    return found, contact_kinematics(geoms, x, R, x, np.array(velocity, float), found)


def by_hand(shapes, x, velocity, point, normal, gap, R=None):
    """Kinematics of a contact that is given, not detected."""
    geoms, dim = geoms_of(*shapes), shapes[0].dim
    x = np.array(x, float)
    R = np.broadcast_to(np.eye(dim), (2, dim, dim)).copy() if R is None else np.array(R)
    contact = Contacts(
        np.array([0]), np.array([1]), np.array([point], float), np.array([normal], float),
        np.array([float(gap)]), np.array([0]),
    )  # fmt: skip
    return contact_kinematics(geoms, x, R, x, np.array(velocity, float), contact)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 10**6))
def test_two_spheres(seed):
    """C'' = n.(a_A - a_B) + |v_t|^2 / (R_A + R_B + C), v and a of the centres."""
    rng = np.random.default_rng(seed)
    r = rng.uniform(0.1, 2.0, 2)
    n = rng.normal(size=3)
    n /= np.linalg.norm(n)
    C = rng.uniform(-0.05, 0.1)
    x = np.array([(r.sum() + C) * n, np.zeros(3)])
    velocity, accel = rng.normal(size=(2, 2, 6))
    _, k = kinematics((sh.Sphere(r[0]), sh.Sphere(r[1])), x, velocity)
    v = velocity[0, :3] - velocity[1, :3]
    across = v - n * (n @ v)
    assert k.velocity[0, 0] == pytest.approx(n @ v, abs=1e-12)
    expected = n @ (accel[0, :3] - accel[1, :3]) + across @ across / (r.sum() + C)
    assert k.accel(accel)[0, 0] == pytest.approx(expected, rel=1e-10, abs=1e-10)


@settings(deadline=None, derandomize=True, max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(["smooth", "edges"]))
def test_frame_independence_and_swapping(seed, what):
    """Turning the world turns everything; A and B exchanged leave C, C', C'' as they are."""
    rng = np.random.default_rng(seed)
    R = Rotation.random(2, random_state=rng).as_matrix()
    if what == "smooth":
        shapes = (sh.Ellipsoid(0.9, 0.5, 0.4), sh.Ellipsoid(0.3, 0.8, 0.5))
    else:
        shapes = (sh.Box(0.9, 0.7, 0.5), sh.Box(0.5, 0.8, 0.6))
    x = np.array([[0.9, 0.5, 0.6], [0.0, 0, 0]])
    velocity = rng.normal(size=(2, 6))
    _, k = kinematics(shapes, x, velocity, R, margin=4.0)
    Q = Rotation.random(random_state=rng).as_matrix()
    both = np.concatenate([velocity[:, :3] @ Q.T, velocity[:, 3:] @ Q.T], axis=1)
    _, turned = kinematics(shapes, x @ Q.T, both, Q @ R, margin=4.0)
    _, swapped = kinematics(shapes[::-1], x[::-1], velocity[::-1], R[::-1], margin=4.0)
    order, other = np.argsort(k.gap), np.argsort(turned.gap)
    assert turned.gap[other] == pytest.approx(k.gap[order], abs=1e-9)
    assert turned.velocity[other, 0] == pytest.approx(k.velocity[order, 0], abs=1e-9)
    i, j, m = np.argmin(k.gap), np.argmin(turned.gap), np.argmin(swapped.gap)
    assert turned.bias[j, 0] == pytest.approx(k.bias[i, 0], rel=1e-7, abs=1e-7)
    assert turned.normal_rate[j] == pytest.approx(Q @ k.normal_rate[i], rel=1e-6, abs=1e-6)
    assert swapped.bias[m, 0] == pytest.approx(k.bias[i, 0], rel=1e-7, abs=1e-7)
    assert swapped.point_rate[m] == pytest.approx(k.point_rate[i], rel=1e-6, abs=1e-6)


def test_rolling_ball_keeps_rolling():
    """v = omega x r at constant speed: no slip, no rate of slip, no C''; also in the plane."""
    r, speed = 0.5, 2.0
    velocity = [[speed, 0, 0, 0, speed / r, 0], still]
    _, k = kinematics((sh.Sphere(r), sh.HalfSpace()), [[0, 0, r], [0, 0, 0]], velocity)
    nothing = np.zeros((2, 6))
    assert k.velocity == pytest.approx(np.zeros((1, 3)), abs=1e-14)
    assert k.accel(nothing) == pytest.approx(np.zeros((1, 3)), abs=1e-13)
    assert k.rolling_bias == pytest.approx(np.zeros((1, 3)), abs=1e-13)
    assert k.point_rate[0] == pytest.approx([speed, 0, 0])
    _, k = kinematics((sh.Disk(r), sh.HalfPlane()), [[0, r], [0, 0]],
                      [[speed, 0, -speed / r], [0, 0, 0]])  # fmt: skip
    assert k.velocity == pytest.approx(np.zeros((1, 2)), abs=1e-14)
    assert k.accel(np.zeros((2, 3))) == pytest.approx(np.zeros((1, 2)), abs=1e-13)


def test_particle_on_a_surface():
    """C'' = n.a + v.K v for a particle sliding on a sphere, here a corner of a small box."""
    box = sh.Box(2e-3, 2e-3, 2e-3)
    corner = np.array([1e-3, 1e-3, 1e-3])
    v = np.array([0.4, -0.1, -0.3])
    x = [[0, 0, 1.0] - corner, [0, 0, 0.0]]
    k = by_hand((box, sh.Sphere(1.0)), x, [[*v, 0, 0, 0], still], (0, 0, 1), (0, 0, 1), 0.0)
    assert k.feature[0].tolist() == [Feature.VERTEX, Feature.SMOOTH]
    assert k.bias[0, 0] == pytest.approx(v[0] ** 2 + v[1] ** 2)
    assert k.velocity[0, 0] == pytest.approx(v[2])


def test_flat_surfaces_are_reported_and_survived():
    """The force grows as the curvature goes, and is finite and flagged where there is none."""
    spin = [[0, 0, 0, 0, 1.0, 0], still]
    shapes = (DICE, sh.HalfSpace())
    found, k = kinematics(shapes, [[0, 0, 1.0], [0, 0, 0]], spin)
    assert k.rcond[0] == 0.0
    assert k.flag[0] == Flag.SINGULAR
    assert np.isfinite(k.bias).all()
    last = 0.0
    for tilt in (1e-1, 1e-2, 1e-3):
        R = [Rotation.from_rotvec([0, tilt, 0]).as_matrix(), np.eye(3)]
        found, _ = kinematics(shapes, [[0, 0, 1.0], [0, 0, 0]], spin, R, margin=2.0)
        _, k = kinematics(shapes, [[0, 0, 1.0 - found.gap[0]], [0, 0, 0]], spin, R)
        # C = z - h(t) with the support function h of x^4 + z^4 = 1, so C'' = -h''(t) = h - rho
        c, s = np.cos(tilt), np.sin(tilt)
        N = c ** (4 / 3) + s ** (4 / 3)
        rho = (s * c) ** (-2 / 3) * N ** (3 / 4 - 2) / 3
        assert k.bias[0, 0] == pytest.approx(N**0.75 - rho, rel=1e-8)
        assert -k.bias[0, 0] > 2.0 * last
        last = -k.bias[0, 0]
    # turning about the normal asks nothing of the curvature: no flag, and C'' is right
    _, k = kinematics(shapes, [[0, 0, 1.0], [0, 0, 0]], [[0.1, 0, 0, 0, 0, 1.0], still])
    assert k.flag[0] == 0
    assert k.bias[0, 0] == 0.0


def test_nearly_flat_is_ill_conditioned():
    flat = sh.Ellipsoid(1000.0, 1000.0, 0.1)  # curvature 1e-7 times its size
    _, k = kinematics((flat, sh.HalfSpace()), [[0, 0, 0.1], [0, 0, 0]], [still, still])
    assert k.flag[0] == 0
    assert k.rcond[0] == pytest.approx(0.1 / 1000.0, rel=1e-6)
    flat = sh.Ellipsoid(1e6, 1e6, 0.1)
    _, k = kinematics((flat, sh.HalfSpace()), [[0, 0, 0.1], [0, 0, 0]], [still, still])
    assert k.flag[0] == Flag.ILL


def test_curvature_jumps_between_pieces():
    """A capsule that rolls over its end changes the piece it stands on."""
    capsule, plane = sh.Capsule(1.0, 0.2), sh.HalfSpace()
    upright = Rotation.from_rotvec([0, 0.7, 0]).as_matrix()
    _, before = kinematics((capsule, plane), [[0, 0, 0.55], [0, 0, 0]], np.zeros((2, 6)),
                           [upright, np.eye(3)], margin=0.1)  # fmt: skip
    _, lying = kinematics((capsule, sh.Sphere(0.3)), [[0, 0, 0.0], [0.5, 0, 0.1]], np.zeros((2, 6)))
    assert before.piece[0, 0] != 0
    assert lying.piece[0, lying.body[0].tolist().index(0)] == 0
    assert not pieces_changed(before, before).any()
    R = [Rotation.from_rotvec([0, np.pi / 2, 0]).as_matrix(), np.eye(3)]
    x = [[0, 0, 0.2], [0, 0, 0]]
    k = by_hand((capsule, plane), x, np.zeros((2, 6)), (0.5, 0, 0), (0, 0, 1), 0.0, R)
    assert k.flag[0] & Flag.BORDER


def test_stacked_cubes_are_vertices_on_a_face():
    """Corners on corners, but a face has the normal: C is the height over B's face."""
    cube = sh.Box(1.0, 1.0, 1.0)
    velocity = np.array([[0.3, 0, 0, 0, 0, 1.0], [0, 0, 0, 0.2, 0, 0]])
    _, k = kinematics((cube, cube), [[0, 0, 1.0], [0, 0, 0]], velocity)
    assert len(k) == 4
    assert (k.flag & Flag.DEGENERATE == 0).all()
    assert (k.feature == [Feature.VERTEX, Feature.FACE]).all(axis=1).all() or (
        k.feature == [Feature.FACE, Feature.VERTEX]
    ).all(axis=1).all()


def test_corner_on_corner_is_a_plane_across_the_normal():
    """No normal is determined; B becomes a plane that turns with B."""
    cube = sh.Box(1.0, 1.0, 1.0)
    n = np.ones(3) / np.sqrt(3.0)
    spin = [[0.4, -0.4, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1.0]]
    k = by_hand((cube, cube), [[1.0, 1, 1], [0, 0, 0]], spin, (0.5, 0.5, 0.5), n, 0.0)
    assert k.flag[0] == Flag.DEGENERATE
    assert k.feature[0].tolist() == [Feature.VERTEX, Feature.FACE]
    assert k.normal_rate[0] == pytest.approx(np.cross([0, 0, 1.0], n))
    # chi'' = n.(p_a'' - p_b'') + 2 n'.(p_a' - p_b') (Baraff 1989, (34)), p_b the material of B
    r, w = np.array([0.5, 0.5, 0.5]), np.array([0, 0, 1.0])
    slip = np.array([0.4, -0.4, 0]) - np.cross(w, r)
    expected = -n @ np.cross(w, np.cross(w, r)) + 2 * np.cross(w, n) @ slip
    assert k.bias[0, 0] == pytest.approx(expected)


def test_manifold_points_that_are_not_extremal_are_flagged():
    """A cylinder standing askew: its lowest rim point is extremal, ring points are not."""
    R = [Rotation.from_rotvec([0.05, 0.02, 0]).as_matrix(), np.eye(3)]
    found, k = kinematics((sh.Cylinder(1.0, 0.5), sh.HalfSpace()), [[0, 0, 0.5], [0, 0, 0]],
                          np.ones((2, 6)), R)  # fmt: skip
    lowest = int(np.argmin(found.gap))
    assert k.flag[lowest] == 0
    assert k.feature[lowest].tolist() == [Feature.RIM, Feature.FACE]
    rest = np.arange(len(k)) != lowest
    assert (k.flag[rest] == Flag.NOT_EXTREMAL).all()


def test_contact_system_is_symmetric_and_true():
    """Accelerations from forces through A f + b are those of the bodies pushed by J' f."""
    rng = np.random.default_rng(3)
    cube = sh.Box(1.0, 1.0, 1.0)
    velocity = rng.normal(size=(2, 6))
    _, k = kinematics((cube, cube), [[0.2, 0.1, 1.0], [0, 0, 0]], velocity)
    inverse_mass, root = rng.uniform(0.5, 2, 2), rng.normal(size=(2, 3, 3))
    inverse_inertia = root @ root.transpose(0, 2, 1)
    free = rng.normal(size=(2, 6))
    A, b = contact_system(k, inverse_mass, inverse_inertia, free)
    assert np.array_equal(A, A.T)
    assert np.linalg.eigvalsh(A).min() > -1e-12
    f = rng.normal(size=(len(k), 3))
    push = np.zeros((2, 6))
    for i in range(len(k)):
        for s in range(2):
            push[k.body[i, s]] += f[i] @ k.J[i, :, s]
    a = free.copy()
    a[:, :3] += inverse_mass[:, None] * push[:, :3]
    a[:, 3:] += np.einsum("bij,bj->bi", inverse_inertia, push[:, 3:])
    assert (A @ f.ravel() + b) == pytest.approx(k.accel(a).ravel())


def test_wrong_arrays_are_named():
    geoms = geoms_of(sh.Sphere(1.0), sh.Sphere(1.0))
    from drystone.errors import ArrayError

    R = np.broadcast_to(np.eye(3), (2, 3, 3)).copy()
    with pytest.raises(ArrayError, match=r"velocity: shape \(2, 3\), expected \(2, 6\)"):
        contact_kinematics(
            geoms, np.zeros((2, 3)), R, np.zeros((2, 3)), np.zeros((2, 3)), Contacts.none(3)
        )
