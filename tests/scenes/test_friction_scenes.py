"""Slopes, sliding, rolling: closed forms, at the defaults and dt = 1/240 s."""

import math

import numpy as np
import pytest

from tests.scenes.running import run

G = 9.81


@pytest.mark.parametrize(
    "settings", [{}, {"shape": "plate"}, {"shape": "cylinder"}, {"planar": True}]
)
def test_a_block_on_a_gentle_slope_does_not_creep(settings):
    done = run("incline", 10.0, ratio=0.98, **settings)
    assert done.moved < 1e-9
    assert done.failed == 0


@pytest.mark.parametrize("planar", [False, True])
def test_a_block_on_a_steep_slope_slides_as_it_should(planar):
    """x = g (sin - mu cos) t^2 / 2; the scheme's own error is h / t = 0.208 %."""
    done = run("incline", 2.0, ratio=1.05, planar=planar)
    angle = math.atan(1.05 * 0.5)
    exact = 0.5 * G * (math.sin(angle) - 0.5 * math.cos(angle)) * 4.0
    slid = np.linalg.norm(done.shift[1])
    assert slid == pytest.approx(exact, rel=3e-3)
    assert slid == pytest.approx(exact * (1 + 1 / 480), rel=1e-8)  # the sum of the scheme's steps
    down = done.shift[1] / slid
    assert down[0] == pytest.approx(math.cos(angle), abs=1e-9)


def test_the_slope_decides_where_friction_says():
    assert run("incline", 0.5, ratio=0.999).moved < 1e-9
    assert run("incline", 0.5, ratio=1.001).moved > 1e-4


@pytest.mark.parametrize("degrees", [0.0, 17.0, 30.0, 45.0, 90.0, 200.0])
def test_a_block_stops_after_the_same_distance_in_any_direction(degrees):
    done = run("sliding-block", direction=degrees)
    x, y, z = done.shift[1]
    assert math.hypot(x, y) == pytest.approx(25 / (2 * 0.3 * G), rel=3e-3)
    error = math.remainder(math.degrees(math.atan2(y, x)) - degrees, 360.0)
    assert abs(error) < 1e-6
    assert abs(z) < 1e-9
    assert np.abs(done.sim.state.velocity[1]).max() < 1e-8


def test_a_friction_pyramid_prefers_directions():
    """What the circular cone spares us: four facets stop a block sooner along the diagonal."""
    done = run("sliding-block", direction=30.0, options={"cone": 4})
    x, y, _ = done.shift[1]
    assert abs(math.degrees(math.atan2(y, x)) - 30.0) > 0.1


@pytest.mark.parametrize(("speed", "mu"), [(5.0, 0.2), (0.7, 0.05), (3.0, 1.0)])
def test_a_sliding_ball_ends_up_rolling_at_five_sevenths(speed, mu):
    done = run("rolling-ball", speed=speed, mu=mu)
    v, w = done.sim.state.velocity[1, :3], done.sim.state.velocity[1, 3:]
    assert v[0] / speed == pytest.approx(5 / 7, abs=1e-10)
    assert w[1] * 0.1 == pytest.approx(v[0], rel=1e-10)
    assert np.abs(v[1:]).max() < 1e-10


@pytest.mark.parametrize(("mu", "degrees"), [(0.5, 90.0), (0.9, 90.0), (0.3, 60.0)])
def test_a_particle_in_a_wedge_is_slowed_by_both_faces(mu, degrees):
    """Normal forces m g / (2 sin(half angle)) each: deceleration mu g / sin(half angle)."""
    done = run("wedge-cone", 0.05, mu=mu, degrees=degrees)
    rate = mu * G / math.sin(math.radians(0.5 * degrees))
    assert done.sim.state.velocity[2, 0] == pytest.approx(1.0 - rate * 0.05, abs=1e-8)
    assert np.abs(done.shift[2, 1:]).max() < 1e-9


def test_a_wedge_whose_cones_meet_is_solved_at_every_step():
    """mu = 1 at 90 degrees: the sum of the cones is not closed (Anitescu et al. 1998, figure 1),
    sliding and sticking both obey the law; whichever comes out, it obeys it, and energy does not
    grow."""
    for push in (0.0, 0.02, 0.2):
        done = run("wedge-cone", 0.5, push=push)
        assert done.failed == 0
        conditions = done.sim.report.conditions
        assert conditions.least_impulse >= 0
        assert conditions.power <= 1e-15
        assert abs(conditions.dissipation) < 1e-9
    # thrown, it stops within 1 / (sqrt(2) g) = 0.07 s, but for the slow rolling of a heavy ball
    slow = run("wedge-cone", 0.5).sim.state.velocity[2]
    solved_to = 1e-8 * G / 240  # the tolerance, of the speed that gravity gives in a step
    assert slow[0] == pytest.approx(slow[4] * 0.01 * math.sqrt(0.5), abs=solved_to)
    assert abs(slow[0]) < 1e-5


def test_a_ball_in_a_wedge_ends_up_rolling():
    """Friction at both contacts turns it about the line through them, r sin(half) away."""
    done = run("wedge-cone", 1.0, mu=0.3, spins=True)
    v, w = done.sim.state.velocity[2, 0], done.sim.state.velocity[2, 4]
    arm = 0.01 * math.sin(math.radians(45))
    # momentum lost at the lever `arm`: m (v0 - v) arm = I w, rolling v = w arm
    exact = 1.0 / (1.0 + 0.4 * 0.01**2 / arm**2)
    assert v == pytest.approx(exact, rel=1e-8)
    assert w * arm == pytest.approx(v, rel=1e-8)
