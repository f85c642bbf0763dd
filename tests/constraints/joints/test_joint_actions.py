"""Limits, motors, friction, springs, counted turns: against the motion of one freedom."""

import numpy as np
import pytest

from drystone.constraints.joints import Gear, Hinge, Motor, Pin, Screw, Slider, Universal, Wheel
from drystone.constraints.joints.forces import spring_energy
from drystone.constraints.joints.rows import free_coordinates, joint_extra_rows, joint_rows
from drystone.dynamics.frames import exponential, product
from drystone.kernels import joints_coupled as kinds
from drystone.world import World
from tests.constraints.joints.joint_worlds import moved

pytestmark = pytest.mark.kernels
H, MASS, INERTIA = 0.01, 2.0, 0.5


def slider(**action):
    world = World(planar=True, gravity=(0, 0))
    world.add_body(name="a", mass=MASS, inertia=INERTIA, position=(0.3, 0))
    world.add_joint(Slider("a", anchor_a=(0, 0), anchor_b=(0, 0), axis=(1, 0), **action))
    return world.build()


def pin(**action):
    world = World(planar=True, gravity=(0, 0))
    world.add_body(name="a", mass=MASS, inertia=INERTIA)
    world.add_joint(Pin("a", anchor=(0, 0), **action))
    return world.build()


def run(model, state, steps, mass, dof):
    """One freedom, rows one after the other: r from u = J v + bias + soft r in its interval."""
    x = []
    for _ in range(steps):
        rows = joint_extra_rows(model, state, H)
        impulse = np.zeros(rows.bias.size)
        for _ in range(60 if rows.bias.size > 1 else 1):
            for i in range(rows.bias.size):
                g = rows.J[i, 0, dof]
                u = g * state.velocity[0, dof] + rows.bias[i] + rows.soft[i] * impulse[i]
                r = impulse[i] - u / (g * g / mass + rows.soft[i])
                r = min(max(r, rows.lower[i]), rows.upper[i])
                state.velocity[0, dof] += g * (r - impulse[i]) / mass
                impulse[i] = r
        state = moved(state, H * state.velocity)
        x.append(free_coordinates(model.joints, state).value[0])
    return state, np.array(x)


@pytest.mark.parametrize(("k", "c"), [(40.0, 0.0), (40.0, 3.0), (0.0, 5.0), (1e9, 10.0)])
def test_a_spring_is_the_implicit_euler_method(k, c):
    """m x'' = -k (x - rest) - c x', each step solved for its end; stable at any stiffness."""
    model, state = slider(spring=(k, c, 0.1))
    state.velocity[0, 0] = 0.7
    x, v = 0.3, 0.7
    expected = []
    for _ in range(50):
        v = (MASS * v - H * k * (x - 0.1)) / (MASS + H * c + H * H * k)
        x += H * v
        expected.append(x)
    _, found = run(model, state, 50, MASS, 0)
    assert np.allclose(found, expected, atol=1e-12)


def test_energy_of_springs():
    model, state = slider(spring=(8.0, 1.0, 0.1))
    value = free_coordinates(model.joints, state).value
    assert np.isclose(spring_energy(model.joints, value), 0.5 * 8.0 * 0.2**2)
    model, state = slider(limits=(0, 1))
    assert spring_energy(model.joints, free_coordinates(model.joints, state).value) == 0


def test_a_spring_converges_to_the_oscillation():
    model, state = slider(spring=(8.0, 0.0, 0.0))
    omega = 2.0
    _, x = run(model, state, 100, MASS, 0)
    exact = 0.3 * np.cos(omega * H * np.arange(1, 101))
    assert np.abs(x - exact).max() < 0.3 * omega**2 * H  # first order


def test_a_speed_motor_gets_there_with_its_force_and_stays():
    model, state = pin(motor=Motor(speed=3.0, max_force=10.0))
    after, turn = run(model, state, 30, INERTIA, 2)
    rate = np.diff(turn, prepend=0.0) / H
    expected = np.minimum(10.0 / INERTIA * H * np.arange(1, 31), 3.0)
    assert np.allclose(rate, expected, atol=1e-10)
    assert after.velocity[0, 2] == pytest.approx(3.0)


