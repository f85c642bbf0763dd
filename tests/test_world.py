"""The world's own promises: edits, names, handles, and every error names body and value."""

import numpy as np
import pytest

from drystone.dynamics.forces import Callback, ConstantForce, Damper
from drystone.dynamics.motions import ConstantVelocity, MotionFunction, Oscillation
from drystone.dynamics.springs import Spring
from drystone.errors import ModelError
from drystone.geometry.shapes import Box, Compound, Disk, HalfPlane, HalfSpace, Sphere, TriangleMesh
from drystone.problems import CircularCone, EllipticCone, PolyhedralCone
from drystone.world import BodyHandle, World

NAN, INF = float("nan"), float("inf")
MESH = TriangleMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])


def test_defaults():
    world = World()
    world.add_body(Box(1, 1, 1))
    model, state = world.build()
    assert model.gravity.tolist() == [0, 0, -9.81]
    assert model.names == ("body0",)
    assert model.friction.tolist() == [[0.5, 0.5]]
    assert model.restitution.tolist() == [[0, 0]]
    assert model.mass.tolist() == [1000]
    assert model.layer.tolist() == [-1]
    assert model.ratios.tolist() == [[1, 1]]
    assert not model.axis.any()
    assert state.orientation.tolist() == [[1, 0, 0, 0]]
    assert World(planar=True).gravity == (0, -9.81)


def test_ground():
    world = World()
    handle = world.add_ground(friction=(0.7, 0.6), restitution=0.1, height=2, normal=(0, 3, 4))
    model, _ = world.build()
    assert handle == BodyHandle("ground", 0)
    assert model.friction.tolist() == [[0.7, 0.6]]
    assert np.allclose(model.geoms.turn[0][:, 2], [0, 0.6, 0.8])
    assert np.allclose(model.geoms.offset[0] @ [0, 0.6, 0.8], 2)
    assert model.inverse_mass.tolist() == [0]
    plane = World(planar=True)
    plane.add_ground(height=-1)
    assert plane.build()[0].geoms.offset.tolist() == [[0, -1]]


def test_names_are_automatic_and_unique():
    world = World(planar=True)
    world.add_body(Disk(1), name="body1")
    handles = [world.add_body(Disk(1)) for _ in range(3)]
    assert [h.name for h in handles] == ["body0", "body2", "body3"]
    assert world.bodies == ("body1", "body0", "body2", "body3")
    assert len(world) == 4
    assert "body2" in world
    assert handles[0] in world
    assert BodyHandle("body0", 99) not in world


def test_every_edit_changes_the_version():
    world = World(planar=True)
    seen = [world.version]

    def changed():
        seen.append(world.version)
        return seen[-1] != seen[-2]

    a, b = world.add_body(Disk(1)), world.add_body(Disk(1))
    assert changed()
    world.set_pair(a, b, friction=0.1)
    assert changed()
    world.ignore(a, b)
    assert changed()
    force = world.add_force(Damper(linear=1))
    assert changed()
    world.remove_force(force)
    assert changed()
    world.gravity = (0, -1)
    assert changed()
    world.remove_body(a)
    assert changed()
    world.build()
    assert not changed(), "building is no edit"
    with pytest.raises(ModelError):
        world.add_body(Disk(1), mass=-1)
    assert not changed(), "what was refused left no trace"
    assert world.bodies == ("body1",)


def test_a_copy_is_edited_on_its_own():
    world = World(planar=True)
    a = world.add_body(Disk(1), name="a")
    b = world.add_body(Disk(1), name="b")
    copy = world.copy()
    copy.remove_body(a)
    copy.add_force(ConstantForce(b, (1, 0)))
    copy.add_body(Disk(2), name="c")
    copy.gravity = (0, 0)
    assert world.bodies == ("a", "b")
    assert world.forces == ()
    assert world.gravity == (0, -9.81)
    assert copy.bodies == ("b", "c")
    world.ignore(a, b)
    assert copy.build()[0].rules.ignored.size == 0


def test_forces_hold_their_bodies():
    world = World(planar=True)
    a = world.add_body(Disk(1), name="a")
    handle = world.add_force(Spring(a, stiffness=1))
    with pytest.raises(ModelError, match=r"body 'a': Spring\(.*remove the force first"):
        world.remove_body("a")
    world.remove_force(handle)
    world.remove_body("a")
    with pytest.raises(ModelError, match=r"remove_force: .* is not in this world"):
        world.remove_force(handle)
    with pytest.raises(ModelError, match="'push' is not a force"):
        world.add_force("push")


