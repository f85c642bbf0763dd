"""What is driven where it cannot go: motors stall, bodies stay where they are, and it is said."""

import warnings

import numpy as np
import pytest
from scipy.optimize import linprog

import drystone as ds

BOTH = pytest.mark.parametrize("planar", [True, False], ids=["planar", "spatial"])


class Kit:
    """Boxes of 0.2 m, in the plane or in space."""

    def __init__(self, planar, friction=0.5, ground=True):
        self.planar, self.friction = planar, friction
        self.world = ds.World(planar=planar)
        if ground:
            self.world.add_ground(friction=friction)

    def at(self, x, z):
        return (x, z) if self.planar else (x, 0, z)

    def box(self, name, x, z, a=0.2, b=0.2, **more):
        shape = ds.Rectangle(a, b) if self.planar else ds.Box(a, a, b)
        more = {"friction": self.friction} | ({} if "fixed" in more else {"density": 1000}) | more
        self.world.add_body(shape, name=name, position=self.at(x, z), **more)

    def slide(self, body, way, speed, name="drive", **more):
        motor = ds.Motor(speed=speed)
        self.world.add_joint(
            ds.Slider(body, "world", axis=self.at(*way), motor=motor, name=name, **more)
        )


def ram(planar, speed=2.0, blocks=1, friction=0.5):
    kit = Kit(planar, friction)
    kit.box("ram", 0.0, 0.15)
    for k in range(blocks):
        kit.box(f"block{k}", 0.25 + 0.2 * k, 0.1)
    kit.box("wall", 0.3 + 0.2 * blocks + 0.03, 1.0, 0.2, 2.0, fixed=True)
    kit.slide("ram", (1, 0), speed)
    return kit.world


def hinge(planar, speed=2.0):
    kit = Kit(planar, ground=False)
    shape = ds.Rectangle(1.0, 0.1) if planar else ds.Box(1.0, 0.1, 0.1)
    kit.world.add_body(shape, name="arm", position=kit.at(0.5, 0), density=1000, friction=0.5)
    kit.box("stop", 0.8, 0.3, fixed=True)
    joint, axis = (ds.Pin, {}) if planar else (ds.Hinge, {"axis": (0, -1, 0)})
    motor = ds.Motor(speed=speed)
    kit.world.add_joint(
        joint("arm", "world", anchor=kit.at(0, 0), motor=motor, name="drive", **axis)
    )
    return kit.world


def press(planar, count=3, speed=0.5):
    kit = Kit(planar)
    for k in range(count):
        kit.box(f"b{k}", 0.01 * (k % 2), 0.1 + 0.2 * k)
    top = 0.2 * count + 0.11
    kit.box("head", 0.0, top, 0.4)
    kit.slide("head", (0, -1), speed)
    return kit.world


def stopped(planar, speed=1.0):
    kit = Kit(planar, ground=False)
    kit.box("cart", 0.0, 0.0)
    kit.slide("cart", (1, 0), speed, limits=(-10.0, 0.1))
    return kit.world


def steps(world, count, dt=1 / 240, **options):
    sim = ds.Simulation(world, ds.TimeStepping(dt=dt, **options))
    return sim, [sim.step() for _ in range(count)]


def possible(sim):
    """Whether any velocities obey joints, motors and contacts (without friction) of the last step:
    Farkas' lemma by a linear program, r_n >= 0 with W r = 0 and q.r < 0."""
    problem = sim.problem()
    d, n = problem.dim, problem.dim * problem.nc
    W, q = problem.W.toarray(), problem.q
    assert W.shape == (q.size, q.size)
    bounds = [(-1, 1)] * q.size
    bounds[:n] = [(0, 1) if i % d == 0 else (0, 0) for i in range(n)]
    scale = np.sqrt(np.maximum(np.diag(W), 1e-30))
    found = linprog(
        q / scale, A_eq=W / np.outer(scale, scale), b_eq=np.zeros(q.size), bounds=bounds
    )
    assert found.status == 0
    return found.fun > -1e-6 * np.abs(q / scale).max()


CASES = {
    "ram": (ram, 60, "ram", (0.13, 0.15)),
    "hinge": (hinge, 60, "arm", None),
    "press": (press, 30, "head", (0.0, 0.7)),
    "stop": (stopped, 60, "cart", (0.1, 0.0)),
}


