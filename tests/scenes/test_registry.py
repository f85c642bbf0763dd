"""The gallery: its names, its settings, and what it says of wrong ones."""

import dataclasses

import numpy as np
import pytest

from drystone.errors import OptionError
from drystone.scenes import SCENES, Scene, names, scene
from drystone.steppers.time_stepping.options import TimeStepping

NAMES = [
    "ellipse-drop",
    "disks-21",
    "brazil-nut",
    "wedge-cone",
    "incline",
    "sliding-block",
    "rolling-ball",
    "billiard-three",
    "newton-cradle",
    "mass-ratio",
    "pyramid",
    "wall",
    "card-house",
    "arch",
    "dominoes",
    "spheres",
    "hopper",
    "tippe-top",
    "rattleback",
    "gyroscope",
    "chain",
    "chain-whip",
    "chain-drop",
    "double-pendulum",
    "four-bar",
    "slider-crank",
    "gripper",
    "vehicle",
    "geneva",
    "ragdoll",
    "bricks",
    "destructive-chain",
    "chain-pivot",
    "blocks-chain",
    "many-blocks-chain",
    "heavy-ball",
    "struck-block",
    "jack-stairs",
    "dice-lattice",
    "collapse",
    "ellipsoid-rock",
    "eccentric-ellipsoid-rock",
    "superquadric-rock",
    "rod-indeterminate",
    "rod-inconsistent",
    "subset-sum",
    "indeterminate-impulse",
    "double-action-jack",
    "block-feeder",
]
OWN = {"ellipse-drop", "disks-21", "brazil-nut", "billiard-three", "newton-cradle", "rattleback"}
OWN |= set(NAMES[NAMES.index("bricks") :])  # of 1989 to 1994: their own methods


def test_the_names_are_those_promised():
    assert list(names()) == NAMES
    assert list(SCENES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_scene_says_what_it_is(name):
    found = scene(name)
    assert isinstance(found, Scene)
    assert found.name == name
    assert found.summary
    assert found.paper
    assert found.duration > 0
    assert found.settings == {s.name: s.default for s in SCENES[name].settings.values()}
    keys = {"limits"} if found.world.planar else {"camera", "target"}
    assert set(found.view) - {"sliders", "play"} == keys
    assert np.isfinite(np.array([found.view[key] for key in keys], float)).all()
    if name not in OWN:  # nothing but the step is set
        assert found.method == TimeStepping(dt=1 / 240)


@pytest.mark.parametrize("name", NAMES)
def test_every_function_explains_its_settings(name):
    entry = SCENES[name]
    text = entry.function.__doc__
    for setting in entry.settings.values():
        assert type(setting.default) in (int, float, bool, str)
        said = setting.name in text or setting.name in ("mu", "n", "planar", "speed", "radius")
        assert said, setting.name


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("spheres", "wall")])
def test_every_scene_starts_without_overlap_and_steps(name):
    sim = scene(name).simulation()
    for _ in range(3):
        assert sim.step().ok


def test_small_versions_of_the_large_scenes_step():
    for name, settings in (("spheres", {"n": 27}), ("wall", {"courses": 3, "columns": 2})):
        assert scene(name, **settings).simulation().step().ok
    assert scene("hopper", planar=False, n=60).simulation().step().ok


def test_texts_of_the_command_line_become_settings():
    built = scene("pyramid", rows="3", mu="0.25", planar="yes")
    assert dict(built.settings) == scene("pyramid", rows=3, mu=0.25, planar=True).settings
    assert scene("spheres", n="2e1").settings["n"] == 20
    assert len(built.world) == 7
    assert scene("incline", planar="false", shape="plate").settings["shape"] == "plate"


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("pyramyd", {}, ["pyramyd", "did you mean 'pyramid'"]),
        ("zzz", {}, ["unknown scene 'zzz'", "ellipse-drop"]),
        ("pyramid", {"row": 3}, ["scene 'pyramid'", "'row'", "did you mean 'rows'"]),
        ("pyramid", {"rows": "many"}, ["rows = 'many'", "whole number"]),
        ("pyramid", {"rows": 2.5}, ["rows = 2.5", "whole number"]),
        ("pyramid", {"rows": 0}, ["scene 'pyramid'", "rows = 0", "1 or more"]),
        ("pyramid", {"rows": True}, ["rows = True"]),
        ("pyramid", {"mu": -0.1}, ["mu = -0.1"]),
        ("pyramid", {"mu": "nan"}, ["mu = 'nan'", "a number"]),
        ("pyramid", {"planar": "perhaps"}, ["planar = 'perhaps'", "true or false"]),
        ("incline", {"shape": "disc"}, ["shape = 'disc'", "box or plate or cylinder"]),
        ("newton-cradle", {"incoming": 5}, ["incoming = 5"]),
        ("arch", {"ratio": 2.5}, ["ratio = 2.5"]),
        ("gyroscope", {"spin": 1.0}, ["spin = 1.0", "too slow"]),
        ("dominoes", {"spacing": 0.05}, ["spacing"]),
        ("wall", {"joint": 1.0}, ["joint = 1.0"]),
    ],
)
def test_wrong_settings_are_refused_by_name(name, settings, words):
    with pytest.raises(OptionError) as caught:
        scene(name, **settings)
    for word in words:
        assert word in str(caught.value)


def test_scenes_are_frozen_and_their_settings_too():
    built = scene("incline")
    with pytest.raises(dataclasses.FrozenInstanceError):
        built.duration = 1.0
    with pytest.raises(TypeError):
        built.settings["mu"] = 1.0


def test_options_of_a_simulation_replace_the_scenes_own():
    sim = scene("brazil-nut", n=10).simulation(formulation="coulomb")
    assert sim.method == TimeStepping(dt=0.1, formulation="coulomb")
