"""Rows of the contacts of a step: islands, materials, axes, parts of them."""

import numpy as np
import pytest

import drystone as ds
from drystone.constraints.rows import island_order, select


def rows_of(planar=False, spheres=4, spacing=0.2, method=None, **second):
    """Rows of the first step of balls in a line on the ground; second: of the second one."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.4)
    shape = ds.Disk(0.1) if planar else ds.Sphere(0.1)
    for k in range(spheres):
        place = (spacing * k, 0.1) if planar else (spacing * k, 0, 0.1)
        world.add_body(shape, name=f"b{k}", position=place, **(second if k == 1 else {}))
    sim = ds.Simulation(world, ds.TimeStepping() if method is None else method)
    sim.step()
    return sim.stepper.rows


def test_islands_are_contiguous():
    rows = rows_of(spacing=0.3)
    assert rows.islands == 4
    assert rows.start.tolist() == [0, 1, 2, 3, 4]
    rows = rows_of()
    assert rows.islands == 1
    assert rows.nc == 7


def test_islands_keep_the_order_of_their_contacts():
    body = np.array([[1, 0], [3, 4], [2, 0], [1, 2], [4, 0]])
    order, start = island_order(body, np.array([False, True, True, True, True]))
    assert order.tolist() == [0, 2, 3, 1, 4]
    assert start.tolist() == [0, 3, 5]


def test_no_contacts_at_all():
    order, start = island_order(np.empty((0, 2), np.int64), np.ones(3, bool))
    assert order.size == 0
    assert start.tolist() == [0]
    assert rows_of(spheres=0).nc == 0


def test_a_part_has_islands_of_its_own():
    rows = rows_of()
    ground = np.flatnonzero((rows.body == 0).any(axis=1))
    part = rows.take(ground)
    assert part.islands == 4
    assert np.array_equal(part.J, rows.J[ground])
    assert np.array_equal(part.mu, rows.mu[ground])
    assert select(rows.contacts, np.array([1])).gap.tolist() == [rows.contacts.gap[1]]


@pytest.mark.parametrize("planar", [True, False])
def test_W_is_J_M_inverse_J(planar):
    rows = rows_of(planar)
    n, d = rows.nc, rows.d
    W = rows.W(0, n).scipy.toarray()
    for j in range(n * d):
        r = np.zeros((n, d))
        r.flat[j] = 1.0
        v = np.zeros((5, 3 if planar else 6))
        rows.push(r, v)
        assert np.allclose(rows.velocities(v).ravel(), W[:, j], atol=1e-12)
    assert np.allclose(W, W.T)


def test_bias_adds_to_velocities():
    rows = rows_of(spheres=1)
    v = np.zeros((2, 6))
    v[1, 2] = -2.0
    assert np.isclose(rows.velocities(v)[0, 0], -2.0)
    assert np.isclose(rows.velocities(v, np.array([[0.5, 0, 0]]))[0, 0], -1.5)


@pytest.mark.parametrize("planar", [True, False])
def test_materials_and_units(planar):
    method = ds.TimeStepping(restitution="newton")
    bouncy = {"friction": (0.9, 0.4), "restitution": (0.3, 0.1)}
    rows = rows_of(planar, spacing=0.3, method=method, **bouncy)
    mine = int(np.flatnonzero((rows.body == 2).any(axis=1))[0])
    assert np.allclose(rows.mu[mine], [np.sqrt(0.9 * 0.4), 0.4])
    assert np.allclose(rows.eps[mine], [0.3, 0.1])
    assert np.allclose(rows.unit**2, np.einsum("iaa->i", rows.D) / rows.d)


def test_axes_of_bodies_and_of_the_method():
    """A body's axis wins over the method's; all are projected on the tangents."""
    skate = {"cone": ds.EllipticCone((0.1, 2.0)), "cone_axis": (0, 1, 0)}
    rows = rows_of(method=ds.TimeStepping(cone=ds.EllipticCone((0.5, 1.5))), spacing=0.3, **skate)
    of = {int(pair.max()): k for k, pair in enumerate(rows.body)}
    sign = rows.frame[of[2], 0, 2]
    assert np.allclose(np.abs(rows.frame[of[2]]), [[0, 0, 1], [0, 0.1, 0], [2.0, 0, 0]])
    assert np.allclose(np.abs(rows.frame[of[1]]), [[0, 0, 1], [0.5, 0, 0], [0, 1.5, 0]])
    assert abs(sign) == 1.0


def test_soft_fingers_have_a_fourth_row():
    rows = rows_of(spheres=1, method=ds.TimeStepping(cone=ds.SoftFingerCone(0.02)))
    assert rows.d == 4
    v = np.zeros((2, 6))
    v[1, 5] = 3.0
    assert np.isclose(abs(rows.velocities(v)[0, 3]), 0.02 * 3.0)
    vector, spin = rows.vectors(np.array([[1.0, 2, 3, 4]]))
    assert np.isclose(spin[0], 0.08)
    frame = rows.frame[0, :3]
    assert np.allclose(np.linalg.solve(frame.T, vector[0]), [1, 2, 3])
