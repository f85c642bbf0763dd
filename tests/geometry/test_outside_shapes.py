"""Shapes that a package outside brings: against closed forms, in files, pictures and recordings."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import drystone as ds
from drystone import registry, scene_files
from drystone.draw.meshes import solids
from drystone.dynamics import bodies
from drystone.geometry.detector import Detector
from drystone.geometry.shapes import SHAPES
from tests.geometry.outside_shapes import CappedEllipsoid, DoubleCone, Egg

H, R = 0.3, 0.2
SLANT = np.hypot(H, R)
LYING = H * R / SLANT  # height of the middle over a side that lies flat
TURN = np.arctan2(H, R)  # [rad] of the axis, then


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setattr(SHAPES, "_added", {})
    for shape in (DoubleCone, CappedEllipsoid, Egg):
        ds.register_shape(shape)


def about_x(angle):
    return np.cos(0.5 * angle), np.sin(0.5 * angle), 0.0, 0.0


def dropped(shape, position, orientation=(1, 0, 0, 0), time=0.4, ground=None):
    world = ds.World()
    if ground is None:
        world.add_ground(friction=0.8)
    else:
        world.add_body(ground, fixed=True, name="ground", friction=0.8)
    world.add_body(shape, name="it", position=position, orientation=orientation, friction=0.8)
    sim = ds.Simulation(world)
    sim.run(time)
    return sim


def test_a_double_cone_lies_on_its_side():
    sim = dropped(DoubleCone(H, R), (0, 0, LYING + 0.002), about_x(TURN))
    it = sim.body("it")
    assert abs(it.position[2] - LYING) < 1e-5
    w, x = it.orientation[:2]
    assert abs(abs(2.0 * np.arctan2(x, w)) - TURN) < 1e-4
    assert len(sim.contacts) >= 2
    force = sim.contacts["force"].sum(axis=0)
    weight = DoubleCone(H, R).mass_properties(1000.0).mass * 9.81
    assert abs(abs(force[2]) / weight - 1.0) < 1e-3


def test_a_flat_cap_stands_still():
    shape = CappedEllipsoid(0.2, 0.15, 0.1)
    sim = dropped(shape, (0, 0, 0.1001), time=0.05)
    point = sim.contacts["point"]
    assert np.abs(point[:, 2]).max() < 1e-6
    assert len(sim.contacts) >= 4  # the rim, all around
    rim = 0.2 * np.sqrt(1.0 - (0.1 / 0.15) ** 2)
    np.testing.assert_allclose(np.hypot(point[:, 0], point[:, 1]), rim, atol=1e-6)
    assert np.linalg.norm(sim.state.velocity[-1]) < 1e-4


@pytest.mark.parametrize("turn", [0.0, 0.7, np.pi / 2])
def test_gaps_to_a_box_and_a_cylinder(turn):
    cone = DoubleCone(H, R)
    lowest = max(H * abs(np.cos(turn)), R * abs(np.sin(turn)))  # h straight down
    for other, top in ((ds.Box(2.0, 2.0, 0.5), 0.25), (ds.Cylinder(0.5, 1.0), 0.25)):
        world = ds.World(gravity=(0, 0, 0))
        world.add_body(other, fixed=True, name="ground")
        position = (0.01, -0.02, top + lowest - 1e-3)
        world.add_body(cone, name="it", position=position, orientation=about_x(turn))
        model, state = world.build()
        x, turned = bodies.geom_poses(model, state)
        find = Detector(model.geoms, model.inverse_mass > 0, model.layer)
        found = find.contacts(x, turned, np.full(2, 0.01))
        assert abs(found.gap.min() + 1e-3) < 1e-8, (type(other), found.gap)


def test_numbers_of_the_solid():
    cone, egg = DoubleCone(H, R), Egg(0.2, 0.1)
    exact = cone.mass_properties(700.0)
    plain = super(DoubleCone, cone).mass_properties(700.0)
    assert abs(plain.mass / exact.mass - 1.0) < 1e-3
    np.testing.assert_allclose(plain.inertia, exact.inertia, rtol=2e-3, atol=1e-6)
    assert cone.contains([[0, 0, 0.29], [0.15, 0.15, 0.0], [0.1, 0.0, 0.1]]).tolist() == [1, 0, 1]
    assert egg == Egg(0.2, 0.1) != Egg(0.2, 0.11)
    assert copy.deepcopy(cone) == cone
    vertices, faces = cone.mesh(24)
    edge = np.sort(np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    assert (np.unique(edge, axis=0, return_counts=True)[1] == 2).all()  # closed
    assert np.abs(vertices[:, 2]).max() == pytest.approx(H)


def test_files_and_pictures(known, tmp_path):
    world = ds.World()
    world.add_ground()
    world.add_body(DoubleCone(H, R), name="cone", position=(0, 0, 1))
    world.add_body(Egg(0.2, 0.1), name="egg", position=(1, 0, 1))
    ds.write_scene(tmp_path / "own.yaml", world)
    back = ds.read_scene(tmp_path / "own.yaml").world
    assert "double-cone" in (tmp_path / "own.yaml").read_text()
    ends = []
    for one in (world, back):
        sim = ds.Simulation(one)
        sim.run(0.05, record=tmp_path / f"{len(ends)}.h5")
        ends.append(sim.state.position)
    assert np.array_equal(*ends)
    with ds.read_recording(tmp_path / "1.h5") as recording:
        assert len(recording.time) > 1
        assert len(solids(recording.model.geoms)) == 2
    assert '"const": "egg"' in str(scene_files.schema()).replace("'", '"')


def test_a_shape_that_nobody_registered_goes_into_no_file(tmp_path):
    world = ds.World()
    world.add_body(DoubleCone(H, R))
    with pytest.raises(ds.DescriptionError, match="DoubleCone, is not registered"):
        ds.write_scene(tmp_path / "own.yaml", world)


def test_entry_points(monkeypatch, tmp_path):
    class Point:
        name, value = "double-cone", "outside:DoubleCone"

        def load(self):
            return DoubleCone

    monkeypatch.setattr(SHAPES, "_added", {})
    monkeypatch.setattr(SHAPES, "_asked", False)
    monkeypatch.setattr(registry, "entry_points", lambda group: [Point()])
    assert SHAPES["double-cone"].shape is DoubleCone


def test_what_is_refused(known):
    with pytest.raises(ds.ShapeError, match="radius must be positive"):
        DoubleCone(0.1, -1.0)
    with pytest.raises(ds.OptionError, match="already: choose another name"):
        ds.register_shape(DoubleCone)
    with pytest.raises(ds.OptionError, match="derived from"):
        ds.register_shape(int)

    @dataclass(frozen=True)
    class Wrong(ds.SupportShape):
        p: float

        def support_function(self, x, y, z):
            return np.minimum(abs(x) + abs(y) + abs(z), self.p * np.sqrt(x * x + y * y + z * z))

    assert Wrong(0.5).kind == ""  # a ball
    with pytest.raises(ds.OptionError, match="expected a name"):
        ds.register_shape(Wrong)
    with pytest.raises(ds.ShapeError, match="must be convex"):
        Wrong(1.2)

    @dataclass(frozen=True)
    class Square(ds.SupportShape):
        def support_function(self, x, y, z):
            return x * x + y * y + z * z

    with pytest.raises(ds.ShapeError, match="grow with the direction"):
        Square()


def test_a_class_without_its_function_is_told_which():
    class Unfinished(ds.SupportShape):
        kind = "unfinished"

    with pytest.raises(ds.OptionError, match="Unfinished lacks support_function"):
        ds.register_shape(Unfinished)
    with pytest.raises(ds.ArgumentError, match="support_function"):
        ds.SupportShape()


def sphere(self, x, y, z):
    return 0.1 * np.sqrt(x * x + y * y + z * z)


def own(base=ds.SupportShape, decorated=True, **values):
    """A ball of 0.1 m by a user's class."""
    formula = {"support_function": sphere} if base is ds.SupportShape else {"F": ball}
    cls = type("Own", (base,), {"kind": "own", **formula, **values})
    return dataclass(frozen=True)(cls) if decorated else cls


