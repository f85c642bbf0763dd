"""Steps of order 2 with joints in the compiled loop (RATTLE)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import drystone as ds
from tests.steppers.time_stepping.test_compiled_joints import (
    dropped,
    in_python,
    sprung,
    taut,
    towed,
)

G, LENGTH = 9.81, 0.5


def made(world, **options):
    sim = ds.Simulation(world, ds.TimeStepping(order=2, **options))
    assert sim.stepper.jointed
    return sim


def pushed():
    """Two arms on a prescribed cart, one against a limit, the other driven by a motor of limited
    force, and a force in Python."""
    world = ds.World(planar=True)
    cart = ds.ConstantVelocity((0.4, 0))
    world.add_body(ds.Rectangle(0.2, 0.1), name="cart", motion=cart, layer=1)
    for k, more in enumerate(
        ({"limits": (-0.05, 2.0)}, {"motor": ds.Motor(speed=2.0, max_force=0.6)})
    ):
        side = 1 - 2 * k
        world.add_body(
            ds.Rectangle(0.3, 0.05),
            name=f"arm{k}",
            mass=1.0,
            position=(0.15 * side, 0),
            layer=2 + k,
        )
        world.add_joint(ds.Pin(f"arm{k}", "cart", anchor=(0, 0), **more))
    world.add_force(ds.Callback(lambda m, s: {"arm1": (0, np.sin(20 * s.time), 0)}))
    return world


WORLDS = {
    "sprung": (sprung, {}),
    "pushed": (pushed, {}),
    "dropped": (dropped, {}),
    "dropped in the plane": (lambda: dropped(True), {}),
    "bounces": (lambda: dropped(False, 0.6), {"restitution": "newton"}),
    "towed": (towed, {}),
    "taut": (taut, {}),
    "four-bar in space": (lambda: ds.scene("four-bar", planar=False).world, {}),
    "projected": (sprung, {"joints": "project"}),
    "stabilized": (sprung, {"joints": "stabilize"}),
    "convex": (dropped, {"formulation": "convex"}),
}


@pytest.mark.parametrize("name", WORLDS)
def test_joints_are_closed_as_python_closes_them(name):
    world, options = WORLDS[name]
    sim, other = made(world(), **options), in_python(made(world(), **options))
    for _ in range(15 if name != "taut" else 3):
        report, now = other.step(), sim.step()
        assert np.allclose(sim.state.position, other.state.position, rtol=0, atol=1e-9)
        assert np.allclose(sim.state.velocity, other.state.velocity, rtol=0, atol=1e-7)
        a, b = other.contacts, sim.contacts
        assert len(a) == len(b)
        assert np.allclose(a["force"].sum(axis=0), b["force"].sum(axis=0), atol=1e-4)
        if name not in ("dropped", "dropped in the plane", "bounces", "convex", "towed"):
            one, two = other.joints, sim.joints
            size = 1 + abs(one["force"]).max()
            assert np.allclose(one["force"], two["force"], atol=1e-6 * size)
            assert np.allclose(one["torque"], two["torque"], atol=1e-6)
        same = ("contacts", "collisions", "status", "islands", "retries", "redundant")
        assert [getattr(now, x) for x in same] == [getattr(report, x) for x in same]
        assert abs(now.joint_error - report.joint_error) < 1e-9
        assert abs(now.energy.unexplained) < 1e-9
        for part in ("kinetic", "potential", "change", "loads", "driving", "friction", "impact"):
            mine, theirs = getattr(now.energy, part), getattr(report.energy, part)
            assert mine == pytest.approx(theirs, abs=1e-7), part


def pendulum(planar, bodies=2):
    """Thin rods that hang on each other, held out at an angle."""
    world = ds.World(planar=planar, gravity=(0, -G) if planar else (0, -G, 0))
    before, start = "world", np.zeros(2)
    for k, angle in enumerate((0.9, 1.7)[:bodies]):
        way = LENGTH * np.array([np.sin(angle), -np.cos(angle)])
        middle, turn = start + 0.5 * way, angle - 0.5 * np.pi
        at = middle if planar else (*middle, 0)
        turned = turn if planar else (np.cos(0.5 * turn), 0, 0, np.sin(0.5 * turn))
        shape = ds.Rectangle(LENGTH, 1e-3) if planar else ds.Box(LENGTH, 1e-3, 1e-3)
        world.add_body(shape, name=f"rod{k}", mass=1.0, position=at, orientation=turned, layer=k)
        here = start if planar else (*start, 0)
        axis = {} if planar else {"axis": (0, 0, 1)}
        world.add_joint((ds.Pin if planar else ds.Hinge)(f"rod{k}", before, anchor=here, **axis))
        before, start = f"rod{k}", start + way
    return world


def angles(sim):
    turned = sim.state.orientation
    if turned.ndim == 2:
        turned = 2.0 * np.arctan2(turned[:, 3], turned[:, 0])
    return turned + 0.5 * np.pi


def motion(until, inertia):
    """Angles of two rods by their equations of motion (Lagrange), and their rates."""

    def rate(_, y):
        a, b, va, vb = y
        c, s, n = np.cos(a - b), np.sin(a - b), 0.5 * LENGTH**2
        M = np.array([[1.25 * LENGTH**2 + inertia, n * c], [n * c, 0.25 * LENGTH**2 + inertia]])
        f = [
            -n * s * vb**2 - 1.5 * G * LENGTH * np.sin(a),
            n * s * va**2 - 0.5 * G * LENGTH * np.sin(b),
        ]
        return [va, vb, *np.linalg.solve(M, f)]

    return solve_ivp(rate, (0, until), (0.9, 1.7, 0, 0), rtol=1e-12, atol=1e-12).y[:, -1]


@pytest.mark.parametrize("planar", [True, False])
def test_a_double_pendulum_converges_by_the_square_of_the_step(planar):
    until, off = 0.5, []
    for n in (60, 120, 240):
        sim = made(pendulum(planar), dt=until / n)
        inertia = float(np.asarray(sim.model.inertia[0]).reshape(-1)[-1])
        sim.run(until)
        expected = motion(until, inertia)
        rates = sim.state.velocity[:, -1]
        off.append([abs(angles(sim) - expected[:2]).max(), abs(rates - expected[2:]).max()])
        assert sim.report.joint_error < 1e-10
    ratios = np.divide(off[:-1], off[1:])
    assert (ratios > 3.7).all(), ratios
    assert (ratios < 4.4).all(), ratios


@pytest.mark.parametrize("planar", [True, False])
def test_energy_is_kept_by_the_square_of_the_step(planar):
    swing = []
    for n in (240, 480):
        kept = made(pendulum(planar), dt=1 / n).run(1.5, record=True)
        total = np.array([r.energy.kinetic + r.energy.potential for r in kept.reports])
        swing.append(abs(total - total[0]).max())
        assert max(abs(r.energy.unexplained) for r in kept.reports) < 1e-12
    assert swing[0] < 1e-3 * G * LENGTH
    assert 3.5 < swing[0] / swing[1] < 4.5


@pytest.mark.parametrize("planar", [True, False])
def test_what_a_joint_bears_is_read_of_the_first_kick(planar):
    """A rod let go at an angle: the pin bears the weight's part along it and a quarter across."""
    sim = made(pendulum(planar, bodies=1), dt=1e-4)
    sim.step()
    along = np.array([np.sin(0.9), -np.cos(0.9)])
    pull = np.array([0.0, -G])
    expected = -(pull @ along) * along - 0.25 * (pull - (pull @ along) * along)
    assert np.allclose(sim.joints["force"][0][:2], expected, atol=1e-3)


@pytest.mark.parametrize("world", [sprung, pushed, dropped])
def test_runs_single_steps_and_snapshots_have_the_same_bits(world):
    whole, single, later = (made(world(), restitution="newton") for _ in range(3))
    kept = whole.run(until=30 / 240, record=True, contacts=True)
    for k in range(30):
        if k == 18:
            later.restore(single.snapshot())
        single.step()
    for _ in range(12):
        later.step()
    for sim in (single, later):
        for name in ("position", "orientation", "velocity"):
            assert np.array_equal(getattr(sim.state, name), getattr(whole.state, name)), name
        assert np.array_equal(sim.joints, whole.joints)
        assert np.array_equal(sim.contacts["force"], kept.contacts(-1)["force"])
    if world is dropped:  # rows of the first kick, in which bodies had other places
        answer = ds.solve(single.problem(), tol=1e-10)
        assert np.allclose(answer.dual, single.stepper.solved.u.ravel(), atol=1e-5)
