"""Mechanisms against their closed forms: positions, driving and joint forces, order, loops."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import drystone as ds

G = 9.81


class FourBar:
    """The four-bar of the gallery in closed form: everything from the crank's angle (Freudenstein's
    equation, solved for the half-angle of the rocker)."""

    crank, coupler, rocker, base, speed = 0.2, 0.5, 0.4, 0.5, 5.0
    bodies = ("crank", "coupler", "rocker")
    # joint, body a, body b (-1 the world), as the scene joins them
    pins = (("drive", 0, -1), ("crank-pin", 1, 0), ("rocker-pin", 2, 1), ("pivot", 2, -1))

    def lengths(self):
        return np.array([self.crank, self.coupler, self.rocker])

    def masses(self):
        return 2.0 * self.lengths()

    def inertias(self):
        wide = 0.08 * self.lengths()
        return self.masses() * (self.lengths() ** 2 + wide**2) / 12

    def rocker_angle(self, t):
        """k1 cos(f) - k2 cos(t) + k3 = cos(t - f), with half-angle substitution."""
        a, b, c, d = self.crank, self.coupler, self.rocker, self.base
        k1, k2, k3 = d / a, d / c, (a * a - b * b + c * c + d * d) / (2 * a * c)
        A = np.cos(t) - k1 - k2 * np.cos(t) + k3
        B = -2 * np.sin(t)
        C = k1 - (k2 + 1) * np.cos(t) + k3
        return 2 * np.arctan2(-B - np.sqrt(B * B - 4 * A * C), 2 * A)

    def places(self, t):
        """(places of the four pins, (nb, 3) pose of each bar's middle) at crank angle t."""
        f = self.rocker_angle(t)
        B = self.crank * np.array([np.cos(t), np.sin(t)])
        D = np.array([self.base, 0.0])
        C = D + self.rocker * np.array([np.cos(f), np.sin(f)])
        g = np.arctan2(C[1] - B[1], C[0] - B[0])
        poses = [(*(0.5 * B), t), (*(0.5 * (B + C)), g), (*(0.5 * (C + D)), f)]
        return {"drive": 0 * B, "crank-pin": B, "rocker-pin": C, "pivot": D}, np.array(poses)

    def unknowns(self):
        """(joint, force (2,), torque) that each unknown of the statics is."""
        out = [(name, np.eye(2)[i], 0.0) for name, _, _ in self.pins for i in range(2)]
        return [*out, ("drive", np.zeros(2), 1.0)]


class SliderCrank(FourBar):
    """The slider-crank of the gallery."""

    crank, rod, mass, speed = 0.1, 0.3, 1.0, 10.0
    bodies = ("crank", "rod", "slider")
    pins = (("drive", 0, -1), ("crank-pin", 1, 0), ("wrist-pin", 1, 2), ("rail", 2, -1))

    def lengths(self):
        return np.array([self.crank, self.rod])

    def masses(self):
        return np.array([*(2.0 * self.lengths()), self.mass])

    def inertias(self):
        wide = 0.08 * self.lengths()
        bars = 2.0 * self.lengths() * (self.lengths() ** 2 + wide**2) / 12
        return np.array([*bars, self.mass * (0.06**2 + 0.04**2) / 12])

    def places(self, t):
        B = self.crank * np.array([np.cos(t), np.sin(t)])
        C = np.array([B[0] + np.sqrt(self.rod**2 - B[1] ** 2), 0.0])
        g = np.arctan2(C[1] - B[1], C[0] - B[0])
        poses = [(*(0.5 * B), t), (*(0.5 * (B + C)), g), (*C, 0.0)]
        return {"drive": 0 * B, "crank-pin": B, "wrist-pin": C, "rail": C}, np.array(poses)

    def unknowns(self):
        pins = ("drive", "crank-pin", "wrist-pin")
        out = [(name, np.eye(2)[i], 0.0) for name in pins for i in range(2)]
        rail = [("rail", np.eye(2)[1], 0.0), ("rail", np.zeros(2), 1.0)]
        return [*out, *rail, ("drive", np.zeros(2), 1.0)]


def wrenches(mechanism, t):
    """{joint: (fx, fy, torque) on its first body} at crank angle t and constant speed: Newton's and
    Euler's equations of all bodies, 9 for 9 unknowns."""
    w, h = mechanism.speed, 1e-3
    pins, poses = mechanism.places(t)
    # fourth-order second difference: 1e-10 of the accelerations
    f = [mechanism.places(t + k * h)[1] for k in (-2, -1, 0, 1, 2)]
    rate = w * w / (12 * h * h) * (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4])
    inertia = np.stack([mechanism.masses()] * 2 + [mechanism.inertias()], axis=1)
    load = inertia * rate
    load[:, 1] += mechanism.masses() * G
    ends = {name: (a, b) for name, a, b in mechanism.pins}
    unknown = mechanism.unknowns()
    A = np.zeros((load.size, len(unknown)))
    for k, (name, force, torque) in enumerate(unknown):
        for body, sign in zip(ends[name], (1.0, -1.0), strict=True):
            if body >= 0:
                arm = pins[name] - poses[body, :2]
                moment = torque + arm[0] * force[1] - arm[1] * force[0]
                A[3 * body : 3 * body + 3, k] = sign * np.array([*force, moment])
    x = np.linalg.solve(A, load.ravel())
    out = {name: np.zeros(3) for name in ends}
    for (name, force, torque), value in zip(unknown, x, strict=True):
        out[name] += value * np.array([*force, torque])
    return out


