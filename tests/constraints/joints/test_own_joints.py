"""Joints of a user's own, from outside of the package, made of the functions of ours."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import drystone as ds
from drystone.constraints.joints.registry import JOINTS
from drystone.scene_files.models import schema

F = ds.JointFunction
METHODS = {
    **{
        name: ds.TimeStepping(dt=0.002, joints=name)
        for name in ("exact", "velocity", "stabilize", "project")
    },
    "order 2": ds.TimeStepping(dt=0.002, order=2),
    "sleeping": ds.TimeStepping(dt=0.002, sleeping=ds.Sleeping()),
    "event-driven": ds.EventDriven(dt=0.002),
    "penalty": ds.Penalty(dt=2e-5, stiffness=1e6, damping=1e3),
}


@dataclass(frozen=True)
class Carriage(ds.AlignedJoint):
    """a slides in a straight slot of b's table and turns about the table's normal, the axis."""

    kind: ClassVar[str] = "carriage"
    keeps: ClassVar[str] = "a plane of a in a plane of b, a point of a on a line of b"
    rows: ClassVar = {3: (F.point(0), F.point(2), F.swing(0), F.swing(1))}
    free: ClassVar = {3: {"slide": F.point(1), "turn": F.angle(0, 1)}}


@dataclass(frozen=True)
class ConstantVelocity(ds.AlignedJoint):
    """Two shafts that meet in a point and turn at one speed at any bend."""

    kind: ClassVar[str] = "constant-velocity"
    rows: ClassVar = {3: (F.point(0), F.point(1), F.point(2), F.twist())}
    free: ClassVar = {3: {"bend": F.tilt()}}


@dataclass(frozen=True)
class Roller(ds.AxisJoint):
    """A wheel a of this radius [m] that rolls along the axis (2,) of b without slipping."""

    radius: float = 1.0
    kind: ClassVar[str] = "roller"
    rows: ClassVar = {2: (F.point(1),)}
    free: ClassVar = {2: {"slide": F.point(0), "turn": F.angle()}}
    meant: ClassVar = {"limits": ("slide",), "motor": ("turn",)}

    def couplings(self, owner: str) -> Sequence[Mapping[str, float]]:
        return ({"slide": 1.0, "turn": self.radius},)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """What a test registers goes when it ends."""
    monkeypatch.setattr(JOINTS, "_added", {})
    for joint in (Carriage, ConstantVelocity, Roller):
        assert ds.register_joint(joint) is joint


def table(joints):
    """A brick on a tilted table, with a pendulum hung on it."""
    world = ds.World(gravity=(2.0, -3.0, -9.0))
    world.add_body(
        ds.Box(0.4, 0.2, 0.1), name="brick", position=(0.1, 0.2, 0.3), velocity=(0, 0.5, 0),
        angular_velocity=(0, 0, 2),
    )  # fmt: skip
    world.add_body(ds.Sphere(0.05), name="bob", position=(0.1, 0.2, -0.1))
    world.add_joint(ds.Ball("bob", "brick", anchor=(0.3, 0.2, 0.3)))
    for joint in joints:
        world.add_joint(joint)
    return world


def built_in(**acting):
    """The carriage of two of our joints: rows of one and of the other."""
    place = {"anchor": (0.1, 0.2, 0.3)}
    # the frame of an axis z has x for its first axis, y for its second
    flat = ds.PlanarJoint("brick", axis=(0, 0, 1), **place, **acting)
    return flat, ds.PointOnPlane("brick", axis=(1, 0, 0), **place)


@pytest.mark.parametrize("name", METHODS)
def test_a_carriage_moves_as_a_planar_joint_and_a_point_in_a_plane(name):
    """The same rows, in two joints of ours or in one of a user: the same motion and reactions."""
    spring, stop = (40.0, 0.5, 0.25), (-0.3, 0.5)
    own = Carriage(
        "brick", axis=(0, 0, 1), anchor=(0.1, 0.2, 0.3), friction={"turn": 0.01},
        spring={"slide": spring}, limits={"slide": stop}, name="own",
    )  # fmt: skip
    ours = built_in(friction={"turn": 0.01}, spring={"y": spring}, limits={"y": stop})
    a, b = (ds.Simulation(table(joints), METHODS[name]) for joints in ((own,), ours))
    duration = 0.004 if name == "penalty" else 0.2
    for sim in (a, b):
        sim.run(duration)
    assert np.abs(a.state.velocity).max() > 0.4
    np.testing.assert_allclose(a.state.position, b.state.position, rtol=0, atol=1e-9)
    np.testing.assert_allclose(a.state.velocity, b.state.velocity, rtol=0, atol=1e-7)
    force = b.joints["force"][1] + b.joints["force"][2]
    np.testing.assert_allclose(a.joints["force"][1], force, rtol=1e-6, atol=1e-6)
    view = a.joint("own")
    assert view.coordinates == ("slide", "turn")
    assert view.position[0] == pytest.approx(a.body("brick").position[1] - 0.2, abs=1e-12)
    assert view.velocity[1] == pytest.approx(a.body("brick").angular_velocity[2], abs=1e-12)


def test_a_limit_of_an_own_joint_stops_it():
    stop = Carriage(
        "brick", axis=(0, 0, 1), anchor=(0.1, 0.2, 0.3), limits={"slide": (-0.05, 0.1)}, name="own"
    )
    for method in (ds.TimeStepping(dt=0.002), ds.EventDriven(dt=0.002)):
        sim = ds.Simulation(table((stop,)), method)
        sim.run(0.5)
        assert sim.joint("own").position[0] == pytest.approx(-0.05, abs=1e-6)


@pytest.mark.parametrize("bend", [0.3, 0.9])
def test_shafts_turn_at_one_speed_at_any_bend(bend):
    """Where a cardan joint gives cos b / (1 - sin^2 b cos^2 phi) of the speed."""
    speed = {}
    for kind in ("own", "cardan"):
        world = ds.World(gravity=(0, 0, 0))
        along = np.array([np.sin(bend), 0, np.cos(bend)])
        turned = (np.cos(bend / 2), 0, np.sin(bend / 2), 0)
        world.add_body(ds.Cylinder(0.3, 0.05), name="in", position=(0, 0, -0.3))
        world.add_body(ds.Cylinder(0.3, 0.05), name="out", position=0.3 * along, orientation=turned)
        drive = ds.Motor(speed=3.0)
        world.add_joint(ds.Hinge("in", axis=(0, 0, 1), anchor=(0, 0, 0), motor=drive))
        world.add_joint(ds.Hinge("out", axis=along, anchor=(0, 0, 0), name="out"))
        if kind == "own":
            joint = ConstantVelocity(
                "out", "in", axis_a=(0, 0, 1), axis_b=(0, 0, 1), anchor_a=(0, 0, -0.3),
                anchor_b=(0, 0, 0.3), name="joint",
            )  # fmt: skip
        else:
            joint = ds.Universal(
                "out", "in", anchor=(0, 0, 0), axis=(1, 0, 0), second_axis=(0, 1, 0)
            )
        world.add_joint(joint)
        sim = ds.Simulation(world, ds.TimeStepping(dt=0.005))
        speed[kind] = []
        for _ in range(100):
            sim.step()
            speed[kind].append(sim.joint("out").velocity[0])
        if kind == "own":
            assert sim.joint("joint").position[0] == pytest.approx(bend, abs=1e-9)
    np.testing.assert_allclose(speed["own"], 3.0, rtol=1e-4)
    assert np.ptp(speed["cardan"]) > 0.5 * bend**2


@pytest.mark.parametrize("slope", [0.2, 0.7])
@pytest.mark.parametrize("radius", [0.1, 0.35])
def test_a_roller_rolls_down_as_gravity_and_its_inertia_say(slope, radius):
    """s = g sin(slope) t^2 / 3 of a disk, at any radius: a row that couples two coordinates."""
    along = np.array([np.cos(slope), -np.sin(slope)])
    world = ds.World(planar=True)
    world.add_body(ds.Disk(radius), name="wheel")
    world.add_joint(Roller("wheel", anchor=(0, 0), axis=along, radius=radius, name="rail"))
    for method, tol in ((ds.TimeStepping(dt=0.001, order=2), 1e-6), (ds.EventDriven(), 1e-6)):
        sim = ds.Simulation(world, method)
        sim.run(0.5)
        slide, turn = sim.joint("rail").position
        expected = 9.81 * np.sin(slope) * 0.5**2 / 3
        assert slide == pytest.approx(expected, rel=tol)
        assert turn == pytest.approx(-expected / radius, rel=tol)


def rolling(**acting):
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.2), name="wheel")
    world.add_joint(
        Roller("wheel", anchor=(0, 0), axis=(1, -0.5), radius=0.2, name="rail", **acting)
    )
    return world


def test_an_own_joint_in_scene_files(tmp_path):
    world = rolling(limits=(None, 0.1))
    path = ds.write_scene(tmp_path / "rolling.yaml", world)
    assert "kind: roller" in path.read_text()
    again = ds.read_scene(path).world
    a, b = (ds.Simulation(w, ds.TimeStepping(dt=0.01)) for w in (world, again))
    a.run(1.0), b.run(1.0)
    assert a.state.position.tobytes() == b.state.position.tobytes()
    assert a.joint("rail").position[0] == pytest.approx(0.1, abs=1e-9)
    known = schema()["$defs"]["RollerEntry"]["properties"]
    assert {"radius", "limits", "axis", "range"} <= set(known)
    text = path.read_text()
    (tmp_path / "wrong.yaml").write_text(text.replace("kind: roller", "kind: rolller"))
    with pytest.raises(ds.SceneFileError, match="did you mean 'roller'"):
        ds.read_scene(tmp_path / "wrong.yaml")
    (tmp_path / "wrong.yaml").write_text(text.replace("radius: 0.2", "radius: wide"))
    with pytest.raises(ds.SceneFileError, match=r"radius = 'wide': expected a number"):
        ds.read_scene(tmp_path / "wrong.yaml")


def test_a_recorded_run_with_an_own_joint_resumes_bit_for_bit(tmp_path):
    motor = ds.Motor(speed=-2.0, max_force=0.5)
    sims = [ds.Simulation(rolling(motor=motor), ds.TimeStepping(dt=0.01)) for _ in range(2)]
    sims[0].run(1.0, record=tmp_path / "half.h5")
    sims[1].run(2.0)
    recording = ds.read_recording(tmp_path / "half.h5")
    assert recording.model.joints.kind == ("roller",)
    more = ds.resume(tmp_path / "half.h5", until=2.0)
    assert more.state.position.tobytes() == sims[1].state.position.tobytes()
    assert more.state.velocity.tobytes() == sims[1].state.velocity.tobytes()


def test_a_joint_without_a_name_works_but_no_file_can_tell_it(tmp_path):
    @dataclass(frozen=True)
    class Rail(ds.AxisJoint):
        rows: ClassVar = {2: (F.point(1),)}
        free: ClassVar = {2: {"slide": F.point(0)}}

    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.2), name="wheel")
    world.add_joint(Rail("wheel", anchor=(0, 0), axis=(1, 0)))
    sim = ds.Simulation(world)
    sim.run(0.1)
    assert abs(sim.body("wheel").position[1]) < 1e-12
    with pytest.raises(ds.DescriptionError, match=r"Rail has no name in files: ds\.register_joint"):
        ds.write_scene(tmp_path / "rail.yaml", world)


def made(**values):
    return dataclass(frozen=True)(type("Own", (ds.AxisJoint,), values))


GOOD = {"kind": "own", "rows": {3: (F.point(0),)}, "free": {3: {}}}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kind": ""}, r"Own\.kind = '': expected a name"),
        ({"kind": "Own Joint"}, "expected a name such as"),
        ({"kind": "hinge"}, "joint 'hinge' exists already"),
        ({"kind": "carriage"}, "joint 'carriage' exists already"),
        ({"rows": {}}, "rows = {}"),
        ({"rows": {4: ()}}, "rows"),
        ({"rows": {3: "abc"}}, "rows"),
        ({"rows": {3: ((0, 1, 0, 0),)}}, "expected a JointFunction"),
        ({"free": {2: {}}}, "expected the dimensions of rows"),
        ({"free": {3: {"a b": F.point(0)}}}, "coordinate 'a b': expected a name"),
        ({"free": {3: {"c": F.cosine(0, 1)}}}, "a cosine can only be held"),
        ({"rows": {3: (F.spin(0),)}}, "can only be free"),
        ({"rows": {3: (F.tilt(),)}}, "can only be free"),
        ({"rows": {2: (F.point(2),)}, "free": {2: {}}}, "the plane has no such function"),
        ({"rows": {2: (F.swing(0),)}, "free": {2: {}}}, "the plane has no such function"),
        ({"rows": {3: (F.angle(1, 1),)}}, "towards another"),
        ({"takes": ("limit",)}, "takes"),
        ({"takes": None}, "Own.takes = None: expected a tuple"),
        ({"takes": ([],)}, "Own.takes"),
        ({"rows": {3: ()}}, "holds nothing and has no coordinate"),
        ({"rows": {2: (F.point(1),), 3: ()}, "free": {2: {}, 3: {}}}, "holds nothing"),
        ({"rows": {3: (F.point(0), F.point(0))}}, r"rows: point\(0\) is there twice"),
        ({"meant": None}, "Own.meant = None"),
        ({"meant": {"limits": ("y",)}}, "Own.meant"),
        ({"meant": {"limit": ()}}, "Own.meant"),
        ({"sometimes": ["x"]}, "Own.sometimes"),
        ({"couplings": lambda self: ()}, r"couplings\(self\): expected couplings\(self, owner\)"),
        ({"functions": 3}, "has functions = 3: expected functions"),
        ({"couples": True}, "only a Gear couples"),
    ],
)
def test_what_makes_no_sense_is_refused(values, words):
    before = set(JOINTS)
    with pytest.raises(ds.DrystoneError, match=words):
        ds.register_joint(made(**(GOOD | values)))
    assert set(JOINTS) == before


def in_a_world(**values):
    """A joint of a class that nobody registered, on a sphere."""
    world = ds.World()
    world.add_body(ds.Sphere(0.1), name="ball")
    world.add_joint(made(**(GOOD | values))("ball", anchor=(0, 0, 0), axis=(0, 0, 1)))
    return ds.Simulation(world)


FREE = {3: {"x": F.point(1), "w": F.spin(2)}}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"rows": {3: ()}}, "holds nothing"),
        ({"meant": None}, "meant"),
        ({"free": {3: {"x": F.point(0)}}}, "coordinate 'x' is free, and held by a row"),
        ({"functions": lambda self, o, d: ((), {})}, "functions: rows .* holds nothing"),
        ({"functions": lambda self, o, d: None}, "functions gave None"),
        ({"functions": lambda self, o, d: ((1,), {})}, "1: expected a JointFunction"),
        ({"functions": lambda self, o, d: ((F.spin(0),), {})}, "can only be free"),
        ({"target": lambda self, *given: None}, "target gave None: expected a finite number"),
        ({"target": lambda self, *given: np.nan}, "target gave nan"),
        ({"target": lambda self, *given: np.zeros(2)}, "target gave array"),
        ({"target": lambda self: 0.0}, r"target\(self\): expected target\(self, owner, fun"),
        ({"find_anchors": lambda self, *given: None}, "find_anchors gave None"),
        ({"find_anchors": lambda self, *given: np.zeros(3)}, r"of shape \(2, 3\)"),
        ({"find_anchors": lambda self, *given: np.full((2, 3), np.inf)}, "finite numbers"),
        ({"find_frames": lambda self, *given: (np.eye(2), np.eye(2))}, r"of shape \(2, 3, 3\)"),
        ({"find_frames": lambda self, *given: (np.eye(3), np.ones((3, 3)))}, "right-handed unit"),
        ({"find_frames": lambda self, *given: (np.eye(3), -np.eye(3))}, "right-handed unit"),
        ({"act": lambda self, *given: None}, "act gave None: expected a list"),
        ({"couplings": lambda self, o: None}, "couplings gave None: expected a list"),
        ({"couplings": lambda self, o: (3,)}, "couples 3: expected two of"),
        ({"couplings": lambda self, o: ({"x": 1, "w": 1},), "free": FREE}, "expected two of 'x'"),
    ],
)
def test_what_a_method_of_an_own_joint_answers_is_checked(values, words):
    with pytest.raises(ds.ModelError, match=words) as caught:
        in_a_world(**values)
    assert "Own" in str(caught.value)


@pytest.mark.parametrize("factors", [(np.nan, 1), ("a", 1), (0, 0), (np.inf, 1), (None, 2)])
def test_factors_of_a_coupling_are_numbers(factors):
    free = {3: {"x": F.point(1), "y": F.point(2)}}
    coupled = dict(zip(("x", "y"), factors, strict=True))
    with pytest.raises(ds.ModelError, match="expected finite factors, not both 0"):
        in_a_world(free=free, couplings=lambda self, owner: (coupled,))


def test_an_error_inside_of_an_own_method_is_told_with_the_joint():
    with pytest.raises(ZeroDivisionError) as caught:
        in_a_world(target=lambda self, *given: 1 / 0)
    assert caught.value.__notes__ == ["joint 'joint0' (Own from 'ball' to 'world'): in Own.target"]


def test_a_joint_of_springs_alone_holds_no_row():
    """A bushing: x'' = -k x / m has the period 2 pi sqrt(m / k)."""
    bushing = made(kind="bushing", rows={3: ()}, free={3: {"x": F.point(2)}})
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(ds.Sphere(0.1), name="ball", mass=2.0, velocity=(0.3, 0, 0))
    spring = {"x": (50.0, 0.0)}
    world.add_joint(bushing("ball", anchor=(0, 0, 0), axis=(1, 0, 0), spring=spring))
    sim = ds.Simulation(world, ds.TimeStepping(dt=1e-4))
    sim.run(0.25 * 2 * np.pi * np.sqrt(2.0 / 50.0))
    assert sim.body("ball").position[0] == pytest.approx(0.3 * np.sqrt(2.0 / 50.0), rel=1e-3)


def test_parameters_of_a_class_without_its_decorator_are_asked_for():
    class Plain(ds.AxisJoint):
        radius: float = 1.0
        rows: ClassVar = {3: (F.point(0),)}
        free: ClassVar = {3: {}}

    with pytest.raises(ds.ArgumentError, match=r"Plain must be a dataclass: write @dataclass"):
        Plain("ball", radius=3.0)


def test_what_is_no_joint_is_refused():
    for thing in (ds.Box, "roller", None, Roller("a")):
        with pytest.raises(ds.DrystoneError, match=r"expected a subclass of ds\.Joint"):
            ds.register_joint(thing)
    with pytest.raises(ds.DrystoneError, match="dataclass"):
        ds.register_joint(type("Own", (ds.AxisJoint,), GOOD | {"__annotations__": {"r": float}}))
    for make in (F.point, F.swing, F.turn, F.spin):
        for axis in (-1, 3, 0.5, "x", None, float("nan"), True):
            with pytest.raises(ds.ModelError, match="expected one of 0, 1"):
                make(axis)


def test_the_schema_is_json():
    assert "carriage" in json.dumps(schema())
