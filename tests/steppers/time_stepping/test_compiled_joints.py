"""Worlds with joints in the compiled loop: as Python closes joints, one by one or at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.constraints.joints.rows import free_coordinates, joint_rows
from drystone.dynamics.frames import rotations
from drystone.kernels.step import codes
from drystone.kernels.step import joint_newton as newton
from drystone.kernels.step import joint_spare as spare
from drystone.steppers.time_stepping.stepper import TimeStepper

BOOKS = ("kinetic", "potential", "change", "loads", "driving", "friction", "impact")
SCENES = {
    "chain": {"links": 12},
    "double-pendulum": {"planar": False},
    "four-bar": {},
    "slider-crank": {},
    "vehicle": {},
    "gripper": {},
}


def in_python(sim):
    """The same simulation with joints closed by Python: Newton's method on dense rows."""
    stepper = sim.stepper

    def ask(s, scan, j):
        return codes.CLOSE_JOINTS

    at = [run for _, run in stepper.stages].index(spare.split)
    stepper.stages[at] = (stepper.stages[at][0], ask)
    sim.profile = True
    return sim


def same(a, b):
    for name in ("position", "orientation", "velocity"):
        assert np.array_equal(getattr(a.state, name), getattr(b.state, name)), name


def sprung():
    """A cart on a rail: spring, limit, motor with a greatest force, friction, and a screw."""
    world = ds.World()
    world.add_body(ds.Box(0.2, 0.1, 0.1), name="cart", mass=2.0)
    world.add_body(ds.Box(0.1, 0.3, 0.1), name="arm", mass=1.0, position=(0, 0.2, 0))
    rail = {"limits": (-0.02, 0.3), "spring": (200.0, 1.0, 0.05), "friction": 0.3}
    world.add_joint(ds.Slider("cart", "world", anchor=(0, 0, 0), axis=(1, 0, 0), **rail))
    motor = ds.Motor(speed=3.0, max_force=0.2)
    world.add_joint(ds.Hinge("arm", "cart", anchor=(0, 0.05, 0), axis=(1, 0, 0), motor=motor))
    return world


def taut(links=4):
    world = ds.World(planar=True)
    before, length = "world", 0.2
    for k in range(links):
        at = (length * (k + 0.5), 1)
        world.add_body(ds.Rectangle(length, 0.05), name=f"link{k}", position=at, layer=k)
        world.add_joint(ds.Pin(f"link{k}", before, anchor=(length * k, 1)))
        before = f"link{k}"
    world.add_joint(ds.Pin(before, "world", anchor=(links * length, 1)))
    return world


def agree(one, two, steps, forces, closes=True):
    """The same steps; returns how many collisions they had."""
    assert one._stepper.jointed
    collisions = 0
    for _ in range(steps):
        mine, other = one.step(), two.step()
        assert not one._stepper.buffers.j.by_host, "the loop asked for other ways to close joints"
        assert np.allclose(one.state.position, two.state.position, rtol=0, atol=1e-9)
        assert np.allclose(one.state.velocity, two.state.velocity, rtol=0, atol=1e-7)
        size = max(abs(other.energy.kinetic), abs(other.energy.potential), 1e-3)
        for name in BOOKS:
            a, b = getattr(mine.energy, name), getattr(other.energy, name)
            assert abs(a - b) <= 1e-7 * size, name
        assert abs(mine.energy.unexplained) <= 1e-12 * size
        assert (mine.contacts, mine.islands) == (other.contacts, other.islands)
        assert abs(mine.joint_error - other.joint_error) < 1e-9
        assert mine.joint_error < 1e-9 or not closes
        assert mine.collisions == other.collisions
        collisions += mine.collisions
        if forces:
            a, b = one.joints, two.joints
            assert np.array_equal(a["name"], b["name"])
            for part in ("force", "torque"):
                assert np.allclose(a[part], b[part], atol=1e-6 * (1 + np.abs(b[part]).max()))
    return collisions


@pytest.mark.parametrize("name", SCENES)
def test_joints_are_closed_as_python_closes_them(name):
    scene = ds.scene(name, **SCENES[name])
    # wheels and fingers are held by more contacts than needed: their forces are not unique
    unique = name not in ("vehicle", "gripper")
    agree(scene.simulation(), in_python(scene.simulation()), 25, unique)


