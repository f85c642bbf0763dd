"""Words of other engines and of habit: each is answered by ours, or simply understood."""

import copy
import inspect
import re
import traceback
import warnings
from dataclasses import FrozenInstanceError, fields
from importlib import import_module

import numpy as np
import pytest
from scipy.sparse import coo_array

import drystone as ds
from drystone.arguments import MARK, SYNONYMS, homes
from tests.api.calls import callable_names, trajectory, world


def say(call):
    with pytest.raises(ds.ArgumentError) as caught:
        call()
    assert isinstance(caught.value, TypeError)
    return str(caught.value)


GUESSES = {
    "a cube": (lambda: ds.Box(0.1), "Box(0.1, 0.1, 0.1)"),
    "a size": (lambda: ds.Box(size=0.1), "lx, ly, lz"),
    "halves": (lambda: ds.Box(half_extents=(1, 1, 1)), "not halves"),
    "two of three": (lambda: ds.Box((1, 2)), "ly and lz are missing"),
    "height": (lambda: ds.Cylinder(height=1, radius=1), "'length'"),
    "length": (lambda: ds.Cone(length=1, radius=1), "'height'"),
    "diameter": (lambda: ds.Sphere(diameter=1), "'radius'? radius is half of the diameter"),
    "several": (lambda: ds.Scene("mine", world()), "summary, paper, settings and view are missing"),
    "seconds": (lambda: ds.Simulation(world()).run(seconds=1), "'duration'"),
    "mass of a shape": (lambda: ds.Sphere(1, mass=2), "ds.World.add_body"),
    "pos": (lambda: world().add_body(ds.Sphere(1), pos=(0, 0, 0)), "'position'"),
    "quat": (lambda: world().add_body(ds.Sphere(1), quat=(1, 0, 0, 0)), "'orientation'"),
    "rot": (lambda: world().add_body(ds.Sphere(1), rot=0.1), "quaternion"),
    "vel": (lambda: world().add_body(ds.Sphere(1), vel=(0, 0, 0)), "'velocity'"),
    "linearVelocity": (lambda: world().add_body(ds.Sphere(1), linearVelocity=0), "'velocity'"),
    "omega": (lambda: world().add_body(ds.Sphere(1), omega=0), "'angular_velocity'"),
    "mu": (lambda: world().add_body(ds.Sphere(1), mu=0.5), "'friction'"),
    "e": (lambda: world().add_body(ds.Sphere(1), e=0.5), "'restitution'"),
    "rho": (lambda: world().add_body(ds.Sphere(1), rho=1000), "'density'"),
    "color": (lambda: world().add_body(ds.Sphere(1), color="red"), "no colour of its own"),
    "static": (lambda: world().add_body(ds.Sphere(1), static=True), "'fixed'"),
    "kinematic": (lambda: world().add_body(ds.Sphere(1), kinematic=True), "motion="),
    "center_of_mass": (lambda: world().add_body(center_of_mass=0), "'centre_of_mass'"),
    "a slip of the keyboard": (lambda: world().add_body(freindly=0, friciton=1), "friction"),
    "mu of the ground": (lambda: world().add_ground(mu=0.5), "'friction'"),
    "g": (lambda: ds.World(g=(0, 0, -9.81)), "'gravity'"),
    "dt": (lambda: ds.Simulation(world(), dt=0.01), "ds.TimeStepping"),
    "gravity": (lambda: ds.Simulation(world(), gravity=0), "ds.World"),
    "timestep": (lambda: ds.TimeStepping(timestep=0.01), "'dt'"),
    "h": (lambda: ds.EventDriven(h=0.01), "'dt'"),
    "steps": (lambda: ds.Simulation(world()).step(10), "run(duration)"),
    "dt of a run": (lambda: ds.Simulation(world()).run(1.0, dt=0.1), "ds.TimeStepping"),
    "torque": (lambda: ds.Motor(torque=1), "'max_force'"),
    "velocity of a motor": (lambda: ds.Motor(velocity=1), "'speed'"),
    "torque of a hinge": (lambda: ds.Hinge("a", torque=1), "ds.Motor"),
    "pivot": (lambda: ds.Hinge("a", pivot=(0, 0, 0)), "'anchor'"),
    "lower": (lambda: ds.Hinge("a", lower=-1), "limits=(lowest, highest)"),
    "parent": (lambda: ds.Fixed(parent="a", child="b"), "'b'"),
    "k": (lambda: ds.Spring("a", "b", k=100), "'stiffness'"),
    "A and b": (lambda: ds.LCP(A=[[1]], b=[1]), "'M'"),
    "tolerance": (lambda: ds.Lemke(tolerance=1e-6), "'tol'"),
    "max_iter": (lambda: ds.NSGS(max_iter=10), "'max_sweeps'"),
    "method of solve": (lambda: ds.solve(ds.LCP([[1]], [1]), method="lemke"), "'solver'"),
    "options by place": (lambda: ds.Lemke(1e-6), "by name: tol"),
    "a view of a run": (lambda: trajectory().state(), "k is missing"),
    "an option of a page": (lambda: ds.embed(trajectory(), color="red"), "no colour"),
}


