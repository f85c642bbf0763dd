"""What makes the event-driven method fast changes nothing: compiled rates, islands that sleep."""

import numpy as np
import pytest

import drystone as ds
from drystone.kernels import detect as stage
from drystone.kernels import event_forces, event_state
from drystone.kernels.packed import Packed
from drystone.scenes.base import rough
from drystone.steppers.event_driven.forces.methods import acting
from drystone.steppers.event_driven.forces.results import contact_motion
from drystone.steppers.event_driven.forces.system import System
from drystone.steppers.event_driven.mode import Mode
from drystone.steppers.event_driven.phase import Phase
from drystone.steppers.event_driven.sleep import SleepingIslands


def compared(scene: ds.Scene, duration: float, monkeypatch) -> tuple[int, float]:
    """(number, worst difference) of compiled rates against those of ``Mode.evaluate``."""
    count, worst = 0, 0.0
    plain = Phase.rate

    def both(self, t, y):
        nonlocal count, worst
        fast, self.fast = self.fast, None
        reference = plain(self, t, y)
        self.fast = fast
        if fast is not None and np.isfinite(reference).all():
            rate = fast(t, y)
            if rate is not None:
                count += 1
                worst = max(worst, np.abs(rate - reference).max() / np.abs(reference).max())
        return reference

    monkeypatch.setattr(Phase, "rate", both)
    sim = scene.simulation(ds.EventDriven())
    while sim.time < duration - 1e-9:
        sim.step()
    return count, worst


@pytest.mark.parametrize(
    ("name", "settings", "duration"),
    [
        ("bricks", {"planar": True, "mu": 0.3}, 0.1),
        ("collapse", {"storeys": 1}, 0.1),
        ("double-action-jack", {}, 0.1),
        ("blocks-chain", {"links": 6}, 0.4),
        ("jack-stairs", {}, 0.5),
    ],
)
def test_compiled_rates_are_those_of_the_phase(name, settings, duration, monkeypatch):
    count, worst = compared(ds.scene(name, **settings), duration, monkeypatch)
    assert count > 20
    assert worst < 1e-10


def gap_accelerations(loop, phase, t, y, rate, h=1e-4):
    """C'' [m/s^2] of the closed contacts by differences of what the detector finds along the
    parabola with these accelerations, in the plane. Errors of h^2, and rounding / h^2.

    Where two corners lie on each other the contact may pass from one face to the other on the
    way: its normal jumps, and there is no C''."""
    mode, here = phase.mode, loop.layout.state(t, y)
    a = loop.layout.state(t, y + rate).velocity - here.velocity
    gaps = np.full((3, mode.closed.size, 3), np.nan)  # and normals
    for k, s in enumerate((-h, 0.0, h)):
        there = here.copy()
        way = s * here.velocity + 0.5 * s * s * a
        there.position += way[:, :2]
        there.orientation += way[:, 2]
        found = loop.mechanics.contacts(there)
        place = mode.contact_set.places(found)
        seen = place >= 0
        gaps[k, place[seen], 0] = found.gap[seen]
        gaps[k, place[seen], 1:] = found.normal[seen]
    change = (gaps[0] - 2.0 * gaps[1] + gaps[2]) / (h * h)
    turn = np.abs(a[:, 2]).max() + (here.velocity[:, 2] ** 2).max()
    smooth = np.abs(change[:, 1:]).max(axis=1) < 2.0 * turn + 1e-3
    return change[mode.closed & smooth, 0]


@pytest.mark.parametrize(("mu", "duration"), [(0.3, 0.1), (0.0, 0.3)], ids=["sticks", "slides"])
def test_compiled_rates_keep_closed_contacts_closed(mu, duration, monkeypatch):
    """Against the detector alone, which knows no kinematics and no forces; once faces are turned
    by more than 1e-5 against each other, or not at all: between them it may name the normal of
    the face that the corner does not lie on, and C'' is off by so much of an acceleration."""
    sim = ds.scene("bricks", planar=True, mu=mu).simulation(ds.EventDriven())
    worst, count, plain = 0.0, 0, Phase.rate

    def watched(self, t, y):
        nonlocal worst, count
        rate = plain(self, t, y)
        early = mu == 0.0 and t < 1e-3
        if self.fast is not None and np.isfinite(rate).all() and not early:
            found = np.abs(gap_accelerations(sim.stepper.loop, self, t, y, rate))
            worst, count = max(worst, found.max(initial=0.0)), count + found.size
        return rate

    monkeypatch.setattr(Phase, "rate", watched)
    while sim.time < duration - 1e-9:
        sim.step()
    assert count > 100
    assert worst < 1e-5