@pytest.mark.kernels
def test_a_few_steps_with_all_that_acts_on_joints():
    agree(ds.Simulation(sprung()), in_python(ds.Simulation(sprung())), 3, True)
    scene = ds.scene("four-bar")
    agree(scene.simulation(), in_python(scene.simulation()), 3, True)


def test_what_acts_on_joints_is_the_same_in_the_loop():
    agree(ds.Simulation(sprung()), in_python(ds.Simulation(sprung())), 60, True)


def towed(friction=0.5):
    """Two blocks on the ground, hinged to each other and pulled by a spring until both slide."""
    world = ds.World()
    world.add_ground(friction=friction)
    for k in range(2):
        at = (0.25 * k, 0, 0.05)
        world.add_body(
            ds.Box(0.2, 0.1, 0.1), name=f"b{k}", mass=1.0, friction=friction, position=at
        )
    world.add_joint(ds.Hinge("b0", "b1", anchor=(0.125, 0, 0.05), axis=(0, 1, 0)))
    world.add_force(ds.Spring("b1", anchor_b=(0.45, 0.1, 0.05), stiffness=150.0, rest_length=0.0))
    return world


def test_what_breaks_loose_gets_its_dynamic_friction_in_the_loop():
    world, other = towed((0.8, 0.3)), towed((0.8, 0.3))
    one, two = ds.Simulation(world), in_python(ds.Simulation(other))
    agree(one, two, 12, False)
    assert (one.contacts["state"] == "slip").any()
    assert set(np.unique(one.contacts["friction"])) <= {0.3, 0.8}


@pytest.mark.parametrize("name", ["vehicle", "gripper", "geneva"])
def test_contacts_limits_and_motors_are_solved_without_a_return_to_python(name, monkeypatch):
    sim, asked = ds.scene(name).simulation(), []
    solve = TimeStepper._newton
    monkeypatch.setattr(TimeStepper, "_newton", lambda self: asked.append(1) or solve(self))
    report = [sim.step() for _ in range(10)][-1]
    sim.run(20 * sim.method.dt)
    # the fingers' first grip takes more than plain Newton; twice, if a contact comes back
    assert len(asked) <= 2
    assert report.ok
    assert report.residual <= sim.method.tol
    assert report.methods[0] == "nsgs"


def test_what_newton_does_not_solve_in_the_loop_is_solved_in_python():
    """The same step, whoever takes the steps of Newton's method."""
    one, two = (ds.scene("vehicle").simulation() for _ in range(2))
    one.run(10 * one.method.dt)
    two.run(10 * two.method.dt)
    stages, asked = one._stepper.stages, []

    def refuse(s, scan, j):
        asked.append(int((s.plan[: s.islands] == codes.SMALL_NEWTON).sum()))
        return codes.NEWTON

    at = [run for _, run in stages].index(newton.newton_spatial)
    stages[at] = ("solve", refuse)
    one._stepper._job = None  # it has the addresses of the stages before
    assert one.step().ok
    assert two.step().ok
    assert sum(asked) > 0
    for name in ("position", "orientation", "velocity"):
        a, b = getattr(one.state, name), getattr(two.state, name)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    "name", ["chain", "four-bar", "vehicle", "gripper", "geneva", "ragdoll", "chain-drop"]
)
def test_steps_at_once_are_the_same_steps(name):
    one, many = (ds.scene(name, **SCENES.get(name, {})).simulation() for _ in range(2))
    reports = [one.step() for _ in range(30)]
    kept = many.run(30 * many.method.dt, record=True)
    same(one, many)
    for mine, other in zip(reports, kept.reports, strict=True):
        assert mine.energy == other.energy
        assert mine.joint_error == other.joint_error
        assert (mine.time, mine.residual, mine.iterations, mine.methods) == (
            other.time, other.residual, other.iterations, other.methods,
        )  # fmt: skip
    assert np.array_equal(one.joints, many.joints)