@BOTH
@pytest.mark.parametrize("case", CASES)
def test_a_motor_without_a_limit_stalls_where_it_cannot_go(case, planar):
    make, count, body, place = CASES[case]
    sim, reports = steps(make(planar), count)
    jammed = [report.status is ds.Status.JAMMED for report in reports]
    first = jammed.index(True)
    assert all(report.ok for report in reports[:first])
    assert all(jammed[first:]), "for as long as it pushes"
    assert {report.jammed for report in reports[first:]} == {("drive",)}
    assert all(
        "the motor of joint 'drive' is jammed" in report.log[0] for report in reports[first:]
    )
    assert np.abs(sim.state.velocity).max() < 1e-6, "all is at rest"
    assert sim.summary.depth < 2e-6, "and nothing in anything: the turn of a step is of order h^2"
    if place is not None:
        x = sim.body(body).position
        assert x[[0, -1]] == pytest.approx(place, abs=1e-6)
    assert max(report.joint_error for report in reports) < 1e-9
    assert all(report.energy.closes for report in reports)
    assert max(report.iterations for report in reports) < 1000
    assert "stall" in sim.report.methods


@BOTH
def test_a_linear_program_finds_the_same_steps_impossible(planar):
    sim = ds.Simulation(ram(planar), ds.TimeStepping())
    found = set()
    for _ in range(16):
        report = sim.step()
        if report.contacts:
            found.add(report.status)
            assert possible(sim) == report.ok
    assert found == {ds.Status.SOLVED, ds.Status.JAMMED}


@BOTH
@pytest.mark.parametrize(("left", "right"), [(1.0, 1.0), (0.5, 2.0), (2.0, 0.25)])
def test_two_motors_against_each_other_take_the_mean(planar, left, right):
    """Least squares of what both lack of their speeds, equal carts: the mean of what they ask."""
    kit = Kit(planar)
    for name, x, way, speed in (("a", -0.15, 1, left), ("b", 0.15, -1, right)):
        kit.box(name, x, 0.12)
        kit.slide(name, (way, 0), speed, name=f"drives {name}")
    sim, reports = steps(kit.world, 40)
    assert sim.report.status is ds.Status.JAMMED
    assert set(sim.report.jammed) == {"drives a", "drives b"}
    mean = 0.5 * (left - right)
    for name in "ab":
        assert sim.body(name).velocity[0] == pytest.approx(mean, abs=1e-5)
    assert sim.summary.depth < 1e-8
    assert all(report.energy.closes for report in reports)


@BOTH
def test_the_other_motors_of_an_island_keep_their_speeds(planar):
    kit = Kit(planar, ground=False)
    kit.box("cart", 0.0, 0.0)
    kit.box("rider", 0.0, 0.3)
    kit.slide("cart", (1, 0), 1.0, limits=(-1, 0.05))
    kit.world.add_joint(
        ds.Slider("rider", "cart", axis=kit.at(1, 0), motor=ds.Motor(speed=-0.5), name="free")
    )
    sim, _ = steps(kit.world, 40)
    assert sim.report.jammed == ("drive",)
    assert sim.body("cart").velocity[0] == pytest.approx(0.0, abs=1e-6)
    assert sim.body("rider").velocity[0] == pytest.approx(-0.5, abs=1e-6)


@BOTH
def test_a_heavy_load_is_no_jam(planar):
    """A motor on a light cart moves one that is 100 times as heavy, against friction."""
    kit = Kit(planar, friction=0.3)
    kit.box("cart", 0.0, 0.11, density=100.0)
    kit.box("load", 0.2, 0.1, density=1e4)
    kit.slide("cart", (1, 0), 0.5)
    sim, reports = steps(kit.world, 20)
    assert all(report.ok for report in reports)
    assert sim.body("load").velocity[0] == pytest.approx(0.5, rel=1e-5)


def squeeze(planar, count=1, speed=0.5, friction=0.5, balls=False, sideways=False):
    """Bodies between a head whose motion is prescribed and the ground, or a wall."""
    kit = Kit(planar, friction)
    for k in range(count):
        x, z = (0.25 + 0.2 * k, 0.1) if sideways else (0.0, 0.1 + 0.2 * k)
        if balls:
            ball = ds.Disk(0.1) if planar else ds.Sphere(0.1)
            kit.world.add_body(ball, name=f"b{k}", position=kit.at(x, z), friction=friction)
        else:
            kit.box(f"b{k}", x, z)
    if sideways:
        kit.box("wall", 0.25 + 0.2 * count + 0.05, 1.0, 0.2, 2.0, fixed=True)
    velocity = kit.at(speed, 0) if sideways else kit.at(0, -speed)
    place = (0.04, 0.15) if sideways else (0.0, 0.2 * count + 0.1123)
    kit.box("head", *place, 0.2, motion=ds.ConstantVelocity(velocity=velocity))
    return kit.world


