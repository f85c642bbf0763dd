"""Loops of hinges in space hold themselves many times over: they move as their twins in the plane,
as closed forms say, or as energy says, whatever their heading."""

import contextlib
from dataclasses import replace

import numpy as np
import pytest

import drystone as ds
from tests.steppers.time_stepping.linkages import (
    bars,
    bennett,
    bricard,
    chain,
    four_bar,
    heading,
    in_time,
    moving_sarrus,
    random_loop,
    sarrus,
    steps,
    turned,
)

PARALLELOGRAM = [(0, 0), (0.1, 0.49), (1.1, 0.49), (1, 0)]
SIX = [(0, 0), (-0.3, 0.6), (0.1, 1.1), (0.9, 1.1), (1.3, 0.6), (1, 0)]


def closed(reports, error=1e-9):
    assert all(report.ok for report in reports)
    assert max(report.joint_error for report in reports) < error
    assert max(abs(report.energy.unexplained) for report in reports) < 1e-11


def in_space(places):
    return np.stack([places[:, :, 0], 0 * places[:, :, 0], places[:, :, 1]], axis=2)


def like_its_twin(corners, n, turn, near=1e-7, motor=None, **options):
    """Hinges in space against pins in the plane, which hold nothing twice."""
    plane, _, _ = steps(bars(corners, motor=motor), n, **options)
    space, reports, _ = steps(bars(corners, turn, motor), n, turn, **options)
    closed(reports)
    assert {report.redundant for report in reports} == {3}
    assert np.abs(plane[-1] - plane[0]).max() > 0.1
    np.testing.assert_allclose(space, in_space(plane), atol=near)


@pytest.mark.parametrize("angle", [0.4727, 0.75])
def test_a_four_bar_falls_as_in_the_plane(angle):
    like_its_twin(four_bar(angle), 200, np.eye(3))


def test_a_four_bar_falls_as_in_the_plane_at_any_heading():
    like_its_twin(four_bar(0.4727), 200, heading(1))


@pytest.mark.parametrize("options", [{"order": 2}, {"dt": 0.01}, {"joints": "project"}])
def test_so_it_does_however_it_is_stepped(options):
    like_its_twin(four_bar(0.6), 90, heading(2), **options)


@pytest.mark.parametrize("force", [np.inf, 1e5])
def test_a_motor_turns_a_parallelogram_at_any_heading(force):
    """Through its dead points; bars that are opposite stay parallel."""
    motor = ds.Motor(speed=4.0, max_force=force)
    turn = turned((0, 0, 1), 0.5)
    places, reports, _ = steps(bars(PARALLELOGRAM, turn, motor), 240, turn)
    closed(reports)
    start = np.arctan2(0.49, 0.1)
    angle = start + 4.0 / 240 * np.arange(1, 241)
    crank = 0.25 * np.hypot(0.1, 0.49) * 2 * np.stack([np.cos(angle), np.sin(angle)], 1)
    np.testing.assert_allclose(places[:, 0][:, [0, 2]], crank, atol=1e-8)
    np.testing.assert_allclose(places[:, 2][:, [0, 2]] - (1.0, 0.0), crank, atol=1e-8)


def test_a_six_bar_falls_as_in_the_plane():
    like_its_twin(SIX, 60, heading(5))


def test_a_ball_among_three_hinges_changes_nothing():
    plane, _, _ = steps(bars(four_bar(0.6)), 150)
    space, reports, _ = steps(bars(four_bar(0.6), heading(3), ball=2), 150, heading(3))
    closed(reports)
    assert {report.redundant for report in reports} == {1}
    np.testing.assert_allclose(space, in_space(plane), atol=1e-7)


@pytest.mark.parametrize("linkage", [bennett, bricard])
def test_linkages_that_move_against_the_count_fall(linkage):
    """Each has one way to move: where joints are closed and energy is kept, it moves rightly."""
    here, reports, energies = steps(chain(*linkage(), np.eye(3)), 120, order=2)
    closed(reports)
    assert reports[-1].energy.kinetic > 0.1
    assert np.abs(energies - energies[0]).max() < 1e-5
    turn = heading(7)
    there, _, _ = steps(chain(*linkage(), turn), 120, turn, order=2)
    np.testing.assert_allclose(there, here, atol=1e-8)


