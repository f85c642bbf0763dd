"""Forces against finite differences of their potentials, balances, and closed forms."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from drystone.dynamics.forces import Callback, ConstantForce, Damper
from drystone.dynamics.springs import Spring, TorsionSpring
from drystone.errors import ModelError, SimulationError
from drystone.geometry.shapes import Disk, Sphere
from drystone.model import State
from drystone.world import World

thorough = settings(deadline=None, derandomize=True, max_examples=60)
seeds = st.integers(0, 2**32 - 1)


def make(dim, *forces):
    """Three bodies, one with its centre of mass away from its frame, and some forces."""
    world = World(planar=dim == 2)
    inertia = 0.5 if dim == 2 else (0.3, 0.4, 0.5)
    off = (0.2, -0.1, 0.3)[:dim]
    for name in "abc":
        centre = off if name == "b" else (0.0,) * dim
        world.add_body(name=name, mass=2, inertia=inertia, centre_of_mass=centre)
    for force in forces:
        world.add_force(force)
    return world.build()[0]


def random_state(dim, seed):
    rng = np.random.default_rng(seed)
    if dim == 2:
        return State(0.0, rng.normal(size=(3, 2)), rng.normal(size=3), rng.normal(size=(3, 3)))
    q = rng.normal(size=(3, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return State(0.0, rng.normal(size=(3, 3)), q, rng.normal(size=(3, 6)))


def total(model, state):
    out = np.zeros((model.nb, model.dof))
    for force in model.forces:
        force.add(model, state, out)
    return out


def energy(model, state):
    return sum(force.potential(model, state) for force in model.forces)


def moved(state, i, k, step):
    """Body i moved along, or turned about, world axis k of its dof."""
    dim, out = state.position.shape[1], state.copy()
    if k < dim:
        out.position[i, k] += step
    elif dim == 2:
        out.orientation[i] += step
    else:
        turn = Rotation.from_rotvec(step * np.eye(3)[k - 3])
        before = Rotation.from_quat(state.orientation[i], scalar_first=True)
        out.orientation[i] = (turn * before).as_quat(scalar_first=True)
    return out


def downhill(model, state, step=1e-5):
    """Minus the gradient of the potential by central differences: error about 1e-9."""
    out = np.zeros((model.nb, model.dof))
    for i, k in np.ndindex(out.shape):
        up, down = (energy(model, moved(state, i, k, s)) for s in (step, -step))
        out[i, k] = -(up - down) / (2 * step)
    return out


CONSERVATIVE = {
    2: {
        "force": ConstantForce("b", (3, -2)),
        "force and torque at a point": ConstantForce("b", (3, -2), torque=1.5, point=(0.4, 0.7)),
        "spring": Spring("a", "b", (0.1, 0.2), (0.5, -0.3), stiffness=20, rest_length=0.7),
        "spring to the world": Spring("b", anchor_a=(0.5, 0), anchor_b=(1, 1), stiffness=5),
        "spring from the world": Spring("world", "c", (1, 2), (0.5, 0), stiffness=5),
        "torsion": TorsionSpring("a", "b", stiffness=4, rest_angle=0.4),
        "torsion to the world": TorsionSpring("b", stiffness=4),
    },
    3: {
        "force": ConstantForce("b", (3, -2, 1)),
        "force at a point": ConstantForce("b", (3, -2, 1), point=(0.4, 0.7, -0.2)),
        "spring": Spring("a", "b", (0.1, 0.2, 0.3), (0.5, -0.3, 0), stiffness=20, rest_length=0.7),
        "spring to the world": Spring("b", anchor_a=(0.5, 0, 0), anchor_b=(1, 1, 1), stiffness=5),
        "torsion about an axis": TorsionSpring(
            "a", "b", stiffness=4, rest_angle=0.4, axis=(1, 2, -1)
        ),
        "torsion about a world axis": TorsionSpring("b", stiffness=4, axis=(0, 0, 1)),
        "torsion every way": TorsionSpring("a", "b", stiffness=4),
    },
}
CASES = [(dim, name) for dim in (2, 3) for name in CONSERVATIVE[dim]]


def far_from_a_cut(model, state):
    """Torsion angles jump by 2 pi somewhere, and their axis is lost at a half turn of it."""
    if model.dim == 2:
        return True
    R = Rotation.from_quat(state.orientation, scalar_first=True)
    for turn in (R[1].inv() * R[0], R[1]):
        q = turn.as_quat(scalar_first=True)
        for axis in (np.array([1, 2, -1]) / np.sqrt(6), np.array([0, 0, 1])):
            w, s = q[0], q[1:] @ axis
            angle = 2 * np.arctan2(s, w) - 0.4
            if np.hypot(w, s) < 0.2 or abs(np.cos(angle / 2)) < 0.05:
                return False
        if abs(q[0]) < 0.05 or abs(np.cos(np.arctan2(q[3], q[0]))) < 0.05:
            return False
    return True


@pytest.mark.parametrize(("dim", "name"), CASES)
@thorough
@given(seed=seeds)
def test_forces_are_gradients(dim, name, seed):
    model, state = make(dim, CONSERVATIVE[dim][name]), random_state(dim, seed)
    assume(far_from_a_cut(model, state))
    assert np.allclose(total(model, state), downhill(model, state), rtol=1e-6, atol=2e-6)


INNER = [
    Spring("a", "b", (0.1, 0.2), (0.5, -0.3), stiffness=20, rest_length=0.7, damping=3),
    TorsionSpring("b", "c", stiffness=4, damping=2),
]
INNER_SPATIAL = [
    Spring("a", "b", (0.1, 0.2, 0), (0.5, -0.3, 1), stiffness=20, rest_length=0.7, damping=3),
    TorsionSpring("b", "c", stiffness=4, damping=2),
    TorsionSpring("a", "c", stiffness=4, damping=2, axis=(1, 0, 1)),
]


@pytest.mark.parametrize("dim", [2, 3])
@thorough
@given(seed=seeds)
def test_inner_forces_keep_momentum(dim, seed):
    model = make(dim, *(INNER if dim == 2 else INNER_SPATIAL))
    state = random_state(dim, seed)
    out = total(model, state)
    x, f, torque = np.zeros((3, 3)), np.zeros((3, 3)), out[:, dim:]
    x[:, :dim], f[:, :dim] = state.position, out[:, :dim]
    turning = np.cross(x, f)[:, 2:] if dim == 2 else np.cross(x, f)
    assert np.allclose(out[:, :dim].sum(axis=0), 0, atol=1e-11)
    assert np.allclose((torque + turning).sum(axis=0), 0, atol=1e-11)


@pytest.mark.parametrize("dim", [2, 3])
@thorough
@given(seed=seeds)
def test_inner_forces_do_not_know_the_frame(dim, seed):
    """Everything turned and shifted: the forces turn with it."""
    model = make(dim, *(INNER if dim == 2 else INNER_SPATIAL))
    state, rng = random_state(dim, seed), np.random.default_rng(seed + 1)
    shift, other = rng.normal(size=dim), state.copy()
    if dim == 2:
        angle = rng.normal()
        R = Rotation.from_rotvec([0, 0, angle]).as_matrix()[:2, :2]
        other.orientation += angle
        both = np.block([[R, np.zeros((2, 1))], [np.zeros((1, 2)), 1.0]])
    else:
        turn = Rotation.from_rotvec(rng.normal(size=3))
        R = turn.as_matrix()
        before = Rotation.from_quat(state.orientation, scalar_first=True)
        other.orientation = (turn * before).as_quat(scalar_first=True)
        both = np.kron(np.eye(2), R)
    other.position, other.velocity = state.position @ R.T + shift, state.velocity @ both.T
    assert np.allclose(total(model, other), total(model, state) @ both.T, atol=1e-10)
    assert energy(model, other) == pytest.approx(energy(model, state), rel=1e-9)


@pytest.mark.parametrize("dim", [2, 3])
@thorough
@given(seed=seeds)
def test_dampers_only_take_energy(dim, seed):
    damped = [Damper(linear=0.3, angular=0.2)]
    for force in INNER if dim == 2 else INNER_SPATIAL:
        kind = type(force)
        values = {field: getattr(force, field) for field in force.__dataclass_fields__}
        values.pop("fields", None)
        damped.append(kind(**(values | {"stiffness": 0})))
    model, state = make(dim, *damped), random_state(dim, seed)
    assert np.sum(total(model, state) * state.velocity) < 0
    assert energy(model, state) == 0


def test_spring_damping_is_the_rate_of_the_length():
    """Power -c (dL/dt)^2, with dL/dt from lengths at two times (springs of known energy)."""
    spring = {"a": "a", "b": "b", "anchor_a": (0.1, 0.2), "anchor_b": (0.5, -0.3)}
    length_of = make(2, Spring(**spring, stiffness=2.0))  # L = sqrt(V)
    damped, state, h = make(2, Spring(**spring, damping=3.0)), random_state(2, 5), 1e-6
    ends = [
        State(
            0.0, state.position + s * state.velocity[:, :2],
            state.orientation + s * state.velocity[:, 2], state.velocity,
        )
        for s in (-h, h)
    ]  # fmt: skip
    before, after = (np.sqrt(energy(length_of, end)) for end in ends)
    rate = (after - before) / (2 * h)
    power = np.sum(total(damped, state) * state.velocity)
    assert power == pytest.approx(-3.0 * rate**2, rel=1e-7)


def test_a_spring_and_damper_swing_as_the_closed_form_says():
    """m x'' + c x' + k x = 0 from x = 1 at rest; SciPy's integrator at 1e-10."""
    m, k, c, rest = 2.0, 50.0, 3.0, 2.0  # longer than the swing, so it never folds over
    model = make(2, Spring("a", anchor_b=(1.0, 0.0), stiffness=k, rest_length=rest, damping=c))

    def rate(t, y):
        state = State(t, np.zeros((3, 2)), np.zeros(3), np.zeros((3, 3)))
        state.position[0], state.velocity[0, :2] = (y[0], 0), (y[1], 0)
        return [y[1], total(model, state)[0, 0] / m]

    start = 1.0 + rest + 1.0
    run = solve_ivp(rate, (0, 2), [start, 0], rtol=1e-10, atol=1e-12, dense_output=True)
    t = np.linspace(0, 2, 50)
    decay, omega = c / (2 * m), np.sqrt(k / m - (c / (2 * m)) ** 2)
    swing = np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    assert np.allclose(run.sol(t)[0], 1.0 + rest + swing, atol=1e-8)


def test_spring_of_no_length():
    model = make(3, Spring("a", stiffness=10, damping=1), Spring("c", stiffness=10, rest_length=1))
    state = random_state(3, 0)
    state.position[:] = 0
    assert np.array_equal(total(model, state), np.zeros((3, 6)))
    assert energy(model, state) == 5.0


def test_force_at_a_point_by_hand():
    """The centre of mass of b is at (0.2, -0.1) of its frame, and the body is turned by 90 deg."""
    model = make(2, ConstantForce("b", force=(3, 0), point=(1.2, -0.1)))
    state = random_state(2, 3)
    state.orientation[1] = np.pi / 2
    assert np.allclose(total(model, state)[1], [3, 0, -3])


@pytest.mark.parametrize("dim", [2, 3])
def test_a_force_that_follows_turns_with_the_body(dim):
    force, torque = ((1.0, 0.0), 2.0) if dim == 2 else ((1.0, 0.0, 0.0), (2.0, 0.0, 0.0))
    model = make(dim, ConstantForce("a", force, torque, follows=True))
    state = random_state(dim, 4)
    state.orientation[0] = np.pi / 2 if dim == 2 else [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    expected = [0, 1, 2] if dim == 2 else [0, 1, 0, 0, 2, 0]
    assert np.allclose(total(model, state)[0], expected)
    assert energy(model, state) == 0


def test_torsion_pulls_the_shorter_way():
    """At 170 deg from the left of a rest at -170 deg: 20 deg to go, forwards."""
    model = make(3, TorsionSpring("a", stiffness=1, rest_angle=np.radians(-170), axis=(0, 0, 1)))
    state = random_state(3, 0)
    for sign in (1, -1):
        half = np.radians(85)
        state.orientation[0] = sign * np.array([np.cos(half), 0, 0, np.sin(half)])
        assert np.allclose(total(model, state)[0, 3:], [0, 0, np.radians(20)])


def test_planar_torsion_counts_turns():
    model, state = make(2, TorsionSpring("a", stiffness=2)), random_state(2, 0)
    state.orientation[0] = 4 * np.pi
    assert total(model, state)[0, 2] == pytest.approx(-8 * np.pi)


def test_many_springs_act_as_each_of_them():
    rng, springs = np.random.default_rng(7), []
    for _ in range(40):
        a, b = rng.choice(["a", "b", "c", "world"], 2, replace=False)
        numbers = dict(zip(("stiffness", "rest_length", "damping"), rng.random(3), strict=True))
        springs.append(Spring(str(a), str(b), rng.normal(size=3), rng.normal(size=3), **numbers))
    state = random_state(3, 8)
    together, models = make(3, *springs), [make(3, spring) for spring in springs]
    assert len(together.forces) == 1
    assert np.allclose(total(together, state), sum(total(m, state) for m in models), atol=1e-12)
    assert energy(together, state) == pytest.approx(sum(energy(m, state) for m in models))


def test_drag_on_one_and_on_all():
    state = random_state(2, 2)
    one = total(make(2, Damper("b", 2.0, 3.0)), state)
    assert np.allclose(one[1], -np.array([2, 2, 3]) * state.velocity[1])
    assert not one[[0, 2]].any()
    assert np.allclose(total(make(2, Damper(linear=2, angular=3)), state)[1], one[1])


# ---- callbacks


def push(model, state):
    return np.ones((model.nb, model.dof))


def test_callbacks_return_fill_or_name():
    state = random_state(2, 0)
    assert np.array_equal(total(make(2, Callback(push)), state), np.ones((3, 3)))

    def fill(model, state, out):
        out[1] += 2.0

    assert np.array_equal(total(make(2, Callback(fill, fills=True)), state)[1], [2, 2, 2])
    named = Callback(lambda model, state: {"c": (0, 5, 1)}, potential=lambda m, s: 4.0)
    model = make(2, named, Callback(push))
    assert np.array_equal(total(model, state), [[1, 1, 1], [1, 1, 1], [1, 6, 2]])
    assert energy(model, state) == 4.0


def late(model, state):
    return np.where(state.time > 1, np.nan, 0) * np.ones((model.nb, model.dof))


@pytest.mark.parametrize(
    ("callback", "error", "text"),
    [
        (Callback(late), SimulationError, "callback 'late' at t = 2 s: body 'a' gets .*nan"),
        (Callback(lambda m, s: np.ones(3), name="wind"), ModelError, "'wind' returned .*shape"),
        (Callback(lambda m, s: None, name="wind"), ModelError, "'wind' returned nothing.*fills"),
        (Callback(lambda m, s: {"B": (0, 0, 0)}, name="w"), ModelError, "'w': no body is named"),
        (Callback(lambda m, s: {"b": (0, 0)}, name="w"), ModelError, "body 'b' gets .* 3 numbers"),
        (Callback(lambda m, s: "x", name="w"), ModelError, "'w' returned"),
    ],
)
def test_a_callback_that_breaks_is_named(callback, error, text):
    state = random_state(2, 0)
    state.time = 2.0
    with pytest.raises(error, match=text):
        total(make(2, callback), state)


def test_a_potential_that_breaks_is_named():
    model = make(2, Callback(push, potential=lambda m, s: np.nan))
    with pytest.raises(SimulationError, match="'push': potential nan"):
        energy(model, random_state(2, 0))


@pytest.mark.parametrize(
    ("force", "text"),
    [
        (ConstantForce("a", (1, 2, 3)), "ConstantForce on 'a': force = .*expected 2 numbers"),
        (ConstantForce("a", (1, np.nan)), "ConstantForce on 'a': force"),
        (ConstantForce("a", torque=(1, 2, 3)), "ConstantForce on 'a': torque"),
        (ConstantForce("world", (1, 2)), "'world' is the inertial frame"),
        (ConstantForce(3, (1, 2)), "3 is not a body"),
        (Spring("a", "a", stiffness=1), "Spring from 'a' to 'a': expected two"),
        (Spring("a", "b", stiffness=-1), "Spring from 'a' to 'b': stiffness = -1"),
        (Spring("a", "b", rest_length=np.inf), "rest_length = inf"),
        (Spring("a", "b", anchor_b=(0, 0, 0)), "anchor_b"),
        (TorsionSpring("a", axis=(0, 0, 1)), "TorsionSpring from 'a' to 'world': axis"),
        (Damper("a", linear=-2), "Damper on 'a': linear = -2"),
        (Damper(angular=np.nan), "Damper: angular = nan"),
        (Callback(3), "expected a function"),
        (Callback(push, potential=3), "'push': potential = 3"),
    ],
)
def test_nonsense_is_refused_when_added(force, text):
    with pytest.raises(ModelError, match=text):
        World(planar=True).add_force(force)


def test_a_rest_angle_needs_an_axis_in_space():
    with pytest.raises(ModelError, match=r"rest_angle = 0\.5 without an axis"):
        World().add_force(TorsionSpring("a", rest_angle=0.5))


@pytest.mark.parametrize("world", [World(), World(planar=True)], ids=["spatial", "planar"])
def test_unknown_names_are_named_when_built_with_the_nearest(world):
    world.add_body(Disk(1) if world.planar else Sphere(1), name="brick7")
    world.add_force(Spring("brik7", stiffness=1))
    with pytest.raises(
        ModelError, match=r"Spring from 'brik7' to 'world': .*did you mean 'brick7'"
    ):
        world.build()
