"""What springs say about the rods of the thesis (figures 12.1 to 12.3)."""

import numpy as np
import pytest
from scipy.optimize import brentq

import drystone as ds
from drystone.problems.classic import COS, MU, SIN
from drystone.scenes import scene

# tangential speed that a unit normal impulse takes from the sliding tip, m = 1
SLOWS = MU * (1 + 16 * SIN**2) - 16 * SIN * COS


def method(k, dt=0.2, slip=1e-4):
    return ds.Penalty(dt=dt / np.sqrt(k), stiffness=k, slip_speed=slip, rtol=1e-7, atol=1e-12)


def tip(sim):
    rod = sim.body("rod")
    s, c = np.sin(rod.orientation), np.cos(rod.orientation)
    return rod.velocity + rod.angular_velocity * np.array([s, -c])


def jam(k):
    """Time at which the tip stops, normal impulse until then, greatest depth."""
    sim = scene("rod-inconsistent").simulation(method=method(k))
    depth = 0.0
    while tip(sim)[0] < -2e-4:
        sim.step()
        depth = max(depth, sim.penetration)
    impulse = (sim.body("rod").velocity[0] + 1.0) / MU
    return sim.time, impulse, depth


def stopping_time(k):
    """d = g m / k (cosh(t sqrt(k)) - 1), and the integral of k d over time is 1 / SLOWS."""
    root, wanted = np.sqrt(k), 1.0 / (9.81 * SLOWS)
    return brentq(lambda t: np.sinh(root * t) / root - t - wanted, 0.0, 20 / root)


def test_stiffer_springs_jam_the_rod_faster_and_less_deep():
    """12.1: depth grows like cosh(t sqrt(k / m)), so that the tip stops at t ~ log(k) / sqrt(k); in
    the limit an impulse stops it, speed / SLOWS."""
    found = {k: jam(k) for k in (1e4, 1e6, 1e8)}
    for k, (time, _, _) in found.items():
        assert time == pytest.approx(stopping_time(k), abs=0.3 / np.sqrt(k))  # the rod turns
    times, impulses, depths = zip(*found.values(), strict=True)
    assert times[0] > 5 * times[1] > 25 * times[2]
    assert depths[0] > 9 * depths[1] > 81 * depths[2]
    errors = np.abs(np.array(impulses) * SLOWS - 1.0)
    assert errors[2] < 0.05


def test_gravity_alone_pulls_the_tip_in_at_first():
    """No depth, no force: the tip falls freely for a time short against sqrt(m / k)."""
    k = 1e6
    sim = scene("rod-inconsistent").simulation(method=method(k, dt=0.05))
    sim.step()
    assert sim.penetration == pytest.approx(0.5 * 9.81 * sim.time**2, rel=1e-3)


def forces(depth, k=1e6, steps=22):
    """f_N / m after each half of sqrt(m / k), from a depth in units of m / k."""
    built = scene("rod-indeterminate", depth=depth / k)
    sim = built.simulation(method=method(k, 0.5, 5e-3))
    out = []
    for _ in range(steps):
        sim.step()
        out.append(float(sim.contacts["force"][:, 1].sum()))
    return np.array(out), sim


def test_without_depth_the_tip_leaves():
    """12.2: f_N = 0, and the tip rises at omega^2 sin - g = 1."""
    f, sim = forces(0.0)
    assert not f.any()
    w, t = np.sqrt((1 + 9.81) / SIN), sim.time
    assert tip(sim)[1] == pytest.approx(t - 0.5 * w**3 * COS * t**2, rel=0.01)


def test_depth_of_m_over_k_keeps_the_contact_for_a_while():
    """12.3: f_N = m at the start; but the balance is unstable: e grows like exp(t sqrt(k / m))."""
    f, _ = forces(1.0, steps=4)
    assert np.allclose(f, 1.0, atol=0.1)
    below, _ = forces(0.98, steps=8)
    above, _ = forces(1.02, steps=8)
    growth = (above - below) / 0.04
    t = 0.5 * np.arange(1, 9)
    assert np.allclose(growth, np.cosh(t), rtol=0.1)


@pytest.mark.parametrize(("depth", "jams"), [(0.5, False), (0.9, False), (1.5, True), (3.0, True)])
def test_the_depth_at_the_start_chooses(depth, jams):
    """Less than the balance: contact breaks. More: an impulse stops the tip, as in 12.1."""
    f, sim = forces(depth)
    assert bool(f.max() > 50.0) is jams
    if jams:
        assert abs(tip(sim)[0]) < 0.05
    else:
        assert f[-1] == 0.0
        assert f.max() <= 1.0