def test_a_motor_drives_a_bennett_linkage():
    turn = heading(8)
    world = chain(*bennett(), turn, motor=ds.Motor(speed=1.0))
    sim = ds.Simulation(world, ds.TimeStepping())
    first = sim.body("bar0").position
    reports = [sim.step() for _ in range(120)]
    closed(reports)
    spin = sim.body("bar0").angular_velocity
    np.testing.assert_allclose(np.linalg.norm(spin), 1.0, atol=1e-9)
    assert np.linalg.norm(sim.body("bar0").position - first) > 0.1


def test_a_motor_of_any_force_at_the_end_of_a_stroke_is_named():
    """Bricard's linkage ends where cos(t) = -cos(angle) / (1 + cos(angle)) is -1: at 2 pi / 3."""
    angle, speed = 0.8, 1.5
    sim = ds.Simulation(chain(*bricard(angle), heading(5), ds.Motor(speed=speed)))
    with pytest.raises(ds.SimulationError, match="a motor drives its linkage where it cannot go"):
        sim.run(1.0)
    assert sim.time == pytest.approx((2 * np.pi / 3 - angle) / speed, abs=1 / 240)


def test_a_sarrus_linkage_goes_straight_through_the_state_in_which_it_is_flat():
    """Its plate keeps its heading; in one plane, its joints hold less than elsewhere."""
    turn = heading(4)
    places, reports, energies = steps(chain(*sarrus(), turn), 110, turn)
    closed(reports)
    plate = places[:, 2]
    np.testing.assert_allclose(plate[:, :2], [[0.25, 0.25]] * 110, atol=1e-7)
    assert plate[0, 2] > 0.7
    assert plate[-1, 2] < -0.05
    assert np.abs(energies / energies[0] - 1).max() < 0.02


@pytest.mark.parametrize(("dt", "n", "most"), [(1 / 240, 1400, 0.005), (1 / 100, 600, 0.03)])
def test_steps_that_are_divided_keep_their_energy(dt, n, most):
    """A Sarrus linkage whips through each time its legs are straight, in steps that are divided:
    velocities stay half a part behind the positions, and forces act for so long."""
    sim = ds.Simulation(chain(*sarrus(), np.eye(3)), ds.TimeStepping(dt=dt))
    start, divided, left, size = in_time(sim), 0, 0.0, 0.0
    for _ in range(n):
        report = sim.step()
        divided += report.retries > 0
        size = max(size, report.energy.kinetic)
        if report.retries == 0:
            left = in_time(sim) - start
    assert divided > 20
    assert abs(left) < most * size


@pytest.mark.parametrize(
    ("angle", "length", "dt", "order", "n"),
    [(0.44, 0.44, 1 / 100, 2, 400), (0.59, 0.63, 1 / 80, 1, 900), (1.2, 0.32, 1 / 60, 2, 300)],
)
def test_joints_stay_closed_where_long_steps_pass_the_singular_state(angle, length, dt, order, n):
    """On one side of it the rows that are singular there pull, on the other they push."""
    for seed in range(72, 75):
        turn = heading(seed)
        world = chain(*sarrus(angle, length), turn)
        places, reports, energies = steps(world, n, turn, dt=dt, order=order)
        closed(reports, 1e-7)
        np.testing.assert_allclose(places[:, 2, :2], 0.25, atol=1e-5)
        passed = np.diff(np.sign(places[:, 2, 2])) != 0
        assert passed.sum() > 5
        size = max(report.energy.kinetic for report in reports)
        assert np.abs(np.diff(energies[1:])[passed]).max() < 0.01 * size


