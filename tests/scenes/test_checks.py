"""``Scene.check``: claims hold, fail where a scene is not what it says, and are told by the CLI."""

import json
from dataclasses import replace
from types import MappingProxyType

import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.cli.main import app
from drystone.scenes import SCENES
from drystone.scenes.base import rough
from drystone.scenes.checks import MODULES

OF_1989_TO_1994 = (
    "bricks", "dominoes", "destructive-chain", "chain-pivot", "blocks-chain", "many-blocks-chain",
    "jack-stairs", "dice-lattice", "collapse", "ellipsoid-rock", "eccentric-ellipsoid-rock",
    "superquadric-rock", "rod-indeterminate", "rod-inconsistent", "subset-sum",
    "indeterminate-impulse", "struck-block", "heavy-ball", "double-action-jack", "block-feeder",
)  # fmt: skip


def test_all_scenes_of_the_three_papers_have_one():
    assert set(MODULES) == set(OF_1989_TO_1994) <= set(SCENES)
    with pytest.raises(ds.OptionError, match="scene 'wall' has no check"):
        ds.scene("wall").check()


@pytest.mark.parametrize(
    ("name", "settings", "method"),
    [
        ("rod-indeterminate", {"mass": 2.0, "excess": 0.5}, None),
        ("rod-inconsistent", {"mass": 2.0, "speed": 0.5}, None),
        ("subset-sum", {}, None),
        ("subset-sum", {"target": 9}, None),
        ("indeterminate-impulse", {}, None),
        ("heavy-ball", {"ratio": 4.0}, None),
        ("struck-block", {"mass": 3.0, "restitution": 0.2}, None),
        ("struck-block", {}, ds.TimeStepping(dt=1e-3, restitution="newton")),
        ("ellipsoid-rock", {"mass": 2.0}, None),
        ("eccentric-ellipsoid-rock", {}, None),
        ("superquadric-rock", {}, None),
        ("bricks", {"n": 5, "planar": True}, None),
        ("bricks", {"n": 3, "planar": True}, None),
        ("dominoes", {"n": 5}, None),
        ("dominoes", {"n": 3}, rough()),
        ("chain-pivot", {}, rough()),
        ("double-action-jack", {}, None),
        ("block-feeder", {"n": 2}, None),
        ("collapse", {"storeys": 1}, None),
        ("collapse", {"storeys": 1, "lean": 0.1}, None),
    ],
)
def test_claims_hold(name, settings, method):
    found = ds.scene(name, **settings).check(method)
    assert found.ok, str(found)
    assert len(found.claims) >= 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["destructive-chain", "blocks-chain", "many-blocks-chain", "jack-stairs"]
)
def test_claims_of_long_scenes_hold(name):
    found = ds.scene(name).check(rough())
    assert found.ok, str(found)


@pytest.mark.parametrize(
    ("name", "settings", "told", "words"),
    [
        ("bricks", {"n": 3, "planar": True}, {"shift": 0.1}, "top brick"),
        ("bricks", {"n": 5, "planar": True}, {"shift": 0.01}, "top brick"),
        ("dominoes", {"n": 2, "push": 0}, {"push": 1.0}, "that fell"),
        ("heavy-ball", {}, {"ratio": 8.0}, "lost in impacts"),
        ("struck-block", {}, {"mass": 1.1}, "board leaves"),
        ("ellipsoid-rock", {}, {"a": 1.51}, "angle away"),
        ("superquadric-rock", {}, {"size": 1.01}, "time of the crossing"),
        ("rod-indeterminate", {}, {"excess": 0.9}, "normal force"),
        ("rod-inconsistent", {}, {"speed": 1.1}, "energy that it takes"),
        ("subset-sum", {"target": 8}, {"target": 9}, "solutions by forces"),
        ("double-action-jack", {}, {"pitch": 0.08}, "ratchet"),
        ("block-feeder", {"n": 1}, {"speed": 3.1}, "closed form"),
    ],
)
def test_claims_fail_where_the_scene_is_another(name, settings, told, words):
    """The world of some settings, judged by what others would promise."""
    scene = ds.scene(name, **settings)
    other = replace(scene, settings=MappingProxyType({**scene.settings, **told}))
    found = other.check()
    assert not found.ok
    assert any(words in claim.words and not claim.ok for claim in found.claims), str(found)


def test_the_command_tells_claims_and_whether_they_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    done = run(app, ["check", "rod-inconsistent", "indeterminate-impulse", "--json"])
    assert done.exit_code == 0, done.output
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["scene"] for one in said] == ["rod-inconsistent", "indeterminate-impulse"]
    assert all(claim["ok"] for one in said for claim in one["claims"])
    done = run(app, ["check", "subset-sum", "--set", "target=9"])
    assert done.exit_code == 0
    assert "ok    solutions by forces: 0 (= 0)" in done.output
    done = run(app, ["check", "heavy-ball", "--method", "penalty"])
    assert done.exit_code == 1, "springs give it back"
    assert "WRONG speed of the heavy ball" in done.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["wall"], "scene 'wall' has no check"),
        (["rod-inconsistent", "--method", "time-stepping"], "method event-driven only"),
        (["bricks", "--method", "events"], "unknown method 'events'"),
        (["bricks", "--set", "shft=1"], "did you mean 'shift'"),
        (["bricks.yaml", "--set", "shift=1"], "only for scenes given by name"),
        (["brics"], "expected a name ending in"),
    ],
)
def test_what_the_command_refuses(words, message):
    done = CliRunner().invoke(app, ["check", *words])
    assert done.exit_code == 2
    assert message in done.output
