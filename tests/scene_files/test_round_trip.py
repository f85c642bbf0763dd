"""A world described and built again is the same world, to the bit."""

import json

import numpy as np
import pytest

import drystone as ds
from drystone import scene_files
from drystone.scene_files.files import json_text, yaml_text
from drystone.scenes.registry import SCENES

from .same import check_worlds

S = np.sqrt(0.5)


def again(world, **options):
    """Through text, both kinds of it."""
    document = scene_files.document(world, **options)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    from drystone.scene_files.text import parse

    for ending, text in ((".yaml", yaml_text(document)), (".json", json_text(document))):
        data, lines = parse(text, f"x{ending}")
        found = scene_files.load(data, lines=lines)
        check_worlds(world, found.world)
    return found


@pytest.mark.parametrize("name", SCENES)
def test_scenes_of_the_gallery(name, tmp_path):
    scene = ds.scene(name)
    path = ds.write_scene(tmp_path / f"{name}.yaml", scene)
    found = ds.read_scene(path)
    check_worlds(scene.world, found.world)
    assert found.method == scene.method
    assert (found.name, found.duration, found.summary) == (name, scene.duration, scene.summary)
    assert found.paper == scene.paper
    view = dict(scene.view)
    if "settings" in view.get("play", {}):  # a file has none
        del view["play"]
    assert json.dumps(dict(found.view)) == json.dumps(view)


RUNS = ["disks-21", "gripper", "double-action-jack", "vehicle", "chain-drop", "newton-cradle"]


@pytest.mark.parametrize("name", RUNS)
def test_runs_from_a_file_have_the_same_bits(name, tmp_path):
    scene = ds.scene(name)
    found = ds.read_scene(ds.write_scene(tmp_path / "a.json", scene))
    a, b = scene.simulation(), found.simulation()
    for _ in range(12):
        a.step()
        b.step()
    for field in ("position", "orientation", "velocity"):
        assert getattr(a.state, field).tobytes() == getattr(b.state, field).tobytes()
    assert a.report.residual == b.report.residual


SPATIAL = [
    ds.Sphere(0.1), ds.Box(1, 2, 3), ds.Capsule(1, 0.2), ds.Cylinder(1, 0.2), ds.Cone(1, 0.3),
    ds.Ellipsoid(0.1, 0.2, 1 / 3), ds.Superquadric(1, 1, 2, 0.5, 0.7),
    ds.ConvexPolyhedron([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.1, 0.2, 1 / 7)]),
    ds.Compound([ds.Sphere(0.1), (ds.Box(1, 1, 1), (0, 0, 1 / 3), (1, 2, 3, 4))]),
    ds.Compound([(ds.Compound([ds.Sphere(1)]), (1, 2, 3))]),
]  # fmt: skip
PLANAR = [
    ds.Disk(0.1), ds.Ellipse(1, 2), ds.Capsule2D(1, 0.2), ds.Rectangle(1, 2),
    ds.RegularPolygon(7, 1 / 3), ds.Polygon([(0, 0), (0, 1), (1, 0)]),
    ds.Compound([(ds.Disk(1), (0.1, 0.2)), (ds.Rectangle(1, 1), (1, 0), 0.3)]),
]  # fmt: skip
GROUNDS = [
    ds.HalfSpace((1, 2, 3), 0.1),
    ds.Bowl(1, 2, 3, 0.1),
    ds.TriangleMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], thickness=0.1),
]


@pytest.mark.parametrize("planar", [True, False])
def test_every_shape(planar):
    world = ds.World(planar=planar)
    for k, shape in enumerate(PLANAR if planar else SPATIAL):
        place = (3 * k, 1) if planar else (3 * k, 1, 1)
        world.add_body(shape, position=place, density=1 + k / 3)
    for shape in () if planar else GROUNDS:
        world.add_body(shape, fixed=True)
    world.add_ground(normal=(1, 3) if planar else (1, 2, 5), height=-0.3, name="slope")
    again(world)


def test_all_that_is_said_of_bodies():
    world = ds.World(gravity=(0.1, 0, -1 / 3))
    world.add_ground(friction=(0.6, 0.3), restitution=(0.1, 0.2), layer=[1, 2])
    shape = ds.Box(1, 1, 1)
    world.add_body(
        shape, mass=3, inertia=np.array([1, 2, 2.5]), inertia_frame=(1, 1, 0, 0),
        centre_of_mass=[0.1, 0, 0], position=np.array([0, 0, 1], np.float32),
        orientation=(1, 2, 3, 4), velocity=(1, 0, 0), angular_velocity=(0, 1 / 3, 0),
        cone=ds.EllipticCone((1, 0.2)), cone_axis=(1, 1, 1), layer=3,
    )  # fmt: skip
    world.add_body(None, name="point", mass=1, inertia=np.eye(3) * (1 / 3), layer=())
    world.add_body(shape, cone=ds.CircularCone(), layer={4, 2})
    world.add_body(shape, density=7, restitution=0.5, friction=0)
    for motion in (
        ds.ConstantVelocity((1, 0, 0), (0, 0, 1 / 3)),
        ds.Oscillation((1, 1, 0), 0.1, 2, phase=0.1),
        ds.Rocking(0.1, 3, axis=(1, 1, 0)),
        ds.Waypoints((0, 1), [(0, 0, 0), (1, 1, 1)], [(1, 0, 0, 0), (S, S, 0, 0)]),
    ):
        world.add_body(shape, motion=motion, layer=())
    again(world)