def test_forces_of_a_kind_are_bound_together_and_may_come_before_their_bodies():
    world = World(planar=True)
    world.add_force(ConstantForce("late", (1, 0)))
    world.add_force(Callback(lambda model, state: {"late": (0, 1, 0)}))
    world.add_force(ConstantForce("late", (2, 0)))
    world.add_body(Disk(1), name="late")
    model, state = world.build()
    out = np.zeros((1, 3))
    for force in model.forces:
        force.add(model, state, out)
    assert len(model.forces) == 2
    assert out.tolist() == [[3, 1, 0]]


def test_stale_handles_and_unknown_names():
    world = World(planar=True)
    old = world.add_body(Disk(1), name="disk")
    world.remove_body(old)
    with pytest.raises(ModelError, match="remove_body: no body is named 'disk'"):
        world.remove_body(old)
    world.add_body(Disk(1), name="disk")
    with pytest.raises(ModelError, match="'disk' of this handle was removed"):
        world.remove_body(old)
    with pytest.raises(ModelError, match=r"no body is named 'dsk'; did you mean 'disk'\?"):
        world.ignore("disk", "dsk")
    with pytest.raises(ModelError, match=r"set_pair\('disk', 'disk'\): expected two bodies"):
        world.set_pair("disk", "disk", friction=1)
    with pytest.raises(ModelError, match="'world' is the inertial frame"):
        world.remove_body("world")
    with pytest.raises(ModelError, match="3 is not a body"):
        world.remove_body(3)


def test_layers_are_bits():
    world = World(planar=True)
    for layer in (None, 0, 62, (0, 3), (), np.int64(2)):
        world.add_body(Disk(1), layer=layer)
    assert world.build()[0].layer.tolist() == [-1, 1, 1 << 62, 9, 0, 4]


def test_elliptic_cones():
    world = World()
    world.add_body(Sphere(1), cone=EllipticCone((1, 0.05)), cone_axis=(0, 3, 4))
    world.add_body(Sphere(1), cone=EllipticCone((2, 0.5)))
    world.add_body(Sphere(1), cone=CircularCone())
    model, _ = world.build()
    assert model.ratios.tolist() == [[1, 0.05], [2, 0.5], [1, 1]]
    assert np.allclose(model.axis, [[0, 0.6, 0.8], [1, 0, 0], [0, 0, 0]])


def test_equal_shapes_are_one_template():
    world = World()
    for _ in range(3):
        world.add_body(Box(1, 2, 3))
    world.add_body(Box(3, 2, 1), name="other")
    templates = {id(body.template) for body in world._bodies.values()}
    assert len(templates) == len(world._templates) == 2
    world.remove_body("other")
    assert len(world._templates) == 1, "a shape that no body has is forgotten"


def test_repr_helps():
    world = World()
    assert repr(world) == "World(spatial, gravity=(0.0, 0.0, -9.81), 0 bodies, 0 kg)"
    world.add_ground()
    assert "1 fixed body" in repr(world)
    world.add_body(Box(1, 1, 1), mass=2.5)
    world.add_body(Box(1, 1, 1), motion=Oscillation((1, 0, 0), 1, 1))
    world.add_force(Damper(linear=1))
    text = "3 bodies (1 dynamic, 1 fixed, 1 kinematic), 1 force, 2.5 kg)"
    assert repr(world).endswith(text)


# ---- what is refused: (how the body "b" is described, what the message says)

