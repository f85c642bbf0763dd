"""Assembly: joints close, by the least motion, or the loop that cannot is named."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.constraints.joints import Ball, Distance, Fixed, Gear, Hinge, Pin, Screw, Slider
from drystone.constraints.joints.assembly import EIGENVECTOR_ROWS, assemble
from drystone.constraints.joints.mobility import SINGULAR_ROWS as LOOPS
from drystone.constraints.joints.mobility import mobility
from drystone.constraints.joints.rows import free_coordinates, joint_rows
from drystone.dynamics.frames import conjugate, logarithm, product, rotation
from drystone.errors import ModelError
from drystone.world import World
from tests.constraints.joints.joint_worlds import (
    CASES,
    add_random_body,
    dense,
    disturbed,
    jointed_world,
)

seeds = st.integers(0, 2**32 - 1)
some = settings(deadline=None, derandomize=True, max_examples=8)


def four_bar(lengths, ground, names=("crank", "rod", "rocker"), wrong=0.0):
    """A planar loop of three bars and the ground; every bar's own frame is at its middle."""
    world = World(planar=True)
    for k, name in enumerate(names):
        world.add_body(
            name=name, mass=1, inertia=0.1, position=(0.3 * k, 0.5 + wrong), orientation=0.4 * k
        )
    half = [0.5 * length for length in lengths]
    world.add_joint(Pin("crank", "world", anchor_a=(-half[0], 0), anchor_b=(0, 0), name="A"))
    for k, name in ((1, "B"), (2, "C")):
        ends = {"anchor_a": (-half[k], 0), "anchor_b": (half[k - 1], 0)}
        world.add_joint(Pin(names[k], names[k - 1], name=name, **ends))
    world.add_joint(Pin("rocker", "world", anchor_a=(half[2], 0), anchor_b=(ground, 0), name="D"))
    return world


def test_a_four_bar_closes():
    """Checked by its geometry alone: four points, and the distances between them."""
    model, state = four_bar((1.0, 2.0, 1.5), 2.2).build()
    done = assemble(model, state)
    ends = []
    for k, length in enumerate((1.0, 2.0, 1.5)):
        along = 0.5 * length * np.array([np.cos(done.orientation[k]), np.sin(done.orientation[k])])
        ends.append((done.position[k] - along, done.position[k] + along))
    assert np.allclose(ends[0][0], 0, atol=1e-12)
    assert np.allclose(ends[1][0], ends[0][1], atol=1e-12)
    assert np.allclose(ends[2][0], ends[1][1], atol=1e-12)
    assert np.allclose(ends[2][1], (2.2, 0), atol=1e-12)
    assert mobility(model, done).freedom == 1
    assert np.array_equal(done.velocity, state.velocity)


def test_a_loop_that_cannot_close_is_named():
    model, state = four_bar((1.0, 1.0, 1.0), 3.5).build()
    with pytest.raises(ModelError) as error:
        assemble(model, state)
    text = str(error.value)
    assert "cannot close" in text
    for name in "ABCD":
        assert f"'{name}'" in text
    assert "'rod'" in text
    # the gap is shared by four pins of three stretched bars: 0.5 m in all
    assert 0.05 < float(text.split("open by ")[1].split()[0]) < 0.5


def test_contradictory_joints_of_one_pair_are_named():
    world = World(planar=True)
    for name in ("a", "b"):
        world.add_body(name=name, mass=1, inertia=1)
    world.add_joint(Distance("a", "b", anchor_a=(0, 0), anchor_b=(0, 1), length=1, name="one"))
    world.add_joint(Distance("a", "b", anchor_a=(0, 0), anchor_b=(0, 1), length=2, name="two"))
    model, state = world.build()
    with pytest.raises(ModelError, match=r"'(one|two)' between 'a' and 'b' cannot close.*by 0\.5"):
        assemble(model, state)


@pytest.mark.parametrize(("dim", "name"), CASES, ids=[f"{d}d-{n}" for d, n in CASES])
@some
@given(seed=seeds)
def test_every_joint_closes_from_a_disturbed_pose(dim, name, seed):
    rng = np.random.default_rng(seed)
    model, state = jointed_world(dim, name, rng).build()
    done = assemble(model, disturbed(state, rng, 0.3))
    assert np.abs(joint_rows(model.joints, done).error).max(initial=0.0) < 1e-12
    if dim == 3:
        assert np.allclose(np.linalg.norm(done.orientation, axis=1), 1, atol=1e-14)