def driven(name, mechanism, dt, duration=0.4, **settings):
    """Runs the scene; returns greatest errors: poses for the crank's own angle, and wrenches."""
    sim = ds.scene(name, **settings).simulation(dt=dt)
    away = wrong = size = 0.0
    for k in range(round(duration / dt)):
        report = sim.step()
        assert report.ok
        assert report.joint_error < 1e-9
        turns = poses(sim)
        gap = mechanism.places(turns[0, 2])[1] - turns
        gap[:, 2] -= 2 * np.pi * np.round(gap[:, 2] / (2 * np.pi))
        away = max(away, np.abs(gap).max())
        assert sim.state.velocity[0, 2 if sim.model.dim == 2 else 4] == pytest.approx(
            mechanism.speed if sim.model.dim == 2 else -mechanism.speed, abs=1e-7
        )
        if k < 3:
            continue  # the scheme's velocities are secants: the first step kicks
        middle = turns[0, 2] - 0.5 * dt * mechanism.speed
        expected = wrenches(mechanism, middle)
        for joint in sim.joints:
            found = planar(joint)
            wrong = max(wrong, np.abs(found - expected[str(joint["name"])]).max())
            size = max(size, np.abs(expected[str(joint["name"])]).max())
    return away, wrong / size, sim


def poses(sim):
    """(nb, 3) x, height, angle of every body, planar or in the plane y = 0."""
    x = sim.state.position
    if sim.model.dim == 2:
        return np.column_stack([x, np.arctan2(np.sin(a := sim.state.orientation), np.cos(a))])
    q = sim.state.orientation
    assert np.abs(q[:, [1, 3]]).max() < 1e-9
    turn = -2 * np.arctan2(q[:, 2], q[:, 0])
    return np.column_stack([x[:, 0], x[:, 2], np.arctan2(np.sin(turn), np.cos(turn))])


def planar(joint):
    """Force (x, height) and torque of a row of sim.joints; what is out of the plane is zero."""
    f, t = joint["force"], joint["torque"]
    if f.size == 2:
        return np.array([*f, t[0]])
    assert abs(f[1]) < 1e-6
    assert np.abs(t[[0, 2]]).max() < 1e-6
    return np.array([f[0], f[2], -t[1]])


