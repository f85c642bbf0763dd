"""Joints that hold what others hold already: reported, least forces, dead points."""

import numpy as np
import pytest

import drystone as ds
from drystone.constraints.joints import minimum_norm
from drystone.constraints.joints.rows import joint_rows
from drystone.solvers.newton import Newton
from tests.constraints.joints.joint_worlds import dense

G = 9.81


def linkage(corners, closed=True, motor=None, masses=None, gravity=(0, 0, -G)):
    """Bars between corners in the x-z plane, hinged to each other and at both ends to the world,
    all about y: one loop, three rows too many."""
    world = ds.World(gravity=gravity)
    corners = np.array(corners, float)
    n = len(corners) - 1
    for k in range(n):
        along = corners[k + 1] - corners[k]
        angle = -np.arctan2(along[2], along[0])
        turn = (np.cos(angle / 2), 0, np.sin(angle / 2), 0)
        bar = ds.Box(np.linalg.norm(along), 0.05, 0.05)
        mass = 1.0 if masses is None else masses[k]
        middle = 0.5 * (corners[k] + corners[k + 1])
        world.add_body(bar, name=f"bar{k}", mass=mass, position=middle, orientation=turn, layer=())
    ends = ["world", *(f"bar{k}" for k in range(n)), "world"]
    for k in range(n + 1 if closed else n):
        drive = motor if k == 0 else None
        world.add_joint(
            ds.Hinge(
                ends[k + 1], ends[k], anchor=corners[k], axis=(0, 1, 0), name=f"h{k}", motor=drive
            )
        )
    return world


ARCH = [(-1.0, 0, 0), (-0.6, 0, 0.9), (0.6, 0, 0.9), (1.0, 0, 0)]


def test_the_report_counts_and_mobility_names_what_is_redundant():
    sim = ds.Simulation(linkage(ARCH))
    assert sim.step().redundant == 3
    found = sim.mobility()
    assert (found.freedom, found.too_many) == (1, 3)
    assert found.redundant == ((3, ("h0", "h1", "h2", "h3")),)
    open_chain = ds.Simulation(linkage(ARCH, closed=False))
    assert open_chain.step().redundant == 0
    assert open_chain.mobility().redundant == ()


def reference(sim, before, h):
    """Impulses of least weighted norm with the velocity change that the step made, by lstsq.

    M (v' - v) - h f = J' r; rows weighed by their own responses.
    """
    model = sim.model
    rows = joint_rows(model.joints, before)
    J = dense(rows.body, rows.J, model.nb)
    inverse = np.zeros((model.nb * 6, model.nb * 6))
    for b in range(model.nb):
        w, x, y, z = before.orientation[b]
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        at = 6 * b
        inverse[at : at + 3, at : at + 3] = np.eye(3) * model.inverse_mass[b]
        inverse[at + 3 : at + 6, at + 3 : at + 6] = R @ model.inverse_inertia[b] @ R.T
    kick = np.zeros((model.nb, 6))
    kick[:, :3] = model.gravity * h
    change = (sim._stepper.solved.v - before.velocity - kick).ravel()
    response = inverse @ J.T
    weight = np.sqrt(np.einsum("ij,ji->i", J, response))
    z = np.linalg.lstsq(response / weight, change, rcond=1e-9)[0]
    return z / weight


def impulses(sim):
    """(nr,) of the last step, in the order of the joints' rows."""
    rows, solved = sim._stepper.rows, sim._stepper.solved
    row = np.where(rows.joint[:, None] >= 0, rows.blocks.row[rows.joint], -1)
    out = np.full(sim.model.joints.nr, np.nan)
    out[row[row >= 0]] = solved.r[row >= 0]
    return out


@pytest.mark.parametrize("masses", [None, (1.0, 5.0, 0.3)])
def test_forces_are_the_least_that_move_the_bodies_so(masses):
    """Against NumPy's least squares, in motion, many steps from the start: warm starts and sweeps
    leave nothing behind that does nothing."""
    leaning = [(-1.0, 0, 0), (-0.8, 0, 0.9), (0.6, 0, 1.2), (1.0, 0, 0)]
    world = linkage(leaning, masses=masses, gravity=(0, 5, -G))  # across the plane, too
    sim = ds.Simulation(world, ds.TimeStepping(joints="stabilize"))
    for k in range(60):
        before = sim.state.copy()
        assert sim.step().ok
        if k % 20 == 19:
            wanted = reference(sim, before, sim.method.dt)
            scale = np.abs(wanted).max()
            np.testing.assert_allclose(impulses(sim), wanted, atol=1e-6 * scale)
    assert np.abs(sim.state.velocity).max() > 0.05