@BOTH
@pytest.mark.parametrize(("case", "dt", "options"), [
    ({}, 1 / 240, {}),
    ({"count": 2}, 1 / 240, {}),
    ({"count": 2, "friction": 0.0, "speed": 2.0}, 1 / 100, {}),
    ({"balls": True, "speed": 5.0}, 1 / 1000, {}),
    ({"balls": True, "count": 2, "friction": 0.0}, 1 / 60, {}),
    ({"sideways": True}, 1 / 60, {}),
    ({"sideways": True, "count": 2, "speed": 3.0}, 1 / 240, {}),
    ({"sideways": True, "count": 2, "balls": True}, 1 / 100, {}),
    ({"speed": 0.05}, 1 / 60, {}),
    ({"count": 2}, 1 / 100, {"cone": 4}),
    ({"count": 2}, 1 / 100, {"order": 2}),
    ({}, 1 / 100, {"solver": "nsgs"}),
], ids=str)  # fmt: skip
def test_a_motion_that_is_prescribed_passes_through_and_throws_nothing(planar, case, dt, options):
    """It goes on, into what it squeezes and out of it again. What was in it is left behind, no
    faster than a ball that rebounds from it. Before, it left at penetration / dt."""
    speed, count = case.get("speed", 0.5), case.get("count", 1)
    world = squeeze(planar, **case)
    sim = ds.Simulation(world, ds.TimeStepping(dt=dt, **options))
    free = [i for i, name in enumerate(sim.model.names) if name.startswith("b")]
    start, bad, deep, fastest = sim.state.position[free], [], 0.0, 0.0
    for _ in range(int((0.2 * count + 0.3) / speed / dt)):
        report = sim.step()
        assert report.energy.closes
        deep = max(deep, report.penetration)
        fastest = max(fastest, np.abs(sim.state.velocity[free, : sim.model.dim]).max())
        bad += [] if report.ok else [report]
    assert {report.status for report in bad} == {ds.Status.JAMMED}
    assert {report.jammed for report in bad} == {("head",)}
    assert "the motion of body 'head' is jammed" in bad[0].log[0]
    assert deep > 0.08, "it passed their middle"
    assert fastest < 2.0 * speed + 9.81 * dt
    if not case.get("sideways"):
        assert sim.state.position[free] == pytest.approx(start, abs=0.02)
    assert np.abs(sim.state.velocity[free]).max() < 0.1 * speed, "it is past them, and they rest"
    assert "head" in sim.summary.deepest, "what is left of it is counted as depth"
    assert sim.summary.deep > 0
    assert sim.summary.jammed == len(bad)


@BOTH
def test_a_motion_that_ends_inside_another_body_and_returns_leaves_it_where_it_is(planar):
    """A jam, then a head that stands in a block, then one that goes back at another speed."""
    kit = Kit(planar)
    kit.box("b0", 0.0, 0.1)
    way = ds.Waypoints([0, 0.2, 0.5, 1.0], [kit.at(0, z) for z in (0.32, 0.26, 0.26, 0.5)])
    head = ds.Rectangle(0.4, 0.2) if planar else ds.Box(0.4, 0.4, 0.2)
    kit.world.add_body(head, name="head", motion=way, friction=0.5)
    sim, reports = steps(kit.world, 264)
    body = sim.body("b0")
    assert {report.status for report in reports} == {ds.Status.SOLVED, ds.Status.JAMMED}
    assert max(report.penetration for report in reports) == pytest.approx(0.04, abs=1e-3)
    assert reports[100].ok, "it stands: no force is in vain, and its depth is counted"
    assert body.position[-1] == pytest.approx(0.1, abs=1e-6)
    assert np.abs(body.velocity).max() < 1e-6
    assert sim.report.penetration < 1e-9


