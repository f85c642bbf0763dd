"""What can rest rests, whatever else the law allows, and what cannot falls: piles on both sides of
their least friction, which a cone program finds that knows nothing of the engine. Large dry-stone
structures rest at default options."""

import copy

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

import drystone as ds

RADIUS = 0.1
ROOT = np.sqrt


def triangle(rows):
    """Centres of equal disks, each on two below."""
    return np.array(
        [
            ((i - 0.5 * (rows - k - 1)) * 2 * RADIUS, RADIUS * (1 + k * ROOT(3)))
            for k in range(rows)
            for i in range(rows - k)
        ]
    )


def pyramid(rows):
    """Centres of equal spheres, each on four below."""
    places = []
    for k in range(rows):
        n = rows - k
        at = (np.arange(n) - 0.5 * (n - 1)) * 2 * RADIUS
        z = RADIUS * (1 + k * ROOT(2))
        places += [(x, y, z) for x in at for y in at]
    return np.array(places)


def touches(centres):
    """(a, b, normal from b to a, with floor -1) of spheres or disks that touch."""
    up = np.eye(centres.shape[1])[-1]
    found = [(i, -1, up) for i, c in enumerate(centres) if abs(c[-1] - RADIUS) < 1e-9]
    for i in range(len(centres)):
        for j in range(i):
            way = centres[i] - centres[j]
            if abs(np.linalg.norm(way) - 2 * RADIUS) < 1e-9:
                found.append((i, j, way / np.linalg.norm(way)))
    return found


def statics(centres):
    """A, b: forces x (normal, tangents) of every contact balance the weights where A x = b."""
    dim, found = centres.shape[1], touches(centres)
    turns = 1 if dim == 2 else 3
    A = np.zeros((len(centres) * (dim + turns), dim * len(found)))
    for k, (i, j, normal) in enumerate(found):
        if dim == 2:
            axes = np.array([normal, (-normal[1], normal[0])])
        else:
            first = np.cross(normal, np.eye(3)[np.argmin(abs(normal))])
            first /= np.linalg.norm(first)
            axes = np.array([normal, first, np.cross(normal, first)])
        for body, sign in ((i, 1.0), (j, -1.0)):
            if body < 0:
                continue
            row = body * (dim + turns)
            arm = -sign * RADIUS * normal
            for a, axis in enumerate(axes):
                force = sign * axis
                A[row : row + dim, dim * k + a] = force
                moment = np.cross(arm, force) if dim == 3 else arm[0] * force[1] - arm[1] * force[0]
                A[row + dim : row + dim + turns, dim * k + a] = moment / RADIUS
    b = np.zeros(len(A))
    b[dim - 1 :: dim + turns] = 1.0
    return A, b, dim