@pytest.mark.parametrize(
    ("name", "mechanism"), [("four-bar", FourBar()), ("slider-crank", SliderCrank())]
)
@pytest.mark.parametrize("plane", [True, False])
def test_driven_linkages_follow_their_closed_forms(name, mechanism, plane):
    """In space the loop of four hinges holds three freedoms twice over; all the same its forces
    are those of the plane."""
    away, coarse, _ = driven(name, mechanism, 1 / 240, planar=plane)
    assert away < 1e-9
    assert coarse < 0.05
    away, fine, sim = driven(name, mechanism, 1 / 480, planar=plane)
    assert away < 1e-9
    assert coarse / fine == pytest.approx(2.0, rel=0.25), "forces are first order in dt"
    assert np.isfinite(sim.joints["force"]).all()


def exact_pendulum(first, second, T, rods=((1.0, 1.0), (1.0, 1.0))):
    """Angles from the vertical after T of two rods (length, mass), by Lagrange's equations."""
    (l1, m1), (l2, m2) = rods
    i1, i2 = (m * (length**2 + (0.08 * min(1, length)) ** 2) / 12 for length, m in rods)

    def rate(t, y):
        a, b, u, v = y
        c, s = np.cos(a - b), np.sin(a - b)
        cross = 0.5 * m2 * l1 * l2
        M = [[i1 + m1 * l1**2 / 4 + m2 * l1**2, cross * c], [cross * c, i2 + m2 * l2**2 / 4]]
        f = [
            -cross * s * v * v - (0.5 * m1 + m2) * G * l1 * np.sin(a),
            cross * s * u * u - 0.5 * m2 * G * l2 * np.sin(b),
        ]
        return [u, v, *np.linalg.solve(M, f)]

    start = [np.radians(first), np.radians(second), 0, 0]
    return solve_ivp(rate, (0, T), start, rtol=1e-11, atol=1e-11).y[:2, -1]


@pytest.mark.parametrize("plane", [True, False])
def test_the_double_pendulum_is_first_order(plane):
    expected = exact_pendulum(120, 100, 1.0)
    errors = []
    for dt in (1 / 240, 1 / 480):
        sim = ds.scene("double-pendulum", planar=plane).simulation(dt=dt)
        sim.run(1.0)
        found = poses(sim)[:, 2] + 0.5 * np.pi
        errors.append(np.abs(np.angle(np.exp(1j * (found - expected)))).max())
    assert errors[0] < 0.05
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.15)


def swinging(masses, dt=1 / 240, duration=1.5, angle=1.0):
    """Two capsules on ball joints, one below the other; greatest opening and unexplained part."""
    world = ds.World()
    way = np.array([np.sin(angle), 0, -np.cos(angle)])
    turn = (np.cos(angle / 2), 0, -np.sin(angle / 2), 0)
    before = "world"
    for k, mass in enumerate(masses):
        place = {"position": (k + 0.5) * 0.5 * way, "orientation": turn, "layer": ()}
        world.add_body(ds.Capsule(0.4, 0.05), name=f"rod{k}", mass=mass, **place)
        world.add_joint(ds.Ball(f"rod{k}", before, anchor=0.5 * k * way))
        before = f"rod{k}"
    return watched(ds.Simulation(world, ds.TimeStepping(dt=dt)), duration)


def watched(sim, duration):
    """Runs; asserts what every step must keep; returns the simulation."""
    for _ in range(round(duration / sim.method.dt)):
        report = sim.step()
        assert report.ok
        assert report.residual < 1e-7
        assert report.joint_error < 1e-6
        ledger = report.energy
        parts = (ledger.kinetic, ledger.potential, ledger.friction, ledger.impact)
        assert abs(ledger.unexplained) < 1e-12 * max(1.0, *np.abs(parts))
    return sim


@pytest.mark.parametrize("masses", [(1.0, 1000.0), (1000.0, 1.0)])
def test_mass_ratio_1000_across_a_joint_hanging(masses):
    sim = swinging(masses)
    kinetic, potential = sim.energy
    start = -sum(masses[k] * G * (k + 0.5) * 0.5 * np.cos(1.0) for k in range(2))
    assert kinetic + potential == pytest.approx(start, rel=0.02), "to the order of the step"