@pytest.mark.parametrize(("dt", "order"), [(1 / 100, 1), (1 / 100, 2), (1 / 240, 1)])
@pytest.mark.parametrize("target", [0.0, 1e-7, -1e-5])
def test_a_step_that_ends_in_the_singular_state_goes_on(dt, order, target):
    """A flat Sarrus linkage may also fold its legs and leave its plate where it is: the rows that
    forbid this are of no use there, and it goes on as it came."""
    turn, rate, n = heading(100), 5.0, 3

    def start(angle):
        sim = moving_sarrus(angle, rate, turn, dt=dt, order=order)
        for _ in range(n):
            sim.step()
        return sim, (sim.state.position @ turn)[2, 2] - target

    angles = [-rate * n * dt, 1e-3 - rate * n * dt]
    heights = [start(angle)[1] for angle in angles]
    for _ in range(4):
        slope = (heights[-1] - heights[-2]) / (angles[-1] - angles[-2])
        if abs(heights[-1]) < 1e-7 or slope == 0.0:
            break
        angles.append(angles[-1] - heights[-1] / slope)
        heights.append(start(angles[-1])[1])
    # beside the singular state heights jump by 5e-5, by the rows that a step is solved with
    found = [start(angle) for angle in angles[-1] + np.linspace(-1.2e-4, 1.2e-4, 25)]
    sim, height = min(found, key=lambda one: abs(one[1]))
    assert abs(height) < 1e-5
    before, kinetic = in_time(sim), sim.energy[0]
    reports = [sim.step() for _ in range(3)]
    closed(reports)
    plate = (sim.state.position @ turn)[2]
    assert plate[2] > 2.5 * dt * rate
    np.testing.assert_allclose(plate[:2], 0.25, atol=1e-7)
    assert abs(in_time(sim) - before) < 0.01 * kinetic


@pytest.mark.parametrize("n", [7, 8])
def test_random_closed_chains_keep_their_energy_at_any_heading(n):
    here, reports, energies = steps(random_loop(n, 3, np.eye(3)), 60, order=2)
    closed(reports)
    size = max(report.energy.kinetic for report in reports)
    assert np.abs(energies - energies[0]).max() < 1e-3 * size
    there, _, _ = steps(random_loop(n, 3, heading(n)), 60, heading(n), order=2)
    np.testing.assert_allclose(there, here, atol=1e-7)


def test_a_random_closed_chain_of_six_hinges_stands():
    places, reports, _ = steps(random_loop(6, 1, np.eye(3)), 100)
    closed(reports)
    np.testing.assert_allclose(places, np.broadcast_to(places[0], places.shape), atol=1e-12)


def test_a_divided_step_is_a_part_of_a_snapshot():
    sim = ds.Simulation(chain(*sarrus(), np.eye(3)), ds.TimeStepping(dt=0.01))
    while not sim.step().retries:
        pass
    known = sim.snapshot()
    sim.run(0.1)
    first = sim.state.position.copy()
    sim.restore(known)
    sim.run(0.1)
    assert np.array_equal(sim.state.position, first)


def test_a_named_scheme_is_not_halved_unless_asked_to():
    """A study of drift measures the scheme that it named."""
    corners = four_bar(0.4727)
    for way in ("velocity", "stabilize", "project"):
        _, reports, _ = steps(bars(corners), 160, joints=way)
        assert {report.retries for report in reports} == {0}
    _, reports, _ = steps(bars(corners), 160, joints="velocity", halvings=5)
    assert max(report.retries for report in reports) > 0
    _, reports, _ = steps(bars(SIX), 60, halvings=0)
    assert {report.retries for report in reports} == {0}


@pytest.mark.parametrize("bad", [-1, 13, 1.5, True, "2"])
def test_halvings_are_a_small_count(bad):
    with pytest.raises(ds.OptionError, match="halvings"):
        ds.TimeStepping(halvings=bad)