def test_a_position_motor_decays_to_its_place():
    model, state = slider(motor=Motor(position=1.0, gain=20.0))
    _, x = run(model, state, 40, MASS, 0)
    assert np.allclose(1.0 - x, 0.7 * (1 - 20 * H) ** np.arange(1, 41), atol=1e-12)
    model, state = slider(motor=Motor(position=1.0, gain=1e6, speed=2.0))
    _, x = run(model, state, 60, MASS, 0)
    assert np.allclose(x, np.minimum(0.3 + 2.0 * H * np.arange(1, 61), 1.0), atol=1e-12)


def test_friction_stops_and_holds():
    model, state = pin(friction=2.0)
    state.velocity[0, 2] = 1.0
    _, turn = run(model, state, 60, INERTIA, 2)
    rate = np.diff(turn, prepend=0.0) / H
    expected = np.maximum(1.0 - 2.0 / INERTIA * H * np.arange(1, 61), 0.0)
    assert np.allclose(rate, expected, atol=1e-12)
    assert rate[-1] == 0


def test_limits_stop_from_both_sides():
    for speed, end in ((2.0, 0.5), (-2.0, 0.2)):
        model, state = slider(limits=(0.2, 0.5))
        state.velocity[0, 0] = speed
        _, x = run(model, state, 20, MASS, 0)
        assert np.isclose(x[-1], end, atol=1e-12)
        assert x.min() > 0.2 - 1e-12
        assert x.max() < 0.5 + 1e-12
    model, state = slider(limits=(None, 0.5))
    assert joint_extra_rows(model, state, H).kind.tolist() == [kinds.UPPER]
    model, state = slider(limits=(0.25, 0.25))
    assert joint_extra_rows(model, state, H).kind.tolist() == [kinds.HOLD]
    _, x = run(model, state, 2, MASS, 0)
    assert np.allclose(x, 0.25)


def test_a_broken_limit_is_mended_in_a_step():
    model, state = slider(limits=(0.4, 0.5))  # starts at 0.3
    _, x = run(model, state, 1, MASS, 0)
    assert np.isclose(x[0], 0.4)


def test_rows_without_actions_are_none():
    assert joint_extra_rows(*slider(), H) is None
    assert joint_extra_rows(*World().build(), H) is None


def hinge_world():
    world = World()
    world.add_body(name="a", mass=1, inertia=(1, 1, 1), position=(1, 0, 0))
    world.add_body(name="b", mass=1, inertia=(1, 1, 1), position=(3, 0, 0))
    return world


def turned_about(state, body, centre, axis, angle):
    """One body turned about a line of the world."""
    out = state.copy()
    q = exponential(angle * np.asarray(axis, float))
    arm = np.concatenate([[0.0], state.position[body] - centre])
    out.position[body] = centre + product(product(q, arm), q * [1, -1, -1, -1])[1:]
    out.orientation[body] = product(q, state.orientation[body])
    return out


def test_turns_of_a_hinge_are_counted():
    world = hinge_world()
    world.add_joint(Hinge("a", "world", anchor=(0, 0, 0), axis=(0, 0, 2)))
    model, state = world.build()
    last, total = free_coordinates(model.joints, state).value, 0.0
    for step in (1.0, 2.0, 2.5, 3.0, 1.5, -2.0, -3.0, -3.0, -3.0, -3.0):
        state = turned_about(state, 0, np.zeros(3), (0, 0, 1), step)
        total += step
        last = free_coordinates(model.joints, state, last).value
        assert np.isclose(last[0], total, atol=1e-12)


def test_counting_starts_between_the_limits():
    world = hinge_world()
    world.add_joint(Hinge("a", "world", anchor=(0, 0, 0), axis=(0, 0, 1), limits=(3.0, 7.0)))
    model, state = world.build()
    state = turned_about(state, 0, np.zeros(3), (0, 0, 1), 4.0)
    assert np.isclose(free_coordinates(model.joints, state).value[0], 4.0)