def test_what_is_symmetric_has_symmetric_forces():
    """A frame at rest by symmetry, its hinges crosswise redundant: mirrored joints bear mirrored
    forces, and none bears a force or torque across the plane."""
    sim = ds.Simulation(linkage([(-1, 0, 0), (0, 0, 1.0), (1, 0, 0)]))
    for _ in range(10):
        sim.step()
    assert sim.report.redundant == 3
    left, right = sim.joints[0], sim.joints[2]
    np.testing.assert_allclose(left["force"][2], G, rtol=1e-9)  # on bar0, by the world
    np.testing.assert_allclose(right["force"][2], -G, rtol=1e-9)  # on the world, by bar1
    np.testing.assert_allclose(left["force"][0], right["force"][0], rtol=1e-8)
    assert np.abs(sim.joints["force"][:, 1]).max() < 1e-8
    assert np.abs(sim.joints["torque"]).max() < 1e-7


def test_a_table_of_welds_shares_its_load():
    """One plate welded to the world at four corners: 18 rows too many, a quarter each."""
    world = ds.World()
    world.add_body(ds.Box(1, 1, 0.1), name="plate", mass=4.0)
    for k, (x, y) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
        world.add_joint(ds.Fixed("plate", "world", anchor=(0.5 * x, 0.5 * y, 0), name=f"leg{k}"))
    sim = ds.Simulation(world)
    for _ in range(5):
        sim.step()
    assert sim.report.redundant == 18
    np.testing.assert_allclose(sim.joints["force"], [(0, 0, G)] * 4, atol=1e-7)
    assert sim.mobility().redundant == ((18, ("leg0", "leg1", "leg2", "leg3")),)


def test_a_motor_drives_a_folding_parallelogram_through_its_dead_points():
    """Equal opposite bars: in line, it could go on either way (rank falls). Nothing blows up, and
    the crank turns as the motor says."""
    corners = [(0, 0, 0), (0, 0, 0.5), (1.0, 0, 0.5), (1.0, 0, 0)]
    sim = ds.Simulation(linkage(corners, motor=ds.Motor(speed=4.0)))
    most = 0.0
    for _ in range(400):
        report = sim.step()
        assert report.ok
        assert report.joint_error < 1e-6
        assert report.redundant == 3
        most = max(most, np.abs(sim.state.velocity).max())
        assert sim.body("bar0").angular_velocity[1] == pytest.approx(4.0, abs=1e-6)
    assert most < 30


def test_a_start_at_a_dead_point_is_not_counted_for_ever():
    """A parallelogram laid flat: four rows too many there, three a step later."""
    corners = [(0, 0, 0), (0.5, 0, 0), (1.5, 0, 0), (1.0, 0, 0)]
    sim = ds.Simulation(linkage(corners, motor=ds.Motor(speed=1.0)))
    assert sim.mobility().too_many == 4
    assert sim.mobility().freedom == 2
    sim.run(0.05)
    assert sim.report.redundant == sim.mobility().too_many == 3


def slider_crank(speed=None):
    """Crank of 0.2 m, rod of 0.6 m, piston on a rail along x; planar."""
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_body(ds.Rectangle(0.2, 0.02), name="crank", position=(0.1, 0), mass=1.0, layer=())
    world.add_body(ds.Rectangle(0.6, 0.02), name="rod", position=(0.5, 0), mass=1.0, layer=())
    world.add_body(ds.Rectangle(0.1, 0.1), name="piston", position=(0.8, 0), mass=2.0, layer=())
    motor = None if speed is None else ds.Motor(speed=speed)
    world.add_joint(ds.Pin("crank", "world", anchor=(0, 0), name="main", motor=motor))
    world.add_joint(ds.Pin("rod", "crank", anchor=(0.2, 0), name="big end"))
    world.add_joint(ds.Pin("piston", "rod", anchor=(0.8, 0), name="small end"))
    world.add_joint(ds.Slider("piston", "world", axis=(1, 0), name="rail"))
    return ds.Simulation(world)