def balanced(A, b, dim, mu):
    """Whether forces within friction mu balance the weights: a cone program."""
    n = A.shape[1]
    scale = np.tile([mu, *[1.0] * (dim - 1)], n // dim)
    rows = sp.vstack([sp.csc_matrix(A), -sp.diags(scale)]).tocsc()
    cones = [clarabel.ZeroConeT(len(b))]
    cones += [clarabel.SecondOrderConeT(dim)] * (n // dim)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    right = np.concatenate([b, np.zeros(n)])
    P = 1e-6 * sp.eye(n, format="csc")
    found = clarabel.DefaultSolver(P, np.zeros(n), rows, right, cones, settings).solve()
    return str(found.status) == "Solved"


def threshold(centres):
    """The least friction at which the pile can rest, to 1e-5 of itself."""
    given = statics(centres)
    low, high = 0.0, 1.0
    assert balanced(*given, high)
    while high - low > 1e-5 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if balanced(*given, middle) else (middle, high)
    return high


def fell(centres, mu, steps):
    """How far bodies move."""
    planar = centres.shape[1] == 2
    world = ds.World(planar=planar)
    world.add_ground(friction=mu)
    for place in centres:
        shape = ds.Disk(RADIUS) if planar else ds.Sphere(RADIUS)
        world.add_body(shape, density=1000, friction=mu, position=place)
    sim = ds.Simulation(world, ds.TimeStepping())
    sim.run(steps / 240)
    return np.abs(sim.state.position[1:] - centres).max()


@pytest.mark.parametrize(
    "centres",
    [triangle(2), triangle(3), triangle(4), triangle(6), triangle(9), triangle(12), pyramid(2),
     pyramid(3), pyramid(4)],
    ids=["2 rows", "3 rows", "4 rows", "6 rows", "9 rows", "12 rows", "5 spheres", "14 spheres",
         "30 spheres"],
)  # fmt: skip
def test_a_pile_stands_from_its_static_threshold_on(centres):
    """And not below; the law has other solutions above, in which it falls."""
    least = threshold(centres)
    for part in (0.9, 0.99, 0.999):
        assert fell(centres, part * least, 60) > 1e-6, part
    for part in (1.001, 1.01, 1.1, 1.2, 1.4, 1.8):
        assert fell(centres, part * least, 60) < 1e-9, part


def tower(n):
    world = ds.World()
    world.add_ground(friction=0.5)
    for k in range(n):
        world.add_body(ds.Box(1, 1, 1), mass=1.0, friction=0.5, position=(0, 0, k + 0.5))
    return world


@pytest.mark.parametrize(
    "world",
    [
        lambda: tower(40),
        lambda: tower(100),
        lambda: ds.scene("pyramid", rows=24).world,
        lambda: ds.scene("wall", courses=12, columns=24).world,
        lambda: ds.scene("arch", n=61).world,
        lambda: ds.scene("arch", n=121, ratio=0.14).world,
    ],
    ids=["tower of 40", "tower of 100", "pyramid", "wall", "arch of 61", "arch of 121"],
)
def test_a_large_structure_rests(world):
    """Within 1e-8 m, every step solved to `tol`, most of them by one sweep."""
    sim = ds.Simulation(world(), ds.TimeStepping())
    start, sweeps = sim.state.position.copy(), 0
    for _ in range(60):
        report = sim.step()
        assert report.ok
        assert report.residual <= 1e-8
        sweeps += report.iterations
    assert np.abs(sim.state.position - start).max() < 1e-8
    assert sweeps < 400


@pytest.mark.parametrize(
    "options", [{}, {"order": 2}, {"sleeping": ds.Sleeping()}], ids=["default", "order 2", "sleep"]
)
def test_what_rests_goes_on_to_the_bit(options):
    """Factors live within one solve: a copy and a snapshot have all that the next step reads."""

    def bits(sim):
        s = sim.state
        return s.position.tobytes() + s.orientation.tobytes() + s.velocity.tobytes()

    def made():
        return ds.Simulation(ds.scene("pyramid", rows=22).world, ds.TimeStepping(**options))

    whole = made()
    whole.run(8 / 240)
    for cut in (1, 4):
        begun, resumed = made(), made()
        for _ in range(cut):
            begun.step()
        resumed.restore(begun.snapshot())
        for sim in (begun, copy.deepcopy(begun), resumed):
            for _ in range(8 - cut):
                sim.step()
            assert bits(sim) == bits(whole)


@pytest.mark.parametrize(("part", "falls"), [(0.999, True), (1.001, False)])
def test_thresholds_know_no_units(part, falls):
    """The pile of three rows in centimetres, grams and milliseconds: times, lengths and masses by
    factors that are no powers of two."""
    centres = triangle(3)
    mu = part * threshold(centres)
    world = ds.World(planar=True, gravity=(0.0, -9.81e-4))
    world.add_ground(friction=mu)
    for place in centres:
        world.add_body(ds.Disk(10.0), density=1.0, friction=mu, position=100.0 * place)
    sim = ds.Simulation(world, ds.TimeStepping(dt=1000 / 240))
    sim.run(250.0)
    moved = np.abs(sim.state.position[1:] - 100.0 * centres).max()
    assert moved > 1e-4 if falls else moved < 1e-7


FORCE_METHODS = ("dantzig", "lemke", "qp-signs", "jacobi", "lotstedt")


def fell_by_events(centres, mu, method):
    planar = centres.shape[1] == 2
    world = ds.World(planar=planar)
    world.add_ground(friction=mu)
    shape = ds.Disk(RADIUS) if planar else ds.Sphere(RADIUS)
    for place in centres:
        world.add_body(shape, density=1000, friction=mu, position=place)
    sim = ds.Simulation(world, ds.EventDriven(contact_forces=method))
    start = sim.state.position.copy()
    sim.run(3 / 60)
    return np.abs(sim.state.position - start).max()


@pytest.mark.parametrize("method", FORCE_METHODS)
@pytest.mark.parametrize("centres", [triangle(3), triangle(4)], ids=["3 rows", "4 rows"])
def test_a_pile_stands_by_events_too(centres, method):
    """The same rule for all force methods."""
    least = threshold(centres)
    for part in (0.9, 0.999):
        assert fell_by_events(centres, part * least, method) > 1e-4
    for part in (1.001, 1.2, 1.4, 1.8):
        assert fell_by_events(centres, part * least, method) == 0.0


def test_spheres_stand_by_events_too():
    centres = pyramid(2)
    least = threshold(centres)
    assert fell_by_events(centres, 0.999 * least, "dantzig") > 1e-6
    for part in (1.001, 1.2, 1.8):
        assert fell_by_events(centres, part * least, "dantzig") < 1e-15


def test_events_say_that_rest_was_taken():
    centres = triangle(3)
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    for place in centres:
        world.add_body(ds.Disk(RADIUS), density=1000, friction=0.5, position=place)
    sim = ds.Simulation(world, ds.EventDriven())
    assert any("rest was taken" in sentence for sentence in sim.step().log)


def test_a_long_rest_stays_a_rest():
    """What one sweep a step leaves would grow by a hundredth each step, until contacts change."""
    sim = ds.Simulation(ds.scene("wall", courses=15, columns=10).world, ds.TimeStepping())
    start, solves = sim.state.position.copy(), 0
    for _ in range(1500):
        report = sim.step()
        solves += report.methods != ("nsgs",)
    assert report.ok
    assert np.abs(sim.state.position - start).max() < 1e-9
    assert solves <= 6


def test_a_column_of_a_thousand_rests():
    """It bends under forces that its contacts hardly feel: velocities, not residuals, say so."""
    sim = ds.Simulation(tower(1000), ds.TimeStepping())
    start = sim.state.position.copy()
    sim.step()
    assert np.abs(sim.state.velocity).max() < 1e-12
    sim.run(60 / 240)
    assert sim.summary.ok
    assert np.abs(sim.state.position - start).max() < 1e-11