def folding(links, heavy, light, fold):
    """A body that falls on a folded chain of links, and snaps it taut."""
    world = ds.World(planar=True)
    at, before = np.zeros(2), "world"
    for k in range(links):
        angle = -fold if k % 2 == 0 else fold - np.pi
        along = 0.5 * np.array([np.cos(angle), np.sin(angle)])
        given = {"mass": light, "position": tuple(at + 0.5 * along), "orientation": angle}
        world.add_body(ds.Rectangle(0.5, 0.02), name=f"link{k}", layer=(), **given)
        world.add_joint(ds.Pin(f"link{k}", before, anchor=tuple(at)))
        at, before = at + along, f"link{k}"
    place = (at[0], at[1] - 0.2)
    world.add_body(ds.Rectangle(0.4, 0.4), name="body", mass=heavy, position=place, layer=())
    world.add_joint(ds.Pin("body", before, anchor=tuple(at)))
    return world


@pytest.mark.parametrize(
    ("links", "heavy", "light", "fold", "options"),
    [
        (2, 1000.0, 0.1, 0.3, {}),
        (2, 1000.0, 0.1, 0.8, {}),
        (2, 1000.0, 0.1, 0.3, {"dt": 1 / 100}),
        (3, 1000.0, 0.1, 0.3, {}),
    ],
)
def test_light_links_under_a_heavy_body_make_no_energy(links, heavy, light, fold, options):
    """Taut, the chain would whip through at 100 times the body's speed: no step sees that. What it
    does not see may be lost, never made; or the run ends, with a reason that is one."""
    sim = ds.Simulation(folding(links, heavy, light, fold), ds.TimeStepping(**options))
    start, most, said = sum(sim.energy), 0.0, "too long for what pulls on it"
    for _ in range(int(1.2 / sim.method.dt)):
        try:
            report = sim.step()
        except ds.SimulationError as error:
            said = str(error)
            break
        most = max(most, report.energy.kinetic)
        assert in_time(sim) <= start + 2e-4 * most  # of second order, while links turn faster
        assert abs(report.energy.unexplained) < 1e-7
    assert "too long for what pulls on it" in said
    assert "prescribed" not in said


def test_energy_is_taken_back_as_it_is_when_velocities_are_not_late():
    """Where links whip, each part of a step makes more energy than there is, which is taken back:
    with what gravity gives the velocities that are left, not those before (35 J in a step)."""
    sim = ds.Simulation(folding(2, 1000.0, 0.1, 0.3), ds.TimeStepping(dt=0.01))
    for _ in range(38):
        sim.step()
    before = in_time(sim)
    report = sim.step()
    assert report.retries > 20
    assert report.joint_error < 1e-9
    assert in_time(sim) == pytest.approx(before, abs=1e-3)


@pytest.mark.parametrize(
    ("links", "fold", "options"),
    [(2, 0.3, {}), (2, 0.8, {}), (2, 0.3, {"dt": 0.01}), (3, 0.3, {}), (4, 0.5, {"dt": 1 / 300})],
)
def test_light_links_make_no_energy_by_the_invariant_of_the_scheme(links, fold, options):
    """v_-.M v_+ / 2 + V(x), v the velocities before and after the positions x: what joints change
    of it is the growth of their forces times what a joint would open in a straight step, and the
    pull of a chain that gets taut grows against that. So it never exceeds the start, not even to
    second order. Energy by the late velocities v_- alone exceeds it by h/2 times the power against
    gravity: 6 J of 2421 in the second case, on its way up after a loss of 39 J."""
    sim = ds.Simulation(folding(links, 1000.0, 0.1, fold), ds.TimeStepping(**options))
    start, checked, undivided = sum(sim.energy), 0, True
    model = sim.model
    inertia = np.column_stack([model.mass, model.mass, np.ravel(model.inertia)])
    with contextlib.suppress(ds.SimulationError):
        for _ in range(int(1.2 / sim.method.dt)):
            before, height = sim.state.velocity.copy(), sim.energy[1]
            whole = sim.step().retries == 0
            if whole and undivided:
                kinetic = 0.5 * float((inertia * before * sim.state.velocity).sum())
                assert kinetic + height <= start + 1e-12 * abs(start)
                checked += 1
            undivided = whole
    assert checked > 30


