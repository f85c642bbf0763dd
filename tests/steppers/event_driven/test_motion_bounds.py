"""Fast and thin bodies: none passes another without an event, at the time that geometry gives."""

import numpy as np
import pytest

import drystone as ds
from drystone.steppers.event_driven.motion_bounds import MotionBounds

FRAME = 1 / 60


def first_touch(world, frames=1, **options):
    """Time of the first event, None if there is none; the reports."""
    sim = ds.Simulation(world, method=ds.EventDriven(dt=FRAME, **options))
    reports = [sim.step() for _ in range(frames)]
    times = [e.time for report in reports for e in report.events if e.kind == "touch"]
    return (times[0] if times else None), reports


@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize(("speed", "radius", "pane"), [(300.0, 5e-3, 1e-3), (1e5, 1e-4, 1e-6)])
def test_a_pane_stops_a_small_ball(planar, speed, radius, pane):
    world = ds.World(planar=planar, gravity=(0,) * (2 if planar else 3))
    rest, rest_speed = ((0,), (0,)) if planar else ((0, 0), (0, 0))
    wall = ds.Rectangle(pane, 2) if planar else ds.Box(pane, 2, 2)
    ball = ds.Disk(radius) if planar else ds.Sphere(radius)
    world.add_body(wall, name="pane", fixed=True)
    at, v = (-1.37, *rest), (speed, *rest_speed)
    world.add_body(ball, name="ball", mass=1, position=at, velocity=v)
    time, reports = first_touch(world)
    assert time == pytest.approx((1.37 - radius - pane / 2) / speed, abs=1e-9)
    assert reports[0].evaluations < 150


def turned(axis, angle):
    """Rotation matrix, by Rodrigues' formula."""
    K = np.cross(np.eye(3), axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


def exact(gap, fastest):
    """First time in a frame at which a gap closes, None if it does not: by steps that are not
    longer than the gap over the greatest speed of any point."""
    t = 0.0
    while t < FRAME:
        g = gap(t)
        if g < 1e-11:
            return t
        t += max(g / fastest, 1e-13)
    return None


def rod_gap(q, thin):
    """Of the origin and a rod along z, q: the origin in its frame."""
    return np.linalg.norm(q - (0, 0, np.clip(q[2], -0.5, 0.5))) - thin


def panel_gap(q, thin):
    """The same of a panel across z."""
    d = np.abs(q) - (0.5, 0.3, thin)
    return np.linalg.norm(np.maximum(d, 0)) + min(d.max(), 0)


def test_spinning_thin_bodies_meet_a_bead():
    """Rods and panels of 1 m, 2 to 20 mm thick, at up to 100 rad/s and 300 m/s."""
    rng, met, missed = np.random.default_rng(4), 0, 0
    for k in range(14):
        bead, thin = 10 ** rng.uniform(-3, -2), 10 ** rng.uniform(-3, -2)
        spin, speed = 10 ** rng.uniform(0, 2), 10 ** rng.uniform(0, 2.5)
        way, axis = (v / np.linalg.norm(v) for v in rng.normal(size=(2, 3)))
        start = 0.1 * rng.normal(size=3) - way * speed * rng.uniform(0.3, 1) * FRAME
        apart = panel_gap if k % 2 else rod_gap

        def gap(t, start=start, move=way * speed, turn=(axis, spin), size=(thin, bead), of=apart):
            return of(-turned(turn[0], turn[1] * t).T @ (start + move * t), size[0]) - size[1]

        if gap(0.0) < 1e-6:
            continue
        world = ds.World(gravity=(0, 0, 0))
        world.add_body(
            ds.Box(1.0, 0.6, 2 * thin) if k % 2 else ds.Capsule(1.0, thin), name="thin", mass=1,
            inertia=(0.1,) * 3, position=start, velocity=way * speed, angular_velocity=axis * spin,
        )  # fmt: skip
        world.add_body(ds.Sphere(bead), name="bead", fixed=True)
        wanted, (got, _) = exact(gap, speed + 0.6 * spin), first_touch(world)
        assert (wanted is None) == (got is None)
        if wanted is None:
            missed += 1
        else:
            met += 1
            assert got == pytest.approx(wanted, abs=1e-8)
    assert met > 2
    assert missed > 2


def test_a_paddle_that_swings_within_a_step_meets_a_ball():
    """Its motion is given: where it was at both ends of a frame says nothing of what is between."""
    rate = 2 * np.pi / FRAME
    for planar in (True, False):
        rest = (0,) if planar else (0, 0)
        world = ds.World(planar=planar, gravity=(0, *rest))
        swing = ds.Oscillation((1, *rest), amplitude=1.0, frequency=1 / FRAME)
        shape = ds.Rectangle(0.02, 1) if planar else ds.Box(0.02, 1, 1)
        ball = ds.Disk(0.01) if planar else ds.Sphere(0.01)
        world.add_body(shape, name="paddle", motion=swing)
        world.add_body(ball, name="ball", mass=1, position=(0.6, *rest))
        time, _ = first_touch(world)
        assert time == pytest.approx(np.arcsin(0.58) / rate, abs=1e-9)


def test_bodies_that_cannot_meet_cost_a_comparison():
    """Side by side at 100 m/s, a millimetre apart: no looks but those at the ends of steps."""
    world = ds.World(gravity=(0, 0, 0))
    for k in range(2):
        at = (0, 0.101 * k, 0)
        world.add_body(ds.Sphere(0.05), name=f"s{k}", mass=1, position=at, velocity=(100, 0, 0))
    _, reports = first_touch(world, frames=3)
    assert max(report.evaluations for report in reports[1:]) <= 14


@pytest.mark.parametrize(
    ("shape", "near"),
    [
        (ds.Capsule(0.8, 3e-3), 8e-3),
        (ds.Cylinder(0.8, 3e-3), 8e-3),
        (ds.Cone(0.8, 3e-3), 0.75 * 3e-3 + 5e-3 * np.hypot(0.8, 3e-3) / 0.8),
    ],
)
@pytest.mark.parametrize("fall", [0.0, 12.0])
def test_a_rods_own_spin_costs_no_looks(shape, near, fall, monkeypatch):
    """A thin rod spins about its axis at 9000 rad/s, 0.1 m from a bead: its surface does not move
    by that. If it falls as well, it is met when it is there."""
    looks, may_meet = [], MotionBounds.may_meet

    def counted(*given):
        looks.append(0)
        return may_meet(*given)

    monkeypatch.setattr(MotionBounds, "may_meet", counted)
    world, lean = ds.World(gravity=(0, 0, 0)), 0.4
    way = np.array([np.sin(lean), 0, np.cos(lean)])
    world.add_body(
        shape, name="rod", mass=1, velocity=(0, fall, 0), angular_velocity=9e3 * way,
        orientation=(np.cos(lean / 2), 0, np.sin(lean / 2), 0),
    )  # fmt: skip
    world.add_body(ds.Sphere(5e-3), name="bead", fixed=True, position=(0, 0.1, 0))
    method = ds.EventDriven(dt=0.1 / 12)
    report = ds.Simulation(world, method=method).step()
    times = [e.time for e in report.events if e.kind == "touch"]
    assert len(looks) < 200
    assert times == ([pytest.approx((0.1 - near) / fall, abs=1e-9)] if fall else [])