def knocked() -> ds.World:
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    for k in range(3):
        world.add_body(
            ds.Rectangle(0.2, 0.2), name=f"box{k}", density=500, friction=0.5,
            position=(0.0, 0.1 + 0.2 * k),
        )  # fmt: skip
    world.add_body(
        ds.Disk(0.1), name="ball", density=500, friction=0.5, position=(-1.0, 0.3),
        velocity=(3.0, 1.2),
    )  # fmt: skip
    return world


def test_islands_at_rest_sleep_until_they_are_hit():
    sim = ds.Simulation(knocked(), method=ds.EventDriven())
    sim.step()
    sim.step()
    sleepers = sim.stepper.mechanics.sleeping
    assert len(sleepers) == 1
    assert sleepers.awake.sum() == 2  # the ball and the ground
    weight = 500 * 0.2 * 0.2 * 9.81
    table = sim.contacts
    floor = np.isin(table["bodies"], "ground").any(axis=1)
    # the ground has the higher kind: forces are those on the box
    assert table["force"][floor][:, 1].sum() == pytest.approx(3 * weight)
    assert sim.report.contacts == 6
    assert sim.report.islands == 1
    assert sim.body("box1").position.tolist() == [0.0, 0.1 + 0.2]  # to the bit
    sim.run(duration=0.4)
    assert len(sleepers) == 0
    assert sim.body("box1").position[0] > 1e-3


def test_sleep_changes_no_motion(monkeypatch):
    def run() -> np.ndarray:
        sim = ds.Simulation(knocked(), method=ds.EventDriven())
        sim.run(duration=0.5)
        return sim.state.position.copy()

    with_sleep = run()
    monkeypatch.setattr(SleepingIslands, "add", lambda self, *_: None)
    assert np.abs(run() - with_sleep).max() < 1e-7


def test_who_moves_a_body_that_sleeps_wakes_it():
    sim = ds.Simulation(knocked(), method=ds.EventDriven())
    sim.step()
    sim.step()
    sim.body("box2").velocity = (0.5, 0.0)
    sim.step()
    assert sim.body("box2").position[0] > 0.005


@pytest.mark.parametrize(
    ("name", "settings", "duration", "depth"),
    [
        ("dominoes", {"n": 4}, 0.5, 1e-8),
        ("destructive-chain", {"rows": 2}, 0.8, 1e-8),
        ("many-blocks-chain", {"n": 3, "links": 8}, 0.7, 1e-8),
        ("block-feeder", {"n": 3}, 0.8, 1e-8),
        ("collapse", {"storeys": 1}, 0.6, 1e-8),
    ],
)
def test_scenes_of_the_papers_go_on(name, settings, duration, depth):
    sim = ds.scene(name, **settings).simulation(rough())
    unexplained, kinetic, deepest = 0.0, 0.0, 0.0
    while sim.time < duration - 1e-9:
        report = sim.step()
        unexplained += report.energy.unexplained
        kinetic = max(kinetic, report.energy.kinetic)
        deepest = max(deepest, report.penetration)
    assert deepest < depth
    assert abs(unexplained) < 1e-3 * kinetic


@pytest.mark.kernels
def test_contacts_are_found_again_in_any_order():
    key = np.array([[0, 1, 5], [0, 1, 6], [2, 1, 5]])
    order = np.array([2, 0, 1])
    place = np.empty(4, np.int64)
    a, b, f = (np.append(key[order, k], 9) for k in range(3))
    event_state.match(a, b, f, key, place)
    assert place.tolist() == [2, 0, 1, -1]
    point, normal, gap = np.arange(8.0).reshape(4, 2), np.ones((4, 2)), np.arange(4.0)
    index, p, n, C = np.empty(3, np.int64), np.zeros((3, 2, 2)), np.zeros((3, 2)), np.zeros(3)
    scan = Packed(
        geom_a=a, geom_b=b, feature=f, n_contacts=3, point=point, normal=normal, gap=gap
    )  # fmt: skip
    assert event_state.follow(scan, key, index, p, n, C) == 0
    assert index.tolist() == [1, 2, 0]
    assert np.allclose(p[:, 0] - p[:, 1], C[:, None] * n)