@pytest.mark.parametrize(("dim", "name"), [(3, "hinge"), (3, "slider"), (2, "pin"), (3, "screw")])
def test_the_motion_is_the_least_in_the_mass_metric(dim, name):
    """Against the Lagrange condition: M dq in the range of J', up to the square of the misfit."""
    rng = np.random.default_rng(5)
    model, state = jointed_world(dim, name, rng).build()
    for size in (1e-3, 1e-4):
        start = disturbed(state, np.random.default_rng(6), size)
        done = assemble(model, start)
        dq = motion(start, done)
        load = np.concatenate(
            [
                (mass_matrix(model, start, b) @ dq[b]) for b in range(model.nb)
            ]
        )  # fmt: skip
        rows = joint_rows(model.joints, start)
        J = dense(rows.body, rows.J, model.nb)
        multiplier = np.linalg.lstsq(J.T, load, rcond=None)[0]
        assert np.linalg.norm(J.T @ multiplier - load) < 30 * size**2
        assert np.linalg.norm(load) > 0.1 * size


def motion(before, after):
    """(nb, dof): displacements and rotation vectors."""
    shift = after.position - before.position
    if before.orientation.ndim == 1:
        return np.column_stack([shift, after.orientation - before.orientation])
    turn = logarithm(product(after.orientation, conjugate(before.orientation)))
    return np.concatenate([shift, turn], axis=1)


def mass_matrix(model, state, b):
    dim = model.dim
    out = np.zeros((model.dof, model.dof))
    out[:dim, :dim] = model.mass[b] * np.eye(dim)
    if dim == 2:
        out[2, 2] = model.inertia[b]
    else:
        R = rotation(state.orientation[b])
        out[3:, 3:] = R @ model.inertia[b] @ R.T
    return out


def test_a_spatial_four_bar_has_three_rows_too_many():
    """Four parallel hinges: 20 rows on 18 freedoms, and yet it moves in one way."""
    world = World()
    corners = [(0, 0, 0), (0.3, 0, 1), (1.5, 0, 1.4), (2, 0, 0)]
    for k in range(3):
        middle = 0.5 * (np.array(corners[k]) + corners[k + 1])
        world.add_body(name=f"bar{k}", mass=1, inertia=(0.2, 0.1, 0.2), position=middle)
    ends = ["world", "bar0", "bar1", "bar2", "world"]
    for k in range(4):
        hinge = Hinge(ends[k + 1], ends[k], anchor=corners[k], axis=(0, 1, 0), name=f"h{k}")
        world.add_joint(hinge)
    model, state = world.build()
    found = mobility(model, state)
    assert (found.freedom, found.rows, found.rank) == (1, 20, 17)
    assert found.redundant == ((3, ("h0", "h1", "h2", "h3")),)
    rng = np.random.default_rng(2)
    done = assemble(model, disturbed(state, rng, 0.05))
    assert np.abs(joint_rows(model.joints, done).error).max() < 1e-12


def test_a_hinge_turned_almost_over_finds_back():
    """Its rows have no second root where the axes are opposite."""
    world = World()
    world.add_body(name="a", mass=1, inertia=(1, 2, 2.5), orientation=(0.01, 1, 0.02, 0))
    world.add_joint(
        Hinge("a", "world", anchor_a=(0, 0, 0), anchor_b=(1, 2, 3), axis_a=(0, 0, 1),
              axis_b=(0, 0, 1))
    )  # fmt: skip
    model, state = world.build()
    done = assemble(model, state)
    assert np.allclose(rotation(done.orientation[0])[:, 2], (0, 0, 1), atol=1e-12)
    assert np.allclose(done.position[0], (1, 2, 3), atol=1e-12)