def test_a_screw_and_a_gear_hold_over_many_turns():
    world = hinge_world()
    screw = Screw("a", "world", anchor=(1, 0, 0), axis=(0, 0, 1), pitch=0.2, name="screw")
    world.add_joint(screw)
    world.add_joint(Hinge("b", "world", anchor=(3, 0, 0), axis=(0, 0, 1), name="bearing"))
    world.add_joint(Gear("bearing", ("screw", "turn"), ratio=-0.37))
    world.add_joint(Gear("a", "b", axis=(0, 0, 1), ratio=-1 / 0.37, name="spins"))
    model, state = world.build()
    assert model.joints.names == ("screw", "bearing", "joint2", "spins", "spins.a", "spins.b")
    q = free_coordinates(model.joints, state)
    for _ in range(12):
        state = turned_about(state, 0, state.position[0], (0, 0, 1), 1.1)
        state = turned_about(state, 1, state.position[1], (0, 0, 1), -0.37 * 1.1)
        state.position[0, 2] += 0.2 * 1.1 / (2 * np.pi)
        q = free_coordinates(model.joints, state, q.value)
        assert np.abs(joint_rows(model.joints, state, q).error).max() < 1e-12
    state = turned_about(state, 1, state.position[1], (0, 0, 1), 0.01)
    q = free_coordinates(model.joints, state, q.value)
    error = joint_rows(model.joints, state, q).error
    assert np.isclose(error[model.joints.first_row[2]], 0.01)
    assert np.isclose(error[model.joints.first_row[3]], 0.01 / 0.37)


def test_a_rack_couples_a_turn_and_a_slide():
    world = World(planar=True)
    world.add_body(name="pinion", mass=1, inertia=1, position=(0, 0.2))
    world.add_body(name="rack", mass=1, inertia=1, position=(0.5, 0))
    world.add_joint(Pin("pinion", anchor=(0, 0.2), name="bearing"))
    world.add_joint(Slider("rack", anchor_b=(0, 0), axis=(1, 0), name="rail"))
    world.add_joint(Gear("rail", "bearing", ratio=0.2))
    model, state = world.build()
    rows = joint_rows(model.joints, state)
    assert np.abs(rows.error).max() < 1e-15, "the slide starts at 0.5 m"
    assert rows.body[-1].tolist() == [1, 0]
    assert rows.J[-1].tolist() == [[1, 0, 0], [0, 0, -0.2]]
    state.position[1, 0] += 0.2 * 9.0
    state.orientation[0] += 9.0
    assert np.abs(joint_rows(model.joints, state).error).max() < 1e-14


def test_turns_of_a_universal_joint():
    """R = Rz(first) Rx(second), the first axis on b and the second on a."""
    world = hinge_world()
    world.add_joint(
        Universal("a", "world", anchor=(0, 0, 0), axis=(0, 0, 1), second_axis=(1, 0, 0))
    )
    model, state = world.build()
    state = turned_about(state, 0, np.zeros(3), (1, 0, 0), -0.7)
    state = turned_about(state, 0, np.zeros(3), (0, 0, 1), 1.2)
    assert np.allclose(free_coordinates(model.joints, state).value, (1.2, -0.7))
    assert np.abs(joint_rows(model.joints, state).error).max() < 1e-15


def test_a_wheel_knows_what_acts_where():
    world = World(planar=True)
    world.add_body(name="wheel", mass=1, inertia=1)
    world.add_body(name="car", mass=9, inertia=5, position=(0, 1))
    world.add_joint(
        Wheel("wheel", "car", anchor=(0, 0), axis=(0, 1), spring=(1e4, 1e2), limits=(-0.1, 0.1),
              motor=Motor(speed=5, max_force=3), friction=0.2)
    )  # fmt: skip
    model, state = world.build()
    rows = joint_extra_rows(model, state, H)
    at = dict(zip(rows.kind.tolist(), rows.coordinate.tolist(), strict=True))
    slide, turn = 0, 1
    assert at == {
        kinds.LOWER: slide, kinds.UPPER: slide, kinds.SPEED_MOTOR: turn, kinds.FRICTION: turn,
        kinds.SPRING: slide,
    }  # fmt: skip