def test_steps_that_are_divided_are_the_same_one_by_one_and_at_once():
    one, many = ds.Simulation(taut()), ds.Simulation(taut())
    reports = [one.step() for _ in range(12)]
    assert all(report.retries > 0 for report in reports)
    assert one._stepper.buffers.j.by_host
    kept = many.run(12 * many.method.dt, record=True)
    same(one, many)
    assert np.array_equal(one.joints, many.joints)
    assert [r.retries for r in kept.reports] == [r.retries for r in reports]
    assert [r.energy for r in kept.reports] == [r.energy for r in reports]
    assert max(abs(r.energy.unexplained) for r in reports) < 1e-12


def test_a_run_goes_on_from_a_snapshot_to_the_same_bits():
    whole, first, second = (ds.Simulation(sprung()) for _ in range(3))
    whole.run(40 * whole.method.dt)
    first.run(15 * first.method.dt)
    second.restore(first.snapshot())
    second.run(25 * second.method.dt)
    same(whole, second)


def test_joints_that_come_and_go_keep_the_rest_warm():
    world = sprung()
    sim = ds.Simulation(world)
    sim.run(0.05)
    world.add_body(ds.Sphere(0.05), name="ball", mass=0.5, position=(0, 0, 1))
    world.add_joint(ds.Ball("ball", "world", anchor=(0, 0, 1.2), name="thread"))
    sim.run(0.05)
    assert sim.report.joint_error < 1e-9
    assert "thread" in sim.joints["name"].tolist()
    world.remove_joint("thread")
    sim.run(0.02)
    assert sim.body("ball").velocity[2] < 0
    assert "thread" not in sim.joints["name"].tolist()


def test_all_stages_can_be_timed():
    plain, timed = (ds.scene("four-bar").simulation() for _ in range(2))
    timed.profile = True
    for _ in range(3):
        plain.step()
        seconds = timed.step().seconds
    assert {"forces", "contacts", "rows", "solve", "drift"} <= set(seconds)
    same(plain, timed)