def test_the_energy_of_a_throw_is_constant_by_its_own_velocities():
    """Without joints that sum is constant; late velocities change it by h/2 times the power."""
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1), mass=3.0, position=(0, 0), velocity=(1.0, 4.0))
    sim = ds.Simulation(world)
    h, pull = sim.method.dt, 3.0 * 9.81
    first = None
    for _ in range(300):
        before, (kinetic, height) = sim.state.velocity[-1, :2].copy(), sim.energy
        sim.step()
        total = 0.5 * 3.0 * float(before @ sim.state.velocity[-1, :2]) + height
        first = total if first is None else first
        assert abs(total - first) < 1e-11
        assert abs(kinetic + height - total - 0.5 * h * pull * before[1]) < 1e-11


def tree(seed):
    """Bodies thrown about, each held by a joint that may break to one before it."""
    rng = np.random.default_rng(seed)
    planar = bool(rng.integers(2))
    world, dim, places = ds.World(planar=planar), 2 if planar else 3, []
    for k in range(int(rng.integers(3, 8))):
        on = int(rng.integers(-1, k)) if k else -1
        root = np.zeros(dim) if on < 0 else places[on]
        along = rng.normal(size=dim)
        places.append(root + 0.5 * along / np.linalg.norm(along))
        shape = ds.Rectangle(0.3, 0.1) if planar else ds.Box(0.3, 0.1, 0.1)
        world.add_body(
            shape, name=f"b{k}", mass=float(10 ** rng.uniform(-2, 2)), position=tuple(places[-1]),
            velocity=tuple(5 * rng.normal(size=dim)), layer=(),
        )  # fmt: skip
        pair = f"b{k}", "world" if on < 0 else f"b{on}"
        given = {"anchor": tuple(0.5 * (places[-1] + root))}
        given["breaks_at"] = float(10 ** rng.uniform(0, 3.5))
        if planar:
            world.add_joint(ds.Pin(*pair, **given))
        elif rng.random() < 0.5:
            world.add_joint(ds.Ball(*pair, **given))
        else:
            world.add_joint(ds.Hinge(*pair, axis=tuple(rng.normal(size=3)), **given))
    return world


def test_joints_break_inside_halved_steps():
    halved, broken = 0, 0
    for seed in range(20):
        world = tree(seed)
        names = set(world.joints)
        sim = ds.Simulation(world, ds.TimeStepping(order=1 + seed % 2))
        gone = []
        for _ in range(60):
            report = sim.step()
            gone += report.broken
            halved += bool(report.retries and report.broken)
        assert len(gone) == len(set(gone))
        assert {str(name) for name in sim.joints["name"]} == names - set(gone)
        broken += len(gone)
    assert broken > 50
    assert halved > 0


def redundant_leg():
    world = ds.World(planar=True)
    for x in range(3):
        world.add_body(ds.Rectangle(0.1, 1), name=f"leg{x}", position=(x, 0.5))
        world.add_joint(ds.Pin(f"leg{x}", "world", anchor=(x, 0)))
    world.add_body(ds.Rectangle(2, 0.1), name="top", position=(1, 1), velocity=(0.5, 0))
    for x in range(3):
        world.add_joint(ds.Pin("top", f"leg{x}", anchor=(x, 1)))
    return world


@pytest.mark.parametrize("dt", [1 / 240, 1 / 100])
def test_the_books_close_while_a_table_with_a_leg_too_many_folds(dt):
    sim = ds.Simulation(redundant_leg(), ds.TimeStepping(dt=dt))
    for _ in range(int(1.3 / dt)):
        report = sim.step()
        assert report.ok
        assert abs(report.energy.unexplained) < 1e-9


