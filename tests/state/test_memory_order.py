"""The same numbers give the same bits, however they lie in memory."""

import numpy as np
import pytest
import scipy.sparse as sp

import drystone as ds
from drystone.geometry.shapes.surface import hull_mesh


def numbers(seed, *shape):
    """Floats that are floats of single precision too, whose sums round in double."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32).astype(np.float64)


def spread(a):
    out = np.full(tuple(2 * n for n in a.shape), 7, a.dtype)
    every = tuple(slice(None, None, 2) for _ in a.shape)
    out[every] = a
    return out[every]


def backwards(a):
    every = tuple(slice(None, None, -1) for _ in a.shape)
    return np.ascontiguousarray(a[every])[every]


def fixed(a):
    out = np.asfortranarray(a.copy())
    out.setflags(write=False)
    return out


WAYS = {
    "Fortran": np.asfortranarray,
    "every other": spread,
    "backwards": backwards,
    "read-only": fixed,
    "other end": lambda a: a.astype(a.dtype.newbyteorder()),
    "short": lambda a: a.astype(np.float32 if a.dtype.kind == "f" else np.int32),
    "lists": lambda a: a.tolist(),
}
SPHERE = numbers(1, 20, 3)
SPHERE = (SPHERE / np.linalg.norm(SPHERE, axis=1)[:, None]).astype(np.float32).astype(np.float64)
BALL, FACES = hull_mesh(SPHERE)
TURNS = np.sort(np.abs(numbers(2, 9))) % 6.0
RING = np.column_stack([np.cos(TURNS), np.sin(TURNS)]).astype(np.float32).astype(np.float64)
STAR = RING * np.where(np.arange(9) % 2, 1.0, 0.375)[:, None]
STAR = STAR.astype(np.float32).astype(np.float64)
SQUARE = numbers(3, 6, 6)
SPD = (SQUARE @ SQUARE.T + 6.0 * np.eye(6)).astype(np.float32).astype(np.float64)
SPD = 0.5 * (SPD + SPD.T)
INERTIA = np.array([[2.0, 0.1, 0.2], [0.1, 2.5, 0.3], [0.2, 0.3, 3.0]], np.float32).astype(float)
Q, MANY = numbers(4, 6), numbers(5, 50, 3)


def of_shape(shape, density=True):
    out = [array for piece in shape.pieces() for array in piece if isinstance(array, np.ndarray)]
    if density:
        matter = shape.mass_properties(1000.0)
        out += [matter.mass, matter.centre, matter.inertia]
    return out


def of_body(**said):
    world = ds.World()
    world.add_body(ds.Box(0.1, 0.2, 0.3), **said)
    model, state = world.build()
    return [
        model.mass, model.inertia, model.inverse_inertia, model.centre, state.position,
        state.orientation, state.velocity,
    ]  # fmt: skip


def of_waypoints(places, turns):
    world = ds.World()
    motion = ds.Waypoints([0.0, 1.0, 2.0], positions=places, orientations=turns)
    world.add_body(ds.Sphere(0.1), motion=motion)
    return [world.build(t)[1].position for t in (0.3, 1.7)]


def of_problem(problem):
    solution = ds.solve(problem)
    return [solution.value, solution.dual, solution.residual, solution.iterations]


def of_view(place, turn, speed):
    world = ds.World()
    world.add_body(ds.Box(0.1, 0.2, 0.3), name="box")
    sim = ds.Simulation(world)
    view = sim.body("box")
    view.position, view.orientation, view.velocity = place, turn, speed
    return [sim.state.position, sim.state.orientation, sim.state.velocity]


def on_a_sphere(seed, n):
    """Any floats, which are none of single precision."""
    out = np.random.default_rng(seed).normal(size=(n, 3))
    return out / np.linalg.norm(out, axis=1)[:, None]


TAKERS = {
    "polyhedron of 9": (lambda p: of_shape(ds.ConvexPolyhedron(p)), on_a_sphere(1, 9)),
    "polyhedron of 40": (lambda p: of_shape(ds.ConvexPolyhedron(p)), on_a_sphere(32, 40)),
    "ConvexPolyhedron": (lambda p: of_shape(ds.ConvexPolyhedron(p)), SPHERE),
    "hull": (lambda p: of_shape(ds.ConvexPolyhedron.hull(p)), numbers(6, 40, 3)),
    "contains": (lambda p: [ds.ConvexPolyhedron(SPHERE).contains(p)], MANY),
    "Polygon": (lambda p: of_shape(ds.Polygon(p)), RING),
    "decompose_polygon": (lambda p: of_shape(ds.decompose_polygon(p)), STAR),
    "TriangleMesh": (lambda v, f: of_shape(ds.TriangleMesh(v, f), False), BALL, FACES),
    "decompose": (lambda v, f: of_shape(ds.decompose(v, f)), BALL, FACES),
    "Compound": (
        lambda x, q: of_shape(ds.Compound([(ds.Box(0.1, 0.2, 0.3), x, q), ds.Sphere(0.1)])),
        numbers(7, 3), numbers(8, 4),
    ),
    "inertia": (lambda i: of_body(mass=1.0, inertia=i), INERTIA),
    "moments": (
        lambda i, q, c: of_body(mass=1.0, inertia=i, inertia_frame=q, centre_of_mass=c),
        np.array([2.0, 2.5, 3.0]), numbers(9, 4), numbers(10, 3),
    ),
    "pose": (
        lambda x, q, v, w: of_body(position=x, orientation=q, velocity=v, angular_velocity=w),
        numbers(11, 3), numbers(12, 4), numbers(13, 3), numbers(14, 3),
    ),
    "Waypoints": (of_waypoints, numbers(15, 3, 3), numbers(16, 3, 4)),
    "view": (of_view, numbers(17, 3), numbers(18, 4), numbers(19, 3)),
    "LCP": (lambda M, q: of_problem(ds.LCP(M, q)), SPD, Q),
    "BoxedLCP": (lambda M, q: of_problem(ds.BoxedLCP(M, q, -1.0, 1.0)), SPD, Q),
    "MixedLCP": (lambda M, q: of_problem(ds.MixedLCP(M, q, 2)), SPD, Q),
    "FrictionProblem": (
        lambda W, q, mu: of_problem(ds.FrictionProblem(W, q, mu)), SPD, Q, np.array([0.5, 0.75]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("taker", TAKERS)
def test_the_same_numbers_give_the_same_bits(taker):
    take, *arrays = TAKERS[taker]
    truth = take(*(a.copy() for a in arrays))
    for way, laid in WAYS.items():
        given = [laid(a) for a in arrays]
        if not all(map(np.array_equal, given, arrays)):
            assert way == "short"
            continue
        found = take(*given)
        assert len(found) == len(truth)
        for x, y in zip(found, truth, strict=True):
            assert np.asarray(x).tobytes() == np.asarray(y).tobytes(), way


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array])
def test_sparse_matrices_of_any_kind_are_one(kind):
    truth = of_problem(ds.LCP(sp.csr_array(SPD), Q))
    assert all(map(np.array_equal, of_problem(ds.LCP(kind(SPD), Q)), truth))
    rows, columns = np.nonzero(SPD)
    back = sp.coo_array((SPD[rows, columns][::-1], (rows[::-1], columns[::-1])), shape=SPD.shape)
    assert all(map(np.array_equal, of_problem(ds.LCP(kind(back), Q)), truth))


def test_a_sparse_matrix_is_left_as_it_was():
    row = np.array([0, 0, 1]), np.array([0, 0, 1])
    given = sp.csr_array((np.array([1.0, 2.0, 4.0]), row[1], np.array([0, 2, 3])), shape=(2, 2))
    ds.LCP(given, [-1.0, -1.0])
    assert given.data.tolist() == [1.0, 2.0, 4.0]
    assert given.toarray().tolist() == [[3.0, 0.0], [0.0, 4.0]]


def test_a_recording_is_resumed_with_a_world_of_other_arrays(tmp_path):
    def made(points):
        world = ds.World()
        world.add_ground()
        shape = ds.ConvexPolyhedron(points)
        world.add_body(shape, position=(0, 0, 1.2), inertia=np.asfortranarray(INERTIA), mass=1.0)
        return world

    path = tmp_path / "a.h5"
    sim = ds.Simulation(made(SPHERE))
    sim.run(0.1, record=path)
    sim.run(0.1)
    other = ds.resume(path, 0.2, world=made(np.asfortranarray(SPHERE)))
    assert np.array_equal(other.state.position, sim.state.position)