def dropped(planar=False, restitution=0.0):
    """Two blocks hinged to each other, which fall onto the ground."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.4)
    up = (0, 1) if planar else (0, 0, 1)
    straight, turned = (0.0, 0.3) if planar else ((1, 0, 0, 0), (np.cos(0.15), 0, np.sin(0.15), 0))
    block = ds.Rectangle(0.2, 0.1) if planar else ds.Box(0.2, 0.1, 0.1)
    for k in range(2):
        at = [0.3 * k, 0.11] if planar else [0.3 * k, 0.02 * k, 0.11]
        world.add_body(
            block, name=f"b{k}", mass=1.0 + k, friction=0.4, restitution=restitution, position=at,
            orientation=turned if k else straight, velocity=-2.0 * np.array(up), layer=k,
        )  # fmt: skip
    pin = {} if planar else {"axis": (0, 1, 0)}
    middle = (0.15, 0.11) if planar else (0.15, 0.01, 0.11)
    world.add_joint((ds.Pin if planar else ds.Hinge)("b0", "b1", anchor=middle, **pin))
    return world


SCHEMES = {
    "velocity": {"joints": "velocity"},
    "stabilize": {"joints": "stabilize"},
    "project": {"joints": "project"},
    "cold": {"warm_start": False},
    "no stabilization": {"stabilize": False},
    "convex": {"formulation": "convex"},
    "convex, velocity": {"formulation": "convex", "joints": "velocity"},
    "sweeps alone": {"solver": "nsgs", "tol": 1e-11},
    "sweeps alone, convex": {"solver": "nsgs", "formulation": "convex", "tol": 1e-11},
    "a solver that is asked": {"solver": "newton"},
    "soft fingers": {"cone": ds.SoftFingerCone(0.02)},
    "soft fingers, projected": {"cone": ds.SoftFingerCone(0.02), "joints": "project"},
    "soft fingers, sweeps alone": {
        "cone": ds.SoftFingerCone(0.02), "solver": "nsgs", "tol": 1e-11
    },
}  # fmt: skip
WORLDS = {
    "dropped": dropped,
    "dropped in the plane": lambda: dropped(planar=True),
    "sprung": sprung,
    "four-bar": lambda: ds.scene("four-bar").world,
    "four-bar in space": lambda: ds.scene("four-bar", planar=False).world,
}


@pytest.mark.parametrize("options", SCHEMES)
@pytest.mark.parametrize("name", WORLDS)
def test_options_are_stages_of_the_loop(name, options):
    given, world = {"halvings": 0, **SCHEMES[options]}, WORLDS[name]()
    if (world.planar and "soft" in options) or ("dropped" in name and "alone" in options):
        return
    one, two = (ds.Simulation(world, ds.TimeStepping(**given)) for _ in range(2))
    agree(one, in_python(two), 12, False, closes="joints" not in SCHEMES[options])


@pytest.mark.parametrize("law", ["newton", "poisson", "poisson-shortcut"])
@pytest.mark.parametrize("planar", [True, False])
def test_collisions_beside_joints_are_asked_for_by_the_loop(planar, law):
    method = ds.TimeStepping(restitution=law, halvings=0)
    one, two = (ds.Simulation(dropped(planar, 0.6), method) for _ in range(2))
    assert agree(one, in_python(two), 12, False) > 0


def test_friction_that_differs_by_direction_beside_joints():
    skate = ds.TimeStepping(cone=ds.EllipticCone((1.0, 0.1), 0.3))
    one, two = (ds.Simulation(towed(), skate) for _ in range(2))
    agree(one, in_python(two), 12, False)
    slid = one.contacts["impulse"]
    assert (one.contacts["state"] == "slip").any()
    assert np.abs(slid[:, :2]).max() > 0.0


@pytest.mark.parametrize("planar", [True, False])
def test_projection_moves_bodies_back_by_the_least_in_the_metric_of_the_mass(planar):
    """Against the least squares of dense algebra, with joints that hold something twice."""
    world = ds.scene("four-bar", planar=planar).world
    sim = ds.Simulation(world, ds.TimeStepping(joints="project", dt=1 / 60))
    free = ds.Simulation(world, ds.TimeStepping(joints="velocity", dt=1 / 60))
    sim.step(), free.step()
    model, joints, dim = sim.model, sim.model.joints, sim.model.dim
    here, after = free.state, sim.state
    rows = joint_rows(joints, here, free_coordinates(joints, here))
    J = np.zeros((joints.nr, model.nb, model.dof))
    for r, pair in enumerate(rows.body):
        for side, b in enumerate(pair):
            if b >= 0:
                J[r, b] += rows.J[r, side]
    moves, spin = model.inverse_mass > 0, model.dof - dim
    weight = np.zeros((model.nb, model.dof, model.dof))
    for b in np.flatnonzero(moves):
        weight[b, :dim, :dim] = np.eye(dim) * model.inverse_mass[b]
        turn = rotations(here.orientation)[b]
        own = model.inverse_inertia[b]
        weight[b, dim:, dim:] = turn @ own @ turn.T if spin == 3 else own
    W = np.einsum("rbi,bij,sbj->rs", J, weight, J)
    x = np.linalg.lstsq(W, -rows.error, rcond=1e-9)[0]
    move = np.einsum("bij,sbj,s->bi", weight, J, x)[:, :dim]
    assert free.report.joint_error > 1e-5
    assert sim.report.joint_error < 1e-9
    size = np.abs(move).max()
    assert np.allclose(after.position - here.position, move, rtol=0, atol=0.02 * size)


def test_a_chain_is_solved_by_sweeps_alone_to_what_they_promise():
    """Many sweeps, none of them in Python; against the factors of W."""
    scene = {"links": 6}
    plain = ds.scene("chain", **scene).simulation()
    method = ds.TimeStepping(dt=plain.method.dt, solver="nsgs", tol=1e-11, halvings=0)
    sim = ds.Simulation(ds.scene("chain", **scene).world, method)
    for _ in range(20):
        report = sim.step()
        plain.step()
        assert report.methods == ("nsgs",)
        assert report.iterations > 20
        assert report.joint_error < 1e-9
    assert np.allclose(sim.state.velocity, plain.state.velocity, rtol=0, atol=1e-6)


@pytest.mark.parametrize("planar", [True, False])
def test_sweeps_alone_beside_contacts_end_where_all_methods_do(planar):
    """To the tolerance, and without help from Python."""
    one, two = (
        ds.Simulation(dropped(planar), ds.TimeStepping(solver=solver, halvings=0))
        for solver in ("nsgs", "auto")
    )
    for _ in range(15):
        report = one.step()
        two.step()
        assert report.methods == ("nsgs",)
        assert report.residual <= one.method.tol
        assert np.allclose(one.state.velocity, two.state.velocity, rtol=0, atol=1e-4)


@pytest.mark.parametrize("solver", ["newton", "apgd"])
def test_a_solver_that_is_asked_answers_for_joints_and_contacts(solver):
    """One stage leaves the loop, whatever solver is named; its name is in the report."""
    method = ds.TimeStepping(solver=solver, tol=1e-7, halvings=0)
    one, two = ds.Simulation(towed(), method), in_python(ds.Simulation(towed(), method))
    for _ in range(5):
        report = one.step()
        two.step()
        assert one.stepper.jointed
        assert report.ok
        assert report.methods == (solver,)
        assert np.allclose(one.state.velocity, two.state.velocity, rtol=0, atol=1e-9)


def test_soft_fingers_brake_a_spin_beside_joints():
    """A joined pair that spins on the ground: torsional friction mu R N of every contact slows it,
    where points without it would let a sphere turn on."""

    def made(cone):
        world = ds.World()
        world.add_ground(friction=0.5)
        world.add_body(
            ds.Sphere(0.1), name="ball", mass=1.0, position=(0, 0, 0.1), friction=0.5,
            angular_velocity=(0, 0, 20.0),
        )  # fmt: skip
        world.add_body(ds.Sphere(0.05), name="top", mass=1e-6, position=(0, 0, 0.3), layer=7)
        world.add_joint(ds.Weld("top", "ball", anchor=(0, 0, 0.2)))
        return ds.Simulation(world, ds.TimeStepping(cone=cone))

    soft, hard = made(ds.SoftFingerCone(0.01)), made("circular")
    soft.run(0.2), hard.run(0.2)
    inertia = float(soft.model.inertia[soft.model.names.index("ball"), 2, 2])
    slowed = 0.5 * 0.01 * 9.81 / inertia * 0.2
    assert soft.body("ball").angular_velocity[2] == pytest.approx(20.0 - slowed, rel=1e-3)
    assert hard.body("ball").angular_velocity[2] == pytest.approx(20.0, rel=1e-6)
    assert soft.report.joint_error < 1e-9


number = st.floats(-1.0, 1.0, allow_subnormal=False)


@settings(deadline=None, derandomize=True, max_examples=15)
@given(st.data())
def test_a_floating_tree_keeps_its_momentum_and_its_joints(data):
    """Impulses of joints come in pairs: nothing from outside, nothing to it."""
    n = data.draw(st.integers(2, 7))
    world = ds.World(planar=True, gravity=(0, 0))
    for k in range(n):
        place, spin = data.draw(st.tuples(number, number)), data.draw(number)
        mass = 10.0 ** data.draw(st.floats(-1.0, 1.0))
        velocity = data.draw(st.tuples(number, number))
        world.add_body(
            ds.Disk(0.1), name=f"b{k}", mass=mass, position=place, velocity=velocity,
            angular_velocity=spin, layer=(),
        )  # fmt: skip
        if k:
            parent = data.draw(st.integers(0, k - 1))
            kind = data.draw(st.sampled_from([ds.Pin, ds.Weld]))
            anchor = data.draw(st.tuples(number, number))
            world.add_joint(kind(f"b{k}", f"b{parent}", anchor=anchor))
    sim = ds.Simulation(world)
    mass = sim.model.mass[:, None]
    before = (mass * sim.state.velocity[:, :2]).sum(axis=0)
    scale = float((mass * np.abs(sim.state.velocity[:, :2])).sum()) + 1e-9
    for _ in range(20):
        assert sim.step().joint_error < 1e-6
    after = (mass * sim.state.velocity[:, :2]).sum(axis=0)
    assert np.abs(after - before).max() <= 1e-9 * scale