@BOTH
@pytest.mark.parametrize("first", ["plate", "free"])
def test_overlap_with_a_plate_that_stands_is_undone_as_fast_as_weight_closes_it(planar, first):
    """Its motion is prescribed, and it does not move: what lies in it approaches at g h in a step,
    and leaves no faster, whichever of the two was added first."""
    kit = Kit(planar)
    rests = ds.ConstantVelocity(velocity=kit.at(0, 0))
    bodies = {
        "plate": lambda: kit.box("plate", 0.0, 1.0, 0.4, motion=rests),
        "free": lambda: kit.box("free", 0.0, 1.2),
    }
    for name in sorted(bodies, key=lambda name: name != first):
        bodies[name]()
    sim = ds.Simulation(kit.world, ds.TimeStepping(dt=1 / 240))
    sim.step()
    rested = sim.body("free").position[-1]
    sim.state.position[sim.index("free"), -1] -= 0.005
    fastest = 0.0
    for _ in range(80):
        sim.step()
        fastest = max(fastest, np.abs(sim.body("free").velocity).max())
    assert 0.0 < fastest < 9.81 / 240 * (1 + 1e-9)
    assert sim.body("free").position[-1] == pytest.approx(rested, abs=1e-8)


@BOTH
def test_a_motion_that_jams_ends_a_run_that_is_to_raise(planar):
    sim = ds.Simulation(squeeze(planar), ds.TimeStepping(dt=1 / 240))
    with pytest.warns(ds.StepWarning, match=r"not solved \(jammed: 'head'\)"):
        sim.run(0.2)
    with pytest.raises(
        ds.SimulationError, match="motion of body 'head' is jammed between 'ground' and"
    ):
        sim.run(0.1, on_failure="raise")


@pytest.mark.parametrize("options", [
    {"formulation": "convex"}, {"order": 2},
    {"joints": "stabilize"}, {"warm_start": False},
], ids=str)  # fmt: skip
def test_whatever_the_options(options):
    sim, reports = steps(ram(False), 24, **options)
    assert max(report.iterations for report in reports) < 600
    assert sim.report.status is ds.Status.JAMMED
    assert sim.report.jammed == ("drive",)
    assert np.abs(sim.state.velocity).max() < 1e-4
    assert sim.body("ram").position[0] == pytest.approx(0.13, abs=1e-5)
    assert sim.summary.depth < 1e-6


@BOTH
@pytest.mark.parametrize(("case", "count"), [("ram", 18), ("hinge", 22), ("press", 7)])
@pytest.mark.parametrize("options", [
    {"solver": "nsgs"}, {"solver": "newton"}, {"cone": 4}, {"cone": 6, "solver": "lemke"},
], ids=str)  # fmt: skip
def test_a_named_solver_names_jams_too(case, count, planar, options):
    """Whether anything can move does not depend on the solver. Nor does the effort to find out: the
    rest are iterations of the solver itself, before it gives up."""
    make, _, _, _ = CASES[case]
    sim, reports = steps(make(planar), count, **options)
    jammed = [report.status is ds.Status.JAMMED for report in reports]
    first = jammed.index(True)
    assert all(report.ok for report in reports[:first])
    assert all(jammed[first:])
    assert {report.jammed for report in reports[first:]} == {("drive",)}
    assert np.abs(sim.state.velocity).max() < 1e-6
    assert sim.summary.depth < 2e-6
    most = 21_000 if options.get("solver") == "nsgs" else 6000
    assert max(report.iterations for report in reports) < most