@pytest.mark.parametrize("guess", GUESSES)
def test_a_wrong_guess_is_told_the_right_word(guess):
    call, word = GUESSES[guess]
    assert word in say(call)


def test_what_has_one_meaning_works():
    assert ds.Box((1, 2, 3)) == ds.Box([1, 2, 3]) == ds.Box(size=(1, 2, 3)) == ds.Box(1, 2, 3)
    assert ds.Box(np.array([1, 2, 3])) == ds.Box(1, 2, 3)
    assert ds.Rectangle((1, 2)) == ds.Rectangle(1, 2)
    assert ds.Ellipse((1, 2)) == ds.Ellipse(1, 2)
    assert ds.Ellipsoid((1, 2, 3)) == ds.Ellipsoid(radii=(1, 2, 3)) == ds.Ellipsoid(1, 2, 3)
    assert "pyramid" in ds.scenes()
    assert ds.scenes() == tuple(ds.scenes.SCENES)


@pytest.mark.parametrize(
    ("name", "right"),
    {"Cube": "Box", "Circle": "Disk", "Revolute": "Hinge", "box": "Box", "Simulatoin": "Simulation",
     "Prismatic": "Slider", "Plane": "HalfSpace", "listScenes": "scenes"}.items(),
)  # fmt: skip
def test_a_name_that_does_not_exist_names_one_that_does(name, right):
    with pytest.raises(AttributeError, match=f"did you mean '{right}'"):
        getattr(ds, name)
    assert not hasattr(ds, name)


@pytest.mark.parametrize("name", list(callable_names()))
def test_every_public_call_answers(name):
    """Whatever is added to the package: a word that it cannot have is refused by our error."""
    call = getattr(ds, name)
    open_ended = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(call).parameters.values())
    if open_ended:
        return
    with pytest.raises(ds.ArgumentError, match="qqq"):
        call(qqq_zzz=1)


def test_what_calls_return_answers_too():
    sim = ds.Simulation(world())
    kept = sim.run(0.01, record=True)
    for thing in (sim, sim.world, sim.body("a"), kept, ds.scene("incline"), ds.Box(1, 1, 1)):
        assert hasattr(type(thing), MARK), type(thing)


def test_public_functions_are_found_at_home():
    """That is how other processes find them."""
    assert import_module(ds.solve.__module__).solve is ds.solve


def test_a_type_error_inside_a_call_stays_what_it_is():
    here = world()
    here.add_force(ds.Callback(lambda model, state: len(3)))
    with pytest.raises(TypeError, match="len") as caught:
        ds.Simulation(here).step()
    assert not isinstance(caught.value, ds.DrystoneError)


def test_signatures_are_those_of_the_source():
    assert list(inspect.signature(ds.Box).parameters) == ["lx", "ly", "lz"]
    assert "position" in inspect.signature(ds.World.add_body).parameters