@pytest.mark.parametrize("masses", [(1.0, 1000.0), (1000.0, 1.0)])
def test_mass_ratio_1000_across_a_joint_pushing(masses):
    """A rod stands slantwise on the ground with another on a hinge above it; both topple."""
    world = ds.World()
    world.add_ground(friction=0.5)
    for k, mass in enumerate(masses):
        place = {"position": (0, 0, 0.05 + (k + 0.5) * 0.5), "velocity": (0.5, 0, 0)}
        world.add_body(ds.Box(0.1, 0.1, 0.5), name=f"post{k}", mass=mass, **place)
    world.add_joint(ds.Hinge("post1", "post0", anchor=(0, 0, 0.55), axis=(0, 1, 0)))
    sim = watched(ds.Simulation(world), 3.0)
    assert sim.penetration < 1e-4
    load = sim.contacts["force"][:, 2].sum()
    assert abs(load) == pytest.approx(sum(masses) * G, rel=1e-3), "it lies still"


def rod_between(left, right, length=1.0):
    """A planar rod pinned at two points of the world."""
    world = ds.World(planar=True)
    world.add_body(ds.Rectangle(length, 0.1), name="rod", position=(0.5, 0))
    world.add_joint(ds.Pin("rod", anchor_a=(-0.5 * length, 0), anchor_b=left, name="left"))
    world.add_joint(ds.Pin("rod", anchor_a=(0.5 * length, 0), anchor_b=right, name="right"))
    return world


def test_a_simulation_starts_with_its_joints_closed():
    """Bodies that do not fit yet are moved, not torn into place within a step."""
    sim = ds.Simulation(rod_between((0.6, 0.3), (0.6, 1.3)))
    np.testing.assert_allclose(sim.body("rod").position, (0.6, 0.8), atol=1e-9)
    assert sim.body("rod").orientation == pytest.approx(0.5 * np.pi, abs=1e-9)
    report = sim.step()
    assert report.ok
    assert np.abs(sim.state.velocity).max() < 1e-9, "held at both ends, it stays"
    fits = rod_between((0, 0), (1, 0))
    np.testing.assert_array_equal(ds.Simulation(fits).state.position, fits.build()[1].position)


def test_loops_that_contradict_each_other_are_named():
    with pytest.raises(ds.ModelError, match=r"joint 'left' between 'rod' and the world cannot.*"):
        ds.Simulation(rod_between((0, 0), (1.5, 0)))
    with pytest.raises(ds.ModelError, match=r"open by 0\.25 m; its loop is 'left', 'right'"):
        ds.Simulation(rod_between((0, 0), (1.5, 0)))
    world = ds.scene("four-bar").world
    world.add_joint(ds.Distance("coupler", "world", anchor_b=(3, 0), length=0.1, name="rope"))
    with pytest.raises(ds.ModelError, match=r"joint '.*' between .*cannot close.*its loop is"):
        ds.Simulation(world)


def test_bodies_driven_apart_end_in_an_error_that_names_joint_and_bodies():
    world = ds.World(planar=True)
    for name, x, speed in (("l", 0.0, -1.0), ("r", 1.0, 1.0)):
        world.add_body(
            ds.Disk(0.1), name=name, position=(x, 0), motion=ds.ConstantVelocity((speed, 0))
        )
    world.add_body(ds.Rectangle(1, 0.1), name="rod", position=(0.5, 0))
    world.add_joint(ds.Pin("rod", "l", anchor=(0, 0), name="left"))
    world.add_joint(ds.Pin("rod", "r", anchor=(1, 0), name="right"))
    sim = ds.Simulation(world)
    with pytest.raises(
        ds.SimulationError, match=r"joint '(left|right)' is open by .*'rod' and '(l|r)'"
    ):
        sim.run(0.1)