@pytest.mark.loops
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("options", [{}, {"order": 2}, {"dt": 1 / 100}, {"joints": "stabilize"}])
def test_loops_for_ten_thousand_steps(seed, options):
    """Random four-bars, Bennett's, Bricard's and Sarrus' linkages at random headings: closed, and
    with the energy that they had."""
    rng, turn = np.random.default_rng(seed), heading(100 + seed)
    worlds = [
        bars(four_bar(rng.uniform(0.3, 1.2)), turn),
        chain(*bennett(twist=rng.uniform(0.4, 0.9), angle=rng.uniform(0.8, 2.0)), turn),
        chain(*bricard(rng.uniform(0.4, 0.9)), turn),
        chain(*sarrus(rng.uniform(0.5, 1.0)), turn),
        bars(PARALLELOGRAM, turn, ds.Motor(speed=rng.uniform(1, 5))),
    ]
    for k, world in enumerate(worlds):
        _, reports, energies = steps(world, 10_000, turn, **options)
        closed(reports, 1e-6 if options.get("joints") is None else 0.05)
        if k < 4 and not options.get("joints"):
            size = max(report.energy.kinetic for report in reports)
            assert np.abs(energies - energies[0]).max() < 0.2 * size


@pytest.mark.loops
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [6, 7, 8, 9])
@pytest.mark.parametrize("options", [{}, {"order": 2}])
def test_random_closed_chains_for_ten_thousand_steps(n, seed, options):
    _, reports, energies = steps(random_loop(n, seed, heading(seed)), 10_000, **options)
    closed(reports, 1e-6)
    size = max(max(report.energy.kinetic for report in reports), 1e-9)
    assert np.abs(energies - energies[0]).max() < 0.2 * size


def test_books_that_do_not_close_are_no_solved_step():
    whole = ds.Simulation(bars(four_bar(0.6))).step().energy
    assert whole.closes
    assert not replace(whole, change=whole.change + 1e-6).closes


@pytest.mark.parametrize("method", [{}, {"order": 2}, {"sleeping": ds.Sleeping()}])
@pytest.mark.parametrize(("rate", "planar"), [(2.0, True), (8.0, False)])
def test_a_spring_without_damping_keeps_its_energy(method, rate, planar):
    """A wheel on a hinge with a spring, for 2 s: its energy, and its speed by the cosine."""
    world = ds.World(planar=planar, gravity=(0, 0) if planar else (0, 0, 0))
    shape = ds.Disk(0.3) if planar else ds.Box(0.6, 0.6, 0.2)
    world.add_body(shape, name="wheel", mass=2.0, layer=())
    pull = {"anchor": (0, 0) if planar else (0, 0, 0)}
    model = ds.Simulation(world).model
    inertia = float(model.inertia[0] if planar else model.inertia[0][2, 2])
    pace = 2 * np.pi * rate
    pull["spring"] = (inertia * pace**2, 0.0)
    if planar:
        world.add_joint(ds.Pin("wheel", "world", **pull))
    else:
        world.add_joint(ds.Hinge("wheel", "world", axis=(0, 0, 1), **pull))
    sim = ds.Simulation(world, ds.TimeStepping(**method))
    sim.state.velocity[0, -1] = 1.0
    start, most, speeds = 0.5 * inertia, 0.0, []
    for _ in range(480):
        report = sim.step()
        speeds.append(sim.state.velocity[0, -1])
        most = max(most, abs(report.energy.total / start - 1))
        assert report.ok
    assert most < 0.6 * pace / 240 + 1e-9
    exact = np.cos(pace * (np.arange(480) + (0.5 if method.get("order") != 2 else 1.0)) / 240)
    late = pace * 2.0 * (pace / 240) ** 2 / 12  # of second order: the mean of three positions
    assert np.abs(np.array(speeds) - exact).max() < 1.2 * late + 1e-3


def test_a_spring_that_no_step_resolves_does_not_ring():
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_body(ds.Disk(0.3), name="wheel", mass=2.0, layer=(), angular_velocity=1.0)
    world.add_joint(ds.Pin("wheel", "world", anchor=(0, 0), spring=(1e7, 0.0)))
    sim = ds.Simulation(world)
    sim.run(0.1)
    assert abs(float(sim.state.velocity[0, 2])) < 1e-6