def test_a_slider_crank_passes_its_dead_centres():
    """It starts at one. Position by the closed form of the crank's angle."""
    sim = slider_crank(speed=5.0)
    for _ in range(500):
        report = sim.step()
        assert report.ok
        assert report.joint_error < 1e-8
        assert report.redundant == 0
        angle = sim.state.orientation[0]
        x = 0.2 * np.cos(angle) + np.sqrt(0.36 - (0.2 * np.sin(angle)) ** 2)
        assert sim.body("piston").position[0] == pytest.approx(x, abs=1e-8)
    assert sim.state.orientation[0] == pytest.approx(5.0 * 500 / 240, abs=1e-6)


def test_a_free_slider_crank_swings_through_dead_centres_with_its_energy():
    sim = slider_crank()
    pace = np.array([(0, 0.4, 4.0), (0, 0.5 * 0.8, -4.0 / 3), (0, 0, 0)])
    sim.state.velocity[:] = pace  # at the dead centre the piston stands still
    start = sim.energy[0]
    energies = []
    for _ in range(720):
        assert sim.step().ok
        energies.append(sim.energy[0])
        assert sim.report.joint_error < 1e-8
    assert sim.state.orientation[0] > 2 * np.pi, "through both dead centres"
    assert np.abs(np.array(energies) / start - 1).max() < 0.02


def test_long_loops_are_freed_of_idle_forces_by_sparse_solves(monkeypatch):
    """The same as by the kernel, on impulses with something idle in them."""
    sim = ds.Simulation(linkage(ARCH, gravity=(0, 3, -G)))
    sim.step()
    stepper = sim._stepper
    rng = np.random.default_rng(4)
    spoiled = stepper.solved.r + 1e-2 * rng.normal(size=stepper.solved.r.shape)
    answers = [spoiled.copy(), spoiled.copy()]
    before = stepper.buffers.state_before()
    ties = joint_rows(stepper.model.joints, before)
    split = stepper.minimum_norm.split(stepper.model, before, stepper.rows, ties)[0]
    split.spread(answers[0])
    monkeypatch.setattr(minimum_norm, "DEPENDENT_ROWS", 0)
    stepper.minimum_norm(stepper.model, stepper.rows, answers[1])
    assert np.abs(answers[0] - spoiled).max() > 1e-4
    near = 1e-7 * np.abs(spoiled).max()  # rounding by the shift of these solves, and a little
    np.testing.assert_allclose(answers[1], answers[0], atol=near)
    before, after = np.zeros((2, sim.model.nb, 6))
    stepper.rows.push(spoiled, before)
    stepper.rows.push(answers[0], after)
    np.testing.assert_allclose(after, before, atol=1e-12)


def test_a_long_chain_takes_newton_two_steps():
    """However long: the regularisation of joints is below its least eigenvalue, about 1 / n^2."""
    world, n = ds.World(), 400
    for k in range(n):
        place = {"position": (0.2 * k + 0.1, 0, 0), "layer": ()}
        world.add_body(ds.Sphere(0.05), name=f"b{k}", mass=1.0, **place)
        world.add_joint(ds.Ball(f"b{k}", f"b{k - 1}" if k else "world", anchor=(0.2 * k, 0, 0)))
    sim = ds.Simulation(world)
    sim.step()
    found = Newton(tol=1e-10, sweeps=0, homotopy=0).solve(sim.problem())
    assert found.ok
    assert found.iterations <= 3


def test_a_chain_taut_between_two_posts_stays():
    """Its joints contradict each other to first order as soon as it sags: nothing runs away."""
    world = ds.World(planar=True)
    before, length = "world", 0.2
    for k in range(4):
        world.add_body(
            ds.Rectangle(length, 0.05), name=f"link{k}", position=(length * (k + 0.5), 1), layer=k
        )
        world.add_joint(ds.Pin(f"link{k}", before, anchor=(length * k, 1)))
        before = f"link{k}"
    world.add_joint(ds.Pin(before, "world", anchor=(4 * length, 1)))
    sim = ds.Simulation(world)
    sim.run(0.22)
    assert abs(sim.body("link1").position[1] - 1) < 1e-4
    assert sim.report.joint_error < 1e-6