def ball(self, x, y, z):
    return x * x + y * y + z * z - 0.01


@pytest.mark.parametrize("base", [ds.SupportShape, ds.ImplicitShape])
@pytest.mark.parametrize("args", [(), (0.1,)])
def test_a_class_that_is_no_frozen_dataclass_is_told_so(base, args):
    for cls in (
        own(base, decorated=False),
        own(base, decorated=False, __annotations__={"r": float}),
        type("Own", (own(base),), {"__annotations__": {"r": float}}),
    ):
        with pytest.raises(ds.ArgumentError, match="Own must be a dataclass: write @dataclass"):
            cls(*args)
    with pytest.raises(ds.ArgumentError, match="Own must be frozen"):
        dataclass(own(base, decorated=False))()


def test_a_class_that_adds_no_parameter_needs_no_decorator():
    again = type("Own", (own(),), {})()
    assert again.mass_properties(1.0).mass == pytest.approx(4e-3 / 3 * np.pi, rel=2e-3)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kind": "Box"}, r"Own\.kind = 'Box': expected a name"),
        ({"kind": "-a--b-"}, "expected a name"),
        ({"kind": "é²"}, "expected a name"),
        ({"kind": None}, "expected a name"),
        ({"__annotations__": {"kind": str}}, r"Own\.kind: another name"),
        ({"support_function": 3}, "has support_function = 3"),
        (
            {"support_function": lambda self, x, y: x},
            r"support_function\(self, x, y\): expected support_function\(self, x, y, z\)",
        ),
        ({"mass_properties": lambda self: None}, r"expected mass_properties\(self, density\)"),
    ],
)
def test_registered_classes_are_checked(known, values, words):
    with pytest.raises(ds.OptionError, match=words):
        ds.register_shape(own(**values))
    assert set(SHAPES) == set(SHAPES.ours) | set(SHAPES._added)
    with pytest.raises(ds.OptionError, match="Own must be frozen"):
        ds.register_shape(dataclass(own(decorated=False)))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, "gave None: expected a ds.MassProperties"),
        ((1.0, np.zeros(3), np.eye(3)), "expected a ds.MassProperties"),
        (ds.MassProperties(np.nan, np.zeros(3), np.eye(3)), "mass = nan"),
        (ds.MassProperties(-1.0, np.zeros(3), np.eye(3)), "mass = -1.0"),
        (ds.MassProperties(1.0, np.zeros(2), np.eye(3)), "centre = .* expected 3 finite numbers"),
        (ds.MassProperties(1.0, np.zeros(3), 1.0), "expected a 3 x 3 matrix"),
        (ds.MassProperties(1.0, np.zeros(3), np.eye(2)), "expected a 3 x 3 matrix"),
        (ds.MassProperties(1.0, np.zeros(3), np.diag([1.0, 1, 5])), "no body has the principal"),
        (ds.MassProperties(1.0, np.zeros(3), np.tri(3)), "inertia must be symmetric"),
    ],
)
def test_mass_properties_of_a_user_are_those_of_a_solid(found, words):
    shape = own(mass_properties=lambda self, density: found)()
    with pytest.raises(ds.ModelError, match=r"body 'b': Own\.mass_properties.*" + words) as caught:
        ds.World().add_body(shape, name="b")
    assert "fixed=True" not in str(caught.value)


def test_parameters_can_be_compared():
    cls = own(__annotations__={"corners": tuple})
    assert cls((1, 2)) == cls((1, 2))
    for value in ([1, 2], {"a": 1}, np.zeros(2), ([1],)):
        with pytest.raises(ds.ShapeError, match=r"Own: corners = .* must not change"):
            cls(value)
    arrays = dataclass(frozen=True, eq=False)(
        own(decorated=False, __annotations__={"corners": np.ndarray})
    )
    assert arrays(np.ones(3)) == arrays(np.ones(3)) != arrays(np.zeros(3))


def test_an_error_inside_of_own_mass_properties_is_told_with_the_body():
    with pytest.raises(ZeroDivisionError) as caught:
        ds.World().add_body(own(mass_properties=lambda self, density: 1 / 0)(), name="b")
    assert caught.value.__notes__ == ["body 'b': in Own.mass_properties"]