def test_a_long_chain_closes_by_the_sparse_way():
    world, n = World(), 60  # 180 rows
    for k in range(n):
        world.add_body(name=f"link{k}", mass=1 + k % 3, inertia=(0.1, 0.1, 0.1), position=(k, 0, 0))
    before = "world"
    for k in range(n):
        ends = {"anchor_a": (-0.5, 0, 0), "anchor_b": (0.5, 0.01, 0) if k else (0, 0, 0.2)}
        world.add_joint(Ball(f"link{k}", before, **ends))
        before = f"link{k}"
    model, state = world.build()
    done = assemble(model, state)
    assert np.abs(joint_rows(model.joints, done).error).max() < 1e-11
    assert mobility(model, done).freedom == 3 * n
    assert joint_rows(model.joints, done).error.size > EIGENVECTOR_ROWS


def test_a_long_redundant_loop_closes_by_the_sparse_way():
    """30 links on a circle, parallel hinges: 150 rows of rank 147."""
    world, n = World(), 30
    for k in range(n):
        angle = 2 * np.pi * k / n
        place = (np.cos(angle), np.sin(angle), 0)
        world.add_body(name=f"{k}", mass=1 + k % 2, inertia=(0.1, 0.1, 0.1), position=place)
    for k in range(n):
        angle = 2 * np.pi * (k + 0.5) / n
        anchor = (np.cos(angle), np.sin(angle), 0)
        world.add_joint(Hinge(f"{k}", f"{(k + 1) % n}", anchor=anchor, axis=(0, 0, 1)))
    model, state = world.build()
    done = assemble(model, disturbed(state, np.random.default_rng(0), 0.02))
    assert np.abs(joint_rows(model.joints, done).error).max() < 1e-11
    assert model.joints.nr > EIGENVECTOR_ROWS
    assert [count for count, _ in mobility(model, done).redundant] == [3]


def test_only_dynamic_bodies_move_and_closed_groups_stay():
    rng = np.random.default_rng(1)
    world = World()
    for name in ("a", "b", "c"):
        add_random_body(world, rng, name)
    world.add_body(name="wall", fixed=True, position=(1, 0, 0))
    world.add_joint(
        Fixed("a", "wall", anchor_a=(0, 0, 0), anchor_b=(0, 1, 0), orientation=(1, 0, 0, 0))
    )
    world.add_joint(Slider("b", "c", axis=(0, 0, 1)))
    model, state = world.build()
    done = assemble(model, state)
    assert np.array_equal(done.position[1:], state.position[1:])
    assert np.array_equal(done.orientation[1:], state.orientation[1:])
    assert np.allclose(rotation(done.orientation[0]), np.eye(3), atol=1e-12)
    assert np.allclose(done.position[0] - model.centre[0], (1, 1, 0), atol=1e-12)


def test_screws_and_gears_close():
    world = World()
    world.add_body(name="nut", mass=1, inertia=(1, 1, 1))
    world.add_body(name="wheel", mass=2, inertia=(1, 1, 1), position=(3, 0, 0))
    screw = Screw("nut", "world", anchor=(0, 0, 0), axis=(0, 0, 1), pitch=0.5, name="screw")
    world.add_joint(screw)
    world.add_joint(Hinge("wheel", "world", anchor=(3, 0, 0), axis=(0, 0, 1), name="bearing"))
    world.add_joint(Gear("bearing", ("screw", "turn"), ratio=-2.0))
    model, state = world.build()
    state.position[0, 2] = 0.1
    done = assemble(model, state)
    slide, turn, wheel = free_coordinates(model.joints, done).value
    assert np.isclose(slide, 0.5 * turn / (2 * np.pi), atol=1e-12)
    assert np.isclose(wheel, -2 * turn, atol=1e-12)
    k = 0.5 / (2 * np.pi)  # the least (k t - 0.1)^2 + t^2 + (2 t)^2 is exact here
    assert np.isclose(turn, 0.1 * k / (k * k + 5), rtol=1e-9)
    assert mobility(model, done).freedom == 1