SPATIAL = [
    ({"position": (0, NAN, 0)}, r"position = \(0, nan, 0\): expected finite"),
    ({"position": (0, 0)}, r"position = \(0, 0\): expected 3 numbers"),
    ({"position": "abc"}, "position = 'abc'"),
    ({"position": [[0, 0], [0]]}, "position = "),
    ({"position": 5}, "position = 5"),
    ({"orientation": (0, 0, 0, 0)}, "zero quaternion"),
    ({"orientation": (1, 0, INF, 0)}, "orientation = .*inf"),
    ({"orientation": 0.5}, "orientation = 0.5: expected a quaternion"),
    ({"orientation": (1e-200, 0, 0, 0)}, "unit quaternion"),
    ({"velocity": (INF, 0, 0)}, "velocity = .*inf"),
    ({"angular_velocity": (0, 0, NAN)}, "angular_velocity = .*nan"),
    ({"angular_velocity": 2.0}, r"angular_velocity = 2\.0: expected 3 numbers"),
    ({"mass": 0}, "mass = 0: expected more than 0"),
    ({"mass": -2}, "mass = -2"),
    ({"mass": NAN}, "mass = nan"),
    ({"mass": 1e308}, r"mass = 1e\+308: expected a number up to 1e\+100"),
    ({"mass": 1e-308}, "mass = 1e-308: expected 1e-100 to"),
    ({"mass": True}, "mass = True: expected a number"),
    ({"mass": "heavy"}, "mass = 'heavy': expected a number"),
    ({"density": 0}, "density = 0"),
    ({"density": -1.5}, r"density = -1\.5"),
    ({"density": INF}, "density = inf"),
    ({"mass": 1, "density": 1}, "both density = 1 and mass = 1"),
    ({"inertia": (1, 1, 1)}, "inertia needs mass"),
    ({"mass": 1, "inertia": (1, 1, 3)}, "principal moments"),
    ({"mass": 1, "inertia": (1, -1, 1)}, "positive definite"),
    ({"mass": 1, "inertia": (1, NAN, 1)}, "inertia .*nan"),
    ({"mass": 1, "inertia": 2.0}, "inertia"),
    ({"mass": 1, "inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "symmetric"),
    ({"mass": 1, "inertia_frame": (1, 0, 0, 0)}, "inertia_frame needs inertia"),
    ({"mass": 1, "centre_of_mass": (0, 0, 0)}, "centre_of_mass needs inertia"),
    ({"mass": 1, "inertia": (1, 1, 1), "centre_of_mass": (0, NAN, 0)}, "centre_of_mass = .*nan"),
    ({"mass": 1, "inertia": (1, 1, 1), "inertia_frame": (0, 0, 0, 0)}, "inertia_frame = .*zero"),
    ({"friction": -0.1}, r"friction = -0\.1"),
    ({"friction": NAN}, "friction = nan"),
    ({"friction": (0.3, 0.4)}, r"static friction 0\.3 is less than dynamic friction 0\.4"),
    ({"friction": (0.3, -0.4)}, "friction = "),
    ({"friction": (1, 2, 3)}, "friction = .*expected 2 numbers"),
    ({"friction": "low"}, "friction = 'low'"),
    ({"restitution": 1.1}, r"restitution = 1\.1: expected numbers from 0 to 1"),
    ({"restitution": -0.1}, r"restitution = -0\.1"),
    ({"restitution": (0.5, 2)}, r"restitution = \(0\.5, 2\)"),
    ({"restitution": NAN}, "restitution = nan"),
    ({"cone": PolyhedralCone(8)}, "cone = .*options of the method"),
    ({"cone": EllipticCone((1, 2), angle=0.3)}, r"cone\.angle = 0\.3"),
    ({"cone": EllipticCone((1, 2)), "cone_axis": (0, 0, 0)}, "cone_axis = .*not zero"),
    ({"cone_axis": (1, 0, 0)}, "cone_axis = .* without"),
    ({"layer": 63}, "layer = 63: expected whole numbers from 0 to 62"),
    ({"layer": (1, -1)}, "layer = -1"),
    ({"layer": 1.5}, r"layer = 1\.5"),
    ({"layer": True}, "layer = True"),
    ({"fixed": True, "velocity": (1, 0, 0)}, "is fixed, but has the velocity"),
    ({"fixed": True, "mass": -1}, "mass = -1"),
    ({"fixed": True, "motion": ConstantVelocity()}, "both fixed and motion"),
    ({"motion": "up"}, "motion = 'up'"),
    ({"motion": Oscillation}, "motion = .*expected a motion"),
    ({"motion": Oscillation((0, 0, 1), INF, 1)}, "motion.amplitude = inf"),
    ({"motion": ConstantVelocity(), "velocity": (1, 0, 0)}, "velocity = .*its motion says that"),
    ({"motion": MotionFunction(lambda t: 0), "position": (1, 0, 0)}, "position = .*its motion"),
    ({"shape": Disk(1)}, "Disk is a planar shape, the world is spatial"),
    ({"shape": Sphere}, "is not a shape"),
    ({"shape": "box"}, "'box' is not a shape"),
    ({"shape": []}, "must not be empty"),
    ({"shape": [Box(1, 1, 1), Disk(1)]}, "part 1"),
    ({"shape": None}, "has no shape: give mass and inertia"),
    ({"shape": None, "mass": 1}, "has no shape: mass needs inertia"),
    ({"shape": HalfSpace()}, "HalfSpace has no mass"),
    ({"shape": HalfSpace(), "mass": 1, "inertia": (1, 1, 1)}, "HalfSpace has no mass"),
    ({"shape": MESH, "mass": 1}, "TriangleMesh has no mass"),
    ({"shape": Compound([Sphere(1), MESH])}, "TriangleMesh has no mass"),
]


@pytest.mark.parametrize(("given", "text"), SPATIAL, ids=[repr(g)[:60] for g, _ in SPATIAL])
def test_what_a_spatial_world_refuses(given, text):
    world = World()
    with pytest.raises(ModelError, match=f"body 'b': .*{text}|body 'b': {text}"):
        world.add_body(**({"shape": Box(1, 1, 1), "name": "b"} | given))
    assert len(world) == 0


PLANAR = [
    ({"position": (0, 0, 0)}, "position = .*expected 2 numbers"),
    ({"orientation": (1, 0, 0, 0)}, "orientation = .*expected a number"),
    ({"orientation": INF}, "orientation = inf"),
    ({"angular_velocity": (0, 0, 1)}, "angular_velocity = .*expected a number"),
    ({"mass": 1, "inertia": (1, 1, 1)}, "inertia"),
    ({"mass": 1, "inertia": 0.0}, "inertia"),
    ({"mass": 1, "inertia": 1.0, "inertia_frame": 0.3}, "inertia_frame = 0.3"),
    ({"cone": EllipticCone((1, 2))}, "elliptic cone needs two tangents"),
    ({"shape": Sphere(1)}, "Sphere is a spatial shape, the world is planar"),
    ({"shape": HalfPlane()}, "HalfPlane has no mass"),
]


@pytest.mark.parametrize(("given", "text"), PLANAR, ids=[repr(g)[:60] for g, _ in PLANAR])
def test_what_a_planar_world_refuses(given, text):
    with pytest.raises(ModelError, match=f"body 'b': .*{text}|body 'b': {text}"):
        World(planar=True).add_body(**({"shape": Disk(1), "name": "b"} | given))


@pytest.mark.parametrize("name", ["", "world", 3, ("a",)])
def test_names_that_are_none(name):
    with pytest.raises(ModelError, match="body name"):
        World().add_body(Sphere(1), name=name)


def test_names_are_not_shared():
    world = World()
    world.add_ground()
    with pytest.raises(ModelError, match="body 'ground': another body has this name"):
        world.add_ground(height=1)


@pytest.mark.parametrize(
    ("gravity", "text"),
    [((0, 0, NAN), "nan"), ((0, -9.81), "planar=True"), (9.81, "expected 3 numbers")],
)
def test_gravity_is_checked(gravity, text):
    with pytest.raises(ModelError, match=f"World: gravity = .*{text}"):
        World(gravity)


def test_pairs_are_checked():
    world = World()
    world.add_ground()
    world.add_body(Sphere(1), name="ball")
    for given, text in [
        ({"friction": -1}, "friction = -1"),
        ({"friction": (0.1, 0.2)}, "static friction"),
        ({"restitution": 2}, "restitution = 2"),
        ({}, "neither friction nor restitution"),
    ]:
        with pytest.raises(ModelError, match=rf"set_pair\('ground', 'ball'\): .*{text}|{text}"):
            world.set_pair("ground", "ball", **given)
    assert world.build()[0].rules.key.size == 0


def test_the_ground_is_checked():
    with pytest.raises(ModelError, match="body 'ground': normal"):
        World().add_ground(normal=(0, 0, 0))
    with pytest.raises(ModelError, match="body 'ground': height = nan"):
        World().add_ground(height=NAN)
    with pytest.raises(ModelError, match="body 'ground': friction = -1"):
        World().add_ground(friction=-1)


def test_fixed_bodies_may_be_unbounded_or_meshes():
    world = World()
    world.add_body(HalfSpace(), name="floor", fixed=True)
    world.add_body(MESH, name="terrain", fixed=True)
    world.add_body(MESH, name="moving", motion=ConstantVelocity((1, 0, 0)))
    model, _ = world.build()
    assert not model.inverse_mass.any()
    assert len(model.geoms) == 3


def test_built_times_are_checked():
    with pytest.raises(ModelError, match="time = nan"):
        World().build(time=NAN)