ATTRIBUTES = {
    "add_box": (world, "add_box", "add_body"),
    "gravty": (world, "gravty", "gravity"),
    "run of a scene": (lambda: ds.scene("incline"), "run", "simulation().run"),
    "dt": (lambda: ds.Simulation(world()), "dt", "method.dt"),
    "pos": (lambda: ds.Simulation(world()).body("a"), "pos", "position"),
    "timestep": (ds.TimeStepping, "timestep", "dt"),
    "position of a handle": (
        lambda: world().add_body(ds.Sphere(0.01), position=(0, 0, 3)),
        "position",
        "sim.body(handle).position",
    ),
    "view": (lambda: ds.Simulation(world()), "view", "show"),
    "z": (lambda: ds.solve(ds.LCP([[1.0]], [-1.0])), "z", "value"),
}


@pytest.mark.parametrize("guess", ATTRIBUTES)
def test_an_attribute_that_does_not_exist_names_one_that_does(guess):
    make, name, right = ATTRIBUTES[guess]
    thing = make()
    assert not hasattr(thing, name)
    with pytest.raises(AttributeError, match=re.escape(f"did you mean {right!r}?")):
        getattr(thing, name)
    assert getattr(thing, "_private", None) is None
    copy.copy(thing)  # asks for names that are not there


def test_a_slip_in_what_is_set_is_not_silent():
    here = world()
    with pytest.raises(ds.ModelError, match="did you mean 'gravity'"):
        here.gravty = (0, 0, 0)

    class Mine(ds.World):
        """Users' own worlds have what they like."""

    mine = Mine()
    mine.title = "mine"
    assert mine.title == "mine"


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("dt", 0.01, "another method"), ("gravity", (0, 0, 0), "world.gravity"),
        ("profile", "yes", "True or False"), ("method", "penalty", "no setter"),
        ("world", None, "no setter"), ("time", 0.0, "no setter"),
        ("solver", "lemke", "option of the method"), ("tol", 1e-12, "option of the method"),
        ("duration", 1.0, "run"), ("position", (0, 0, 1), r"body\(name\).position"),
    ],
)  # fmt: skip
def test_what_would_be_set_without_effect_is_refused(name, value, hint):
    sim = ds.Simulation(world())
    with pytest.raises((ds.OptionError, AttributeError), match=hint):
        setattr(sim, name, value)


def unchanging():
    """Objects that never change, with slots and without."""
    here = world()
    sim = ds.Simulation(here)
    return {
        "handle": here.handle("a"),
        "joint": here.add_joint(ds.Ball("a", "b", anchor=(0.2, 0, 0.1))),
        "shape": ds.Box(1, 1, 1),
        "method": ds.TimeStepping(),
        "report": sim.step(),
        "summary": sim.summary,
        "force": ds.Spring("a", "b"),
        "motion": ds.ConstantVelocity((1, 0, 0)),
        "solution": ds.solve(ds.LCP([[1.0]], [-1.0])),
    }


@pytest.mark.parametrize("kind", unchanging())
def test_what_never_changes_says_so_whatever_is_set(kind):
    thing = unchanging()[kind]
    with pytest.raises(FrozenInstanceError, match="nothing cannot be set: it never changes"):
        thing.nothing = 1
    own = fields(thing)[0].name
    with pytest.raises(FrozenInstanceError, match=re.escape(f"dataclasses.replace(it, {own}=")):
        setattr(thing, own, 1)
    assert copy.deepcopy(thing) is not None


def test_a_handle_says_where_its_body_is_moved():
    handle = world().handle("a")
    with pytest.raises(AttributeError, match=r"sim\.body\(handle\)\.position = "):
        handle.position = (0, 0, 9)
    with pytest.raises(AttributeError, match="change_body"):
        handle.friction = 0.3


USES = {
    **{
        ending: lambda run, ending=ending: ds.export(run, f"it.{ending}")
        for ending in ("html", "glb", "csv", "gif", "webp", "mp4")
    },
    "page": ds.embed,
    **{
        what: lambda run, what=what: ds.plot(run, what)
        for what in ("energy", "gap", "trajectory", "phase", "chains", "forces", "picture")
    },
}
NO_RUNS = {
    "a simulation": lambda: ds.Simulation(world()),
    "a path": lambda: "run.h5",
    "a world": world,
    "nothing": lambda: None,
    "a class": lambda: ds.Trajectory,
    "a moment": lambda: ds.Simulation(world()).state,
    "a scene": lambda: ds.scene("incline"),
}