def hinged_loop(shift):
    """A four-bar of parallel hinges in space, its last pivot moved by `shift` along their axes."""
    world = World()
    corners = np.array([(0, 0, 0), (0.3, 0, 1), (1.5, 0, 1.4), (2, 0, 0)], float)
    for k in range(3):
        middle = 0.5 * (corners[k] + corners[k + 1])
        world.add_body(name=f"bar{k}", mass=1, inertia=(0.2, 0.1, 0.2), position=middle)
    ends = ["world", "bar0", "bar1", "bar2"]
    for k in range(3):
        hinge = Hinge(ends[k + 1], ends[k], anchor=corners[k], axis=(0, 1, 0), name=f"h{k}")
        world.add_joint(hinge)
    middle = 0.5 * (corners[2] + corners[3])
    place = {"anchor_a": corners[3] + (0, shift, 0), "anchor_b": corners[3] - middle}
    axes = {"axis_a": (0, 1, 0), "axis_b": (0, 1, 0)}
    world.add_joint(Hinge("world", "bar2", name="h3", **place, **axes))
    return world


def test_redundant_rows_that_contradict_each_other_are_named_and_others_are_not():
    """All four hinges keep y: one shifted along it leaves three rows too many and no solution."""
    model, state = hinged_loop(0.0).build()
    done = assemble(model, disturbed(state, np.random.default_rng(3), 0.05))
    assert np.abs(joint_rows(model.joints, done).error).max() < 1e-12
    model, state = hinged_loop(0.1).build()
    with pytest.raises(ModelError) as error:
        assemble(model, state)
    for name in ("h0", "h1", "h2", "h3"):
        assert f"'{name}'" in str(error.value)
    assert "cannot close" in str(error.value)
    with pytest.raises(ModelError, match="cannot close"):
        ds.Simulation(hinged_loop(0.1))


def test_two_welds_that_contradict_each_other_are_named():
    world = World()
    world.add_body(name="plate", mass=1, inertia=(1, 1, 1))
    for k, shift in enumerate((0.0, 0.2)):
        ends = {"anchor_a": (k, 0, 0), "anchor_b": (k + shift, 0, 0), "orientation": (1, 0, 0, 0)}
        world.add_joint(Fixed("plate", "world", name=f"weld{k}", **ends))
    model, state = world.build()
    with pytest.raises(ModelError, match=r"'weld[01]' between 'plate' and the world.*by 0\.1"):
        assemble(model, state)


def test_only_joints_on_loops_are_searched_for_redundancy():
    """A loop with a tail and a loop at its end: the bridge between them holds its own."""
    world = World(planar=True)
    for k in range(6):
        world.add_body(name=f"b{k}", mass=1 + k, inertia=0.1, position=(k, 0.1 * k))
    for a, b, name in (
        (0, 1, "p"),
        (0, 1, "q"),
        (1, 2, "r"),
        (2, 3, "s"),
        (3, 4, "t"),
        (3, 4, "u"),
    ):
        world.add_joint(Pin(f"b{a}", f"b{b}", anchor=(a + 0.3, ord(name) % 5), name=name))
    world.add_joint(Pin("b5", "b4", anchor=(5, 0), name="tail"))
    model, state = world.build()
    found = mobility(model, state)
    # two pins weld a pair: 4 rows of rank 3
    assert found.redundant == ((2, ("p", "q", "t", "u")),)
    assert found.freedom == 18 - 3 - 2 - 2 - 3 - 2
    assert (
        np.linalg.matrix_rank(
            dense(*(lambda r: (r.body, r.J))(joint_rows(model.joints, state)), model.nb)
        )
        == found.rank
    )


def test_a_long_loop_is_judged_by_its_least_eigenvalues():
    """A ring of 130 hinged links, 650 rows: beyond dense algebra, three rows too many."""
    world, n = World(), 130
    for k in range(n):
        angle = 2 * np.pi * k / n
        place = (np.cos(angle), np.sin(angle), 0)
        world.add_body(name=f"{k}", mass=1, inertia=(0.1, 0.1, 0.1), position=place)
    for k in range(n):
        angle = 2 * np.pi * (k + 0.5) / n
        anchor = (np.cos(angle), np.sin(angle), 0)
        world.add_joint(Hinge(f"{k}", f"{(k + 1) % n}", anchor=anchor, axis=(0, 0, 1)))
    model, state = world.build()
    found = mobility(model, state)
    assert found.rows > LOOPS
    assert [count for count, _ in found.redundant] == [3]
    assert len(found.redundant[0][1]) == n