def heap(count, shape, speed=0.5, seed=0, prescribed=False):
    """A piston without a force limit, or with a prescribed motion, above a heap between walls; the
    heap rests after 0.1 s."""
    world = ds.World(planar=True)
    world.add_ground(friction=0.3)
    for side, name in ((-0.6, "left"), (0.6, "right")):
        wall = ds.Rectangle(0.2, 4)
        world.add_body(wall, position=(side, 2), fixed=True, friction=0.3, name=name)
    rng = np.random.default_rng(seed)
    for k in range(count):
        x = -0.4 + 0.2 * (k % 5) + 0.003 * rng.normal()
        size = 0.095 * (1 - 0.1 * rng.random())
        grain = ds.Disk(size) if shape == "disk" else ds.Rectangle(0.16, 0.15)
        place = (x, 0.096 + 0.1938 * (k // 5))
        world.add_body(grain, position=place, friction=0.3, name=f"g{k}")
    top = 0.1938 * ((count - 1) // 5 + 1) + 0.3
    given = {"motion": ds.ConstantVelocity((0, -speed))} if prescribed else {"mass": 5}
    world.add_body(ds.Rectangle(0.98, 0.2), position=(0, top), friction=0.3, name="piston", **given)
    if prescribed:
        return world
    motor = ds.Motor(speed=-speed)
    world.add_joint(ds.Slider("piston", "world", axis=(0, 1), motor=motor, name="drive"))
    return world


@pytest.mark.parametrize(("count", "shape", "options"), [
    (25, "disk", {}), (12, "disk", {}), (20, "box", {}), (25, "disk", {"cone": 4}),
], ids=str)  # fmt: skip
def test_a_piston_that_crushes_a_heap_stalls(count, shape, options):
    """Before, islands counted as solved with impulses of 10^10 N s, and disks left at 10^6 m/s."""
    sim, reports = steps(heap(count, shape), 190 if shape == "box" else 170, **options)
    jammed = [report.status is ds.Status.JAMMED for report in reports]
    assert sum(jammed) >= 5
    assert all(report.ok or jams for report, jams in zip(reports, jammed, strict=True))
    assert {report.jammed for report in reports if report.jammed} == {("drive",)}
    assert sim.summary.depth < 1e-6
    assert np.abs(sim.state.velocity[:, :2]).max() < 3.0
    inside = np.abs(sim.state.position[4:, 0]) < 0.5
    assert inside.all()


@pytest.mark.parametrize(("seed", "speed", "dt"), [
    (0, 0.5, 1 / 60), (1, 0.5, 1 / 240), (1, 2.0, 1 / 60), (2, 5.0, 1 / 240),
], ids=str)  # fmt: skip
def test_a_prescribed_piston_that_crushes_a_heap_throws_nothing(seed, speed, dt):
    """Before, disks that it pressed out between others left at up to 400 times its speed."""
    sim = ds.Simulation(heap(12, "disk", speed, seed, True), ds.TimeStepping(dt=dt))
    bad, fastest = [], 0.0
    for _ in range(int(1.0 / speed / dt)):
        report = sim.step()
        assert report.energy.closes
        fastest = max(fastest, np.abs(sim.state.velocity[4:-1, :2]).max())
        bad += [] if report.ok else [report]
    assert {report.status for report in bad} == {ds.Status.JAMMED}
    assert {report.jammed for report in bad} == {("piston",)}
    assert fastest < 15.0 * speed
    told = any("would throw what it meets" in report.log[0] for report in bad)
    assert told or seed != 1


@BOTH
def test_a_lever_may_move_far_faster_than_what_pushes_it(planar):
    """A pin 40 mm from the hinge of a bar of 1 m: its end has 20 times the speed, and no jam."""
    kit = Kit(planar, ground=False, friction=0.0)
    shape = ds.Rectangle(1.0, 0.02) if planar else ds.Box(1.0, 0.02, 0.02)
    kit.world.add_body(shape, name="bar", position=kit.at(0.5, 0), mass=1.0, friction=0.0)
    joint, axis = (ds.Pin, {}) if planar else (ds.Hinge, {"axis": (0, 1, 0)})
    kit.world.add_joint(joint("bar", "world", anchor=kit.at(0, 0), **axis))
    ball = ds.Disk(0.02) if planar else ds.Sphere(0.02)
    up = ds.ConstantVelocity(velocity=kit.at(0, 2.0))
    kit.world.add_body(ball, name="pin", position=kit.at(0.04, -0.031), friction=0.0, motion=up)
    sim, reports = steps(kit.world, 3, dt=1 / 240)
    assert all(report.ok for report in reports)
    assert np.abs(sim.state.velocity).max() > 40.0, "rad/s"


@BOTH
def test_runs_say_so_and_recordings_keep_it(planar, tmp_path):
    world = ram(planar)
    one, reports = steps(world, 24)
    many = ds.Simulation(world, ds.TimeStepping(dt=1 / 240))
    with pytest.warns(ds.StepWarning, match=r"not solved \(jammed: 'drive'\)"):
        many.run(0.1, record=tmp_path / "jam.h5")
    assert (one.state.position == many.state.position).all()
    count = sum(report.status is ds.Status.JAMMED for report in reports)
    assert many.summary.jammed == many.summary.unsolved == count > 0
    assert many.summary.stalled == ("drive",)
    assert one.summary == many.summary
    assert many.report.jammed == ("drive",)
    assert one.report.iterations == many.report.iterations, "a step knows nothing of earlier jams"
    with ds.read_recording(tmp_path / "jam.h5") as kept:
        assert kept.summary == many.summary
        last = kept.reports(len(kept.time) - 1)
        assert (last.status, last.jammed) == (ds.Status.JAMMED, ("drive",))
    sim = ds.Simulation(world, ds.TimeStepping(on_failure="raise"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ds.StepWarning)
        with pytest.raises(ds.SimulationError, match="motor of joint 'drive' is jammed between"):
            sim.run(0.2)