def test_later_changes_of_what_was_given_do_not_count():
    place, parts = np.array([0.0, 0, 1]), [ds.Sphere(1), (ds.Sphere(1), (0, 0, 3))]
    world = ds.World()
    world.add_body(parts, name="a", position=place)
    place[:] = 7
    parts.clear()
    again(world)
    assert scene_files.document(world)["bodies"][0]["position"] == [0.0, 0.0, 1.0]


def test_every_joint_in_space():
    world = ds.World()
    names = [world.add_body(ds.Sphere(0.1), position=(k, 0, 0)) for k in range(13)]
    a, z = iter(names), (0, 0, 1)
    world.add_joint(ds.Ball(next(a), anchor=(1, 1, 1 / 3), breaks_at=(10, None)))
    motor = ds.Motor(speed=1, max_force=3)
    hinge = world.add_joint(ds.Hinge(next(a), "world", anchor=(1, 0, 0), axis=z, motor=motor))
    slide = ds.Motor(position=0.1, gain=3)
    world.add_joint(ds.Slider(next(a), axis_b=(1, 1, 1), limits=(None, 2), motor=slide))
    both = {"turn": (-1, 1), "slide": (-np.inf, 0.5)}
    world.add_joint(ds.Cylindrical(next(a), anchor=(3, 0, 0), axis=z, limits=both, name="tube"))
    world.add_joint(ds.Universal(next(a), anchor=(4, 0, 0), axis=z, second_axis=(1, 0, 0)))
    world.add_joint(ds.Fixed(next(a), orientation=(1, 1, 0, 0), breaks_at=100))
    world.add_joint(ds.Distance(next(a), anchor_b=(6, 1, 0), length=1.1))
    world.add_joint(ds.PointOnLine(next(a), anchor=(7, 0, 0), axis=z, friction=0.1))
    world.add_joint(ds.PointOnPlane(next(a), anchor=(8, 0, 0), axis=z))
    world.add_joint(ds.PlanarJoint(next(a), anchor=(9, 0, 0), axis=z, collide=True))
    world.add_joint(ds.Screw(next(a), anchor=(10, 0, 0), axis=z, pitch=0.1))
    world.add_joint(ds.Gear(hinge, ("tube", "turn"), ratio=-1 / 3))
    wheel = {"spring": (100, 1, 0.1), "motor": {"turn": ds.Motor(speed=-1)}}
    world.add_joint(
        ds.Wheel(names[11], names[12], anchor=(11, 0, 0), axis=z, axle=(0, 1, 0), **wheel)
    )
    again(world)


def test_joints_in_the_plane():
    world = ds.World(planar=True)
    names = [world.add_body(ds.Disk(0.1), name=f"d{k}", position=(k, 0)) for k in range(5)]
    world.add_joint(ds.Pin(names[0], "world", anchor=(0, 0), friction=np.inf, name="d4"))
    world.add_joint(ds.Pin("d1", "d2", anchor_a=(0.1, 0), limits=(-1, 1)))
    world.add_joint(ds.Slot(names[3], "world", anchor=(3, 0), axis=(1, 1)))
    world.add_joint(ds.Weld("d3", names[2], orientation=0.3))
    # a joint has the name of a body: the handle says which is meant
    world.add_joint(ds.Gear(names[4], names[0], ratio=2))
    again(world)


def test_forces_and_rules():
    world = ds.World()
    a, b = (world.add_body(ds.Sphere(0.1), position=(k, 0, 0)) for k in range(2))
    c = world.add_body(ds.Sphere(0.1), name="c", position=(3, 0, 0))
    world.add_force(ds.Spring(a, "c", anchor_a=(0.1, 0, 0), stiffness=100, damping=1 / 3))
    world.add_force(ds.ConstantForce("c", force=(1, 0, 0), point=(0, 0, 0.1), follows=True))
    world.add_force(ds.Damper(linear=0.1))
    world.add_force(ds.Damper(a, angular=0.1))
    world.add_force(ds.TorsionSpring(b, axis=(0, 0, 1), rest_angle=0.1, stiffness=2))
    world.set_pair(a, b, friction=(0.3, 0.2))
    world.set_pair(b, c, restitution=0.5)
    world.set_pair(c, a, friction=0.1, restitution=(0.5, 0.1))
    world.ignore(b, a)
    again(world)


def test_worlds_that_others_were_removed_from():
    world = ds.World()
    for k in range(4):
        world.add_body([ds.Sphere(0.1), ds.Sphere(0.2)], name=f"s{k}", position=(k, 0, 0))
    world.add_joint(ds.Ball("s0", anchor=(0, 0, 0)))
    world.add_joint(ds.Ball("s2", anchor=(2, 0, 0)))
    world.set_pair("s1", "s2", friction=0.1)
    world.ignore("s1", "s3")
    world.remove_body("s1")
    world.remove_joint("joint0")
    found = again(world)
    for one in (world, found.world):
        one.add_body(ds.Sphere(1), position=(9, 0, 0))
        one.add_joint(ds.Ball("s3", anchor=(3, 0, 0)))
    check_worlds(world, found.world)
    assert "uids" not in scene_files.document(ds.scene("wall").world)


def moving(t):
    return (0, 0, t), (1, 0, 0, 0)


def blowing(model, state):
    return {}


def egg(x, y, z):
    return x * x + y * y + 2 * z * z - 1


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda w: w.add_force(ds.Callback(blowing, name="wind")), "force 'wind'"),
        (lambda w: w.add_body(None, name="a", motion=ds.MotionFunction(moving)), "body 'a'"),
        (lambda w: w.add_body(ds.ImplicitSurface(egg), name="egg"), "'egg'.*ImplicitSurface"),
    ],
)
def test_functions_cannot_be_described(spoil, words):
    world = ds.World()
    spoil(world)
    with pytest.raises(ds.DescriptionError, match=words):
        scene_files.document(world)