@pytest.mark.kernels
def test_forces_leave_their_rows_without_acceleration():
    rng = np.random.default_rng(3)
    body = np.array([[0, 1], [0, 1], [1, 2], [-1, 2]])
    J = rng.normal(size=(4, 2, 3))
    J[3, 0] = 0.0
    mass, inertia = np.array([0.5, 2.0, 1.0]), np.array([1.0, 0.3, 2.0]).reshape(3, 1, 1)
    S = np.empty_like(J)
    event_forces.responses(body, J, mass, inertia, S)
    a, bias = rng.normal(size=(3, 3)), rng.normal(size=4)
    rows, B, load = np.arange(4), np.empty((4, 4)), np.empty(4)
    event_forces.equations(rows, rows, body, mass > 0, J, S, bias, np.zeros(4), a, B, load)
    r = np.linalg.solve(B.T, load)
    event_forces.add_rows(rows, r, body, S, a)
    left = [sum(J[k, s] @ a[body[k, s]] for s in (0, 1) if body[k, s] >= 0) for k in range(4)]
    assert np.abs(left + bias).max() < 1e-12


def test_rates_go_on_with_a_scan_that_had_to_grow(monkeypatch):
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    world.add_body(ds.Disk(0.1), name="d", mass=1.0, position=(0, 0.1), velocity=(1, 0))
    sim = ds.Simulation(world, method=ds.EventDriven())
    sim.step()
    rate, detector = sim.stepper.loop.phase.fast, sim.stepper.detector
    y = sim.stepper.loop.layout.pack(sim.state, np.zeros(4))
    expected = rate(sim.time, y)
    plain, asked = stage.detect, []

    def detect(scan, *args):
        asked.append(scan)
        return 1 if len(asked) == 1 else plain(scan, *args)

    monkeypatch.setattr(stage, "detect", detect)

    def grow(code):
        old = detector.scan
        detector.scan = Packed(**{name: getattr(old, name) for name in old._numba_type_.places})

    monkeypatch.setattr(detector, "serve", grow)
    assert rate(sim.time, y) == pytest.approx(expected)
    assert len(asked) == 2
    assert asked[1] is detector.scan
    assert asked[0] is not detector.scan


@pytest.mark.parametrize(
    ("name", "settings", "duration"),
    [("bricks", {"planar": True, "mu": 0.3}, 0.2), ("collapse", {"storeys": 1}, 0.15),
     ("block-feeder", {"n": 3}, 0.6)],
)  # fmt: skip
def test_looks_at_a_phase_are_those_of_dense_systems(name, settings, duration, monkeypatch):
    """Forces, accelerations and margins of a phase against W r + q of its islands."""
    count, plain = 0, Mode.evaluate

    def both(self, state, found=None):
        nonlocal count
        now = plain(self, state, found)
        if not self.smooth or self.resting:
            return now
        pull, _, cone = self.margins(now)
        for part in self.forces.islands:
            system = System(now.rows.state, part.system.contacts, part.system.joints)
            slip, mu = acting(system)
            r, a = part.index_set.values(system, mu, slip)
            d, nc = now.rows.state.d, system.contacts.size
            f = r[: d * nc].reshape(nc, d)
            size = np.abs(r).max(initial=1e-9)
            assert np.abs(now.f[system.contacts] - f).max(initial=0.0) < 1e-7 * size
            expected = contact_motion(now.rows.state, now.acceleration)[system.contacts]
            expected += now.rows.state.bias[system.contacts]
            rate, most = a[: d * nc].reshape(nc, d), np.abs(a).max() + np.abs(system.q).max()
            soft = now.rows.state.soft[system.contacts] * f
            assert np.abs(expected + soft - rate).max(initial=0.0) < 1e-9 * most
            closed, stick = part.index_set.closed, part.index_set.stick
            real = ~now.rows.loaded[system.contacts]
            assert (np.sign(pull[system.contacts]) == np.sign(f[:, 0]))[closed & real].all()
            unit = np.sqrt(np.abs(system.W.diagonal())[: d * nc].reshape(nc, d).mean(axis=1))
            free = system.q[: d * nc].reshape(nc, d) / unit[:, None]
            top = max(np.abs(f * unit[:, None]).max(initial=0.0), np.abs(free).max(initial=0.0))
            left = (mu * f[:, 0] - np.linalg.norm(f[:, 1:], axis=1)) * unit / top
            np.testing.assert_allclose(cone[system.contacts][stick], left[stick], atol=1e-7)
            count += 1
        return now

    monkeypatch.setattr(Mode, "evaluate", both)
    sim = ds.scene(name, **settings).simulation(ds.EventDriven())
    while sim.time < duration - 1e-9:
        sim.step()
    assert count > 20


def test_closing_at_an_event_moves_no_body_into_another():
    """The polynomial of a step is off closed contacts by 1.5e-6 m where others meet."""
    sim = ds.scene("block-feeder", n=10).simulation(rough())
    while sim.time < 6.33:
        assert sim.step().penetration <= sim.method.touch