@pytest.mark.parametrize("use", USES)
def test_what_is_no_replay_is_named_by_all_that_draws_and_writes(use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind, make in NO_RUNS.items():
        with pytest.raises(ds.OptionError, match="is not a replay: expected a ") as caught:
            USES[use](make())
        hint = "read_recording" if kind == "a path" else "record=True"
        assert hint in str(caught.value), kind
    assert not list(tmp_path.iterdir())


def test_replays_side_by_side_are_for_pages_alone(tmp_path):
    both = [trajectory(), trajectory()]
    assert ds.export(both, tmp_path / "both.html").exists()
    for ending in ("glb", "csv", "gif"):
        with pytest.raises(ds.OptionError, match="is not a replay"):
            ds.export(both, tmp_path / f"both.{ending}")


def test_a_simulation_is_no_method():
    with pytest.raises(ds.OptionError, match="expected a string or a method"):
        ds.compare("incline", [ds.Simulation(world())], duration=0.01)


def test_the_gallery_says_how_to_get_one_scene():
    with pytest.raises(ds.ArgumentError, match=r"^scenes\(\) takes .*ds\.scene\(name"):
        ds.scenes("pyramid")


@pytest.mark.parametrize("name", ["\ud800", "a" * 501, "a\0", "", 3, b"a", "world"])
def test_names_that_files_cannot_keep_are_refused(name):
    with pytest.raises(ds.ModelError, match=r"body name .* expected a string"):
        world().add_body(ds.Sphere(1), name=name)
    if name != "world":
        with pytest.raises(ds.ModelError, match=r"joint name .* expected a string"):
            world().add_joint(ds.Ball("a", anchor=(0, 0, 0), name=name))


@pytest.mark.parametrize("name", ["a" * 500, "a\nb", "\x1b", " ", "\N{PILE OF POO}\u202e"])
def test_names_that_are_taken_are_kept(name, tmp_path):
    here = world()
    here.add_body(ds.Sphere(1), name=name, position=(0, 0, 9))
    here.add_joint(ds.Ball("a", name, anchor=(0, 0, 5), name=name))
    ds.Simulation(here).run(0.05, record=tmp_path / "a.h5").close()
    ds.resume(tmp_path / "a.h5", until=0.1)
    with ds.read_recording(tmp_path / "a.h5") as rec:
        assert rec.names[-1] == name
        assert rec.joints(1)["name"].tolist() == [name]
        assert rec.world.bodies[-1] == name


def test_what_only_looks_like_numbers():
    masked = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
    for call in (
        lambda: ds.Sphere(np.timedelta64(1, "s")),
        lambda: ds.Penalty(damping=np.timedelta64(1, "s")),
        lambda: world().add_body(ds.Sphere(1), position=masked),
        lambda: ds.LCP(np.eye(3), masked),
        lambda: ds.solve(ds.LCP(np.eye(3), [1.0, 1.0, 1.0]), guess=masked),
        lambda: ds.Compound(coo_array((2, 2))),
    ):
        with pytest.raises(ds.DrystoneError):
            call()
    plain = ds.solve(ds.LCP(np.array([[2.0, 1.0], [1.0, 2.0]]), [-1.0, -1.0]))
    other = ds.solve(ds.LCP(np.array([[2.0, 1.0], [1.0, 2.0]]).view(np.matrix), [-1.0, -1.0]))
    assert np.array_equal(plain.value, other.value)


def test_a_target_that_is_set_wrong_is_an_error_of_the_run():
    here = world()
    drag = ds.Drag("a", (0, 0, 1), stiffness=1.0)
    here.add_force(drag)
    sim = ds.Simulation(here)
    sim.step()
    for target in ("up", (0, 0), (0, 0, float("nan")), None):
        drag.target = target
        with pytest.raises(ds.SimulationError, match=r"Drag of 'a' at t = .*target"):
            sim.step()


@pytest.mark.parametrize("value", [10**400, -(10**400), float("nan"), 1e300, "1", None, True, [1]])
def test_numbers_that_are_none(value):
    """Samples of what the fuzz test draws, by name."""
    for call in (
        lambda: ds.Disk(value),
        lambda: ds.Box(1, value, 1),
        lambda: ds.World().add_body(ds.Sphere(1), mass=value) if value is not None else ds.Disk(0),
        lambda: ds.World(gravity=(0, 0, value)) if value is not True else ds.Disk(0),
        lambda: ds.RegularPolygon(5, value),
    ):
        with pytest.raises(ds.ModelError):
            call()


def test_lists_that_are_empty_or_ragged():
    for call in (
        lambda: ds.decompose_polygon([]),
        lambda: ds.decompose_polygon([[0, 0], [1]]),
        lambda: ds.Polygon([]),
        lambda: ds.ConvexPolyhedron([[], []]),
        lambda: world().add_body(ds.Sphere(1), orientation=[]),
        lambda: world().add_body(ds.Sphere(1), orientation=[[1, 0], [0]]),
        lambda: ds.Compound([(ds.Sphere(1), (0, 0, 0), [])]),
        lambda: world().add_body(ds.Sphere(1), mass=1, inertia=[[1, 0], [0]]),
        lambda: world().add_force(ds.Drag("a", (0, 0, 1), limit="strong")),
        lambda: world().add_force(ds.Drag("a", (0, 0, 1), limit=float("nan"))),
    ):
        with pytest.raises(ds.ModelError):
            call()


def test_every_synonym_leads_somewhere():
    """The right words are words of the API."""
    words = set()
    for path in {*callable_names(), *homes(), "Simulation.record"}:
        first, _, method = path.partition(".")
        target = getattr(getattr(ds, first), method) if method else getattr(ds, first)
        words |= set(inspect.signature(target).parameters)
    wrong = {right for rights in SYNONYMS.values() for right in rights} - words
    assert wrong <= {"until"}


UNITS = {
    "degrees": (lambda w: w.add_joint(hinge((-90, 90))), "look"),
    "one side": (lambda w: w.add_joint(hinge((0, 6.4))), "degrees"),
    "millimetres": (lambda w: w.add_body(ds.Box(200, 100, 60)), "millimetres"),
    "g/cm3": (lambda w: w.add_body(ds.Box(1, 1, 1), density=7.8), "g/cm"),
    "cork in g/cm3": (lambda w: w.add_body(ds.Box(1, 1, 1), density=0.24), "g/cm"),
}  # fmt: skip


def hinge(limits):
    return ds.Hinge("a", anchor=(0, 0, 0.1), axis=(0, 1, 0), limits=limits)


@pytest.mark.parametrize("unit", UNITS)
def test_values_in_other_units_are_told_once_and_can_be_silenced(unit):
    act, word = UNITS[unit]
    here = world()
    with pytest.warns(ds.UnitWarning, match=word) as caught:
        act(here)
    assert caught[0].filename == __file__  # the user's line, not ours
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if unit != "degrees":
            act(here)  # told already
        warnings.simplefilter("ignore", ds.UnitWarning)
        act(world())


@pytest.mark.parametrize(
    "act",
    [
        lambda w: w.add_joint(hinge((-2 * np.pi, 2 * np.pi))),
        lambda w: w.add_joint(ds.Slider("a", anchor=(0, 0, 0), axis=(1, 0, 0), limits=(-50, 50))),
        lambda w: w.add_body(ds.Box(10, 2, 2), density=2400),
        lambda w: w.add_body(ds.Box(200, 100, 60), fixed=True),
        lambda w: w.add_body(ds.Box(1, 1, 1), density=30),
        lambda w: w.add_body(ds.Sphere(0.01), density=0.01),
    ],
)
def test_what_is_usual_is_not_warned_of(act):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        act(world())
    assert not told


def test_who_computes_in_millimetres_is_left_alone():
    here = ds.World(gravity=(0, 0, -9810))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        here.add_body(ds.Box(200, 100, 60), density=2e-6)
    assert not told


@pytest.mark.parametrize("wrong", ["ds.Simulaton", "ds.Recrding", "ds.World().add_bdy"])
def test_names_are_suggested_once(wrong):
    """Python has a suggestion of its own, that it prints with the traceback."""
    with pytest.raises(AttributeError) as caught:
        eval(wrong, {"ds": ds})
    said = "".join(traceback.format_exception(caught.value))
    assert said.lower().count("did you mean") == 1
