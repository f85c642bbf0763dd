"""Rows of contacts from a model: islands, materials, axes, parts of them."""

import numpy as np
import pytest

import drystone as ds
from drystone.constraints.rows import island_order, select, step_rows
from drystone.model import Contacts
from drystone.problems.cones import CircularCone, EllipticCone, SoftFingerCone


def model(planar=False, **second):
    world = ds.World(planar=planar)
    world.add_ground(friction=0.4)
    shape = ds.Disk(0.1) if planar else ds.Sphere(0.1)
    for k in range(4):
        place = (0.2 * k, 0.1) if planar else (0.2 * k, 0, 0.1)
        world.add_body(shape, name=f"b{k}", position=place, **(second if k == 1 else {}))
    return world.build()


def contacts(model, pairs, dim=3):
    """Contacts of pairs of geoms, with the normal up or from b to a."""
    pairs = np.array(pairs)
    normal = np.zeros((len(pairs), dim))
    normal[:, -1] = 1.0
    return Contacts(
        pairs[:, 0], pairs[:, 1], np.arange(len(pairs) * dim, dtype=float).reshape(-1, dim), normal,
        np.arange(len(pairs), dtype=float), np.arange(len(pairs)),
    )  # fmt: skip


def rows_of(model, state, pairs, cone=None, turn=None):
    moves = model.inverse_mass > 0
    return step_rows(
        model, moves, model.inverse_mass, model.inverse_inertia, state.position, turn,
        contacts(model, pairs, model.dim), CircularCone() if cone is None else cone,
    )  # fmt: skip


def test_islands_are_contiguous_and_keep_their_order():
    m, s = model()
    rows = rows_of(m, s, [[1, 0], [3, 4], [2, 0], [1, 2], [4, 0]])
    assert rows.islands == 2
    assert rows.start.tolist() == [0, 3, 5]
    assert rows.contacts.feature.tolist() == [0, 2, 3, 1, 4], "stable within an island"
    assert np.array_equal(rows.body, [[1, 0], [2, 0], [1, 2], [3, 4], [4, 0]])


def test_no_contacts_at_all():
    m, s = model()
    none = Contacts.none(3)
    moves = m.inverse_mass > 0
    rows = step_rows(
        m, moves, m.inverse_mass, m.inverse_inertia, s.position, None, none, CircularCone()
    )
    assert rows.nc == rows.islands == 0
    order, start = island_order(np.empty((0, 2), np.int64), moves)
    assert order.size == 0
    assert start.tolist() == [0]


def test_a_part_has_islands_of_its_own():
    m, s = model()
    rows = rows_of(m, s, [[1, 2], [2, 3], [3, 4]])
    assert rows.islands == 1
    part = rows.take(np.array([0, 2]))
    assert part.islands == 2
    assert part.contacts.feature.tolist() == [0, 2]
    assert np.array_equal(part.J, rows.J[[0, 2]])
    assert np.array_equal(part.mu, rows.mu[[0, 2]])
    assert select(rows.contacts, np.array([1])).gap.tolist() == [1.0]


def test_W_is_J_M_inverse_J():
    m, s = model()
    rows = rows_of(m, s, [[1, 2], [2, 3], [3, 0]])
    W = rows.W(0, 3).scipy.toarray()
    for j in range(9):
        r = np.zeros((3, 3))
        r.flat[j] = 1.0
        v = np.zeros((5, 6))
        rows.push(r, v)
        assert np.allclose(rows.velocities(v).ravel(), W[:, j], atol=1e-12)
    assert np.allclose(W, W.T)


def test_bias_adds_to_velocities():
    m, s = model()
    rows = rows_of(m, s, [[1, 0]])
    v = np.zeros((5, 6))
    v[1, 2] = -2.0
    assert np.isclose(rows.velocities(v)[0, 0], -2.0)
    assert np.isclose(rows.velocities(v, np.array([[0.5, 0, 0]]))[0, 0], -1.5)


@pytest.mark.parametrize("planar", [True, False])
def test_materials_and_units(planar):
    m, s = model(planar, friction=(0.9, 0.4), restitution=(0.3, 0.1))
    rows = rows_of(m, s, [[2, 0], [1, 0]])
    assert np.allclose(rows.mu[0], [np.sqrt(0.9 * 0.4), 0.4])
    assert np.allclose(rows.eps[0], [0.3, 0.1])
    assert np.allclose(rows.unit**2, np.einsum("iaa->i", rows.D) / rows.d)


def test_axes_of_bodies_and_of_the_method():
    """Body a's axis wins over b's, either over the method's; all are projected on the tangents."""
    skate = {"cone": ds.EllipticCone((0.1, 2.0)), "cone_axis": (0, 1, 0)}
    m, s = model(**skate)
    turn = np.broadcast_to(np.eye(3), (5, 3, 3))
    rows = rows_of(m, s, [[2, 0], [3, 2], [1, 0]], EllipticCone((0.5, 1.5)), turn)
    first = rows.contacts.feature.argsort()
    frames = rows.frame[first]
    assert np.allclose(frames[0], [[0, 0, 1], [0, 0.1, 0], [-2.0, 0, 0]])
    assert np.allclose(frames[1], frames[0]), "of body b, where a has none"
    assert np.allclose(frames[2], [[0, 0, 1], [0.5, 0, 0], [0, 1.5, 0]])


def test_of_two_axes_that_of_body_a_counts():
    world = ds.World()
    for k, way in enumerate(((1, 0, 0), (0, 1, 0))):
        world.add_body(
            ds.Sphere(0.1), name=f"b{k}", position=(0, 0, 0.2 * k), cone=ds.EllipticCone((0.5, 1)),
            cone_axis=way,
        )  # fmt: skip
    m, s = world.build()
    turn = np.broadcast_to(np.eye(3), (2, 3, 3))
    for pair, way in (([0, 1], [0.5, 0, 0]), ([1, 0], [0, 0.5, 0])):
        assert np.allclose(rows_of(m, s, [pair], turn=turn).frame[0, 1], way)


def test_soft_fingers_have_a_fourth_row():
    m, s = model()
    rows = rows_of(m, s, [[1, 0]], SoftFingerCone(0.02))
    assert rows.d == 4
    v = np.zeros((5, 6))
    v[1, 5] = 3.0
    assert np.isclose(rows.velocities(v)[0, 3], 0.02 * 3.0)
    vector, spin = rows.vectors(np.array([[1.0, 2, 3, 4]]))
    assert np.isclose(spin[0], 0.08)
    assert np.allclose(rows.coordinates(vector, spin), [[1, 2, 3, 4]])
