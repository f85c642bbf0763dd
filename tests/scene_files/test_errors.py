"""What is wrong with a file is said with file, line, key and value; and limits hold."""

import json
from pathlib import Path

import pytest

import drystone as ds
from drystone import scene_files

GOOD = """\
title: a stack
gravity: [0, 0, -9.81]
method: {name: time-stepping, dt: 1e-3}
materials:
  stone: {density: 1800, friction: 0.6}
bodies:
  - name: ground
    shape: {kind: ground}
  - name: brick
    shape: {kind: box, lx: 0.2, ly: 0.1, lz: 0.06}
    material: stone
    position: [0, 0, 0.03]
joints:
  - {kind: ball, a: brick, anchor: [0, 0, 0.1]}
forces:
  - {kind: damper, linear: 0.1}
pairs:
  - {between: [ground, brick], friction: 0.3}
"""


def read(tmp_path, text, name="a.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return scene_files.read(path)


def failure(tmp_path, text, name="a.yaml"):
    with pytest.raises(ds.SceneFileError) as caught:
        read(tmp_path, text, name)
    return str(caught.value).replace(str(tmp_path) + "/", "")


def test_the_good_one(tmp_path):
    found = read(tmp_path, GOOD)
    assert found.world.bodies == ("ground", "brick")
    assert found.method == ds.TimeStepping(dt=1e-3)
    assert found.world.total_mass == pytest.approx(0.2 * 0.1 * 0.06 * 1800)
    assert found.title == "a stack"
    found = ds.read_scene(tmp_path / "a.yaml")
    assert (found.duration, found.name) == (5.0, "a")
    found.simulation().run(0.01)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("lx: 0.2", "lx: -0.2", "a.yaml:10: bodies[1].shape.lx = -0.2: expected more than 0"),
        ("lx: 0.2", "lx: '0.2'", "a.yaml:10: bodies[1].shape.lx = '0.2': expected a number"),
        ("lx: 0.2", "lx: .nan", "a.yaml:10: bodies[1].shape.lx = '.nan': expected a number"),
        ("lx: 0.2", "lx: 1e999", "a.yaml:10: bodies[1].shape.lx = inf: expected a finite number"),
        ("lx: 0.2, ", "", "a.yaml:10: bodies[1].shape.lx: is missing"),
        ("lx: 0.2", "lx: 0.2, kid: 3", "unknown key: did you mean 'kind'?"),
        ("kind: box", "kind: bax", "a.yaml:10: bodies[1].shape.kind = 'bax': did you mean 'box'?"),
        ("kind: box", "kind: cube", "bodies[1].shape.kind = 'cube': did you mean 'box'?"),
        ("kind: box, ", "", "a.yaml:10: bodies[1].shape.kind: is missing"),
        ("    position:", "    postion:", "a.yaml:12: bodies[1].postion"),
        ("    position:", "    postion:", "did you mean 'position'?"),
        ("material: stone", "material: stne", "material = 'stne': expected one of stone"),
        ("[0, 0, 0.03]", "[0, 0]", "a.yaml:9: bodies[1]: body 'brick': position"),
        ("[0, 0, 0.03]", "[0, 0, x]", "bodies[1].position[2] = 'x': expected a number"),
        ("name: brick", "name: ground", "a.yaml:9: bodies[1]: body 'ground': another body"),
        ("name: brick", "name: true", "bodies[1].name = True: expected a string"),
        ("a: brick", "a: brik", "a.yaml:14: joints[0]: joint"),
        ("a: brick", "a: brik", "did you mean 'brick'?"),
        ("linear: 0.1", "linear: -0.1", "a.yaml:16: forces[0]"),
        ("friction: 0.3", "friction: [0.1, 0.2]", "a.yaml:18: pairs[0]"),
        ("dt: 1e-3", "dt: 0", "a.yaml:3: method.dt = 0: expected more than 0"),
        ("dt: 1e-3", "dtt: 1", "a.yaml:3: method.dtt = 1: unknown key: did you mean 'dt'?"),
        ("dt: 1e-3", "solver: lemk", "method.solver = 'lemk': did you mean 'lemke'?"),
        ("dt: 1e-3", "order: 2, mass: end", "a.yaml:3: method: TimeStepping.order"),
        ("time-stepping", "time-steping", "did you mean 'time-stepping'?"),
        ("title: a stack", "title: [1]", "a.yaml:1: title = [1]: expected a string"),
        ("title: a stack", "drystone: 2", "later version"),
        ("title: a stack", "tittle: x", "a.yaml:1: tittle = 'x': unknown key"),
        ("title: a stack", "ground: 1", "unknown key: the ground is one of the bodies"),
        ("title: a stack", "dt: 0.1", "unknown key: the step belongs to the method"),
        ("title: a stack", "title: a\ntitle: b", "a.yaml:2: the key 'title' is there twice"),
        ("title: a stack", "title: !!python/object:os.system x", "a.yaml:1: the tag"),
        ("title: a stack", "title: !!str x", "a.yaml:1: the tag"),
        ("title: a stack", "[1, 2]: x", "a key must be a text"),
        ("title: a stack", "title: {", "not YAML"),
        ("title: a stack", "title: *other", "*other"),
        ("title: a stack", "---\ntitle: a\n---\nb: 2\n---", "documents"),
        ("forces:\n  - {kind: damper, linear: 0.1}", "forces: 7", "forces = 7: expected a list"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path, old, new, words):
    assert old in GOOD
    assert words in failure(tmp_path, GOOD.replace(old, new, 1))


def test_all_mistakes_of_a_file_are_listed(tmp_path):
    text = GOOD.replace("lx: 0.2", "lx: a").replace("linear: 0.1", "linear: b")
    with pytest.raises(ds.SceneFileError, match=r"and 1 more") as caught:
        read(tmp_path, text)
    lines = [line.rsplit("/", 1)[-1] for line in caught.value.problems]
    assert [line.split(": ")[0] for line in lines] == ["a.yaml:10", "a.yaml:16"]


def test_json_has_lines_too(tmp_path):
    text = '{\n  "bodies": [\n    {"shape": {"kind": "sphere",\n      "radius": -1}}\n  ]\n}\n'
    expected = "a.json:4: bodies[0].shape.radius = -1: expected more than 0"
    assert failure(tmp_path, text, "a.json") == expected
    assert "a.json:1: " in failure(tmp_path, "{'a': 3}", "a.json")
    assert "twice" in failure(tmp_path, '{"bodies": [], "bodies": []}', "a.json")
    assert "NaN" in failure(tmp_path, '{"bodies": NaN}', "a.json")


def test_numbers_are_those_of_yaml_1_2(tmp_path):
    found = read(tmp_path, "gravity: [1e-3, .5, -1E2]\nbodies: []\n")
    assert found.world.gravity == (1e-3, 0.5, -100.0)
    assert "expected" in failure(tmp_path, "bodies: []\nplanar: yes\n")
    assert "expected" in failure(tmp_path, "bodies: []\nduration: 1:30\n")
    assert "expected" in failure(tmp_path, "bodies: []\nduration: 2*3\n")


def laughs(depth):
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, depth)]
    return "\n".join([*rows, "bodies: []"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (laughs(9), "more than 3000000 values"),
        ("a: &a [*a]\nbodies: []", "*a is no value"),
        ("bodies: " + "[" * 100 + "]" * 100, "nested more than 40"),
        ("bodies: " + "[" * 100_000, "nested more than 40"),
        ("\n".join(f"k{i}: &k{i} [*k{i - 1}]" if i else "k0: &k0 [1]" for i in range(60)),
         "nested more than 40"),
        ("duration: " + "9" * 1000 + "\nbodies: []", "1000 digits"),
        ("bodies:\n  - {shape: {kind: sphere, radius: 1}, grid: {count: [1000, 1000], "
         "step: [1, 1, 1]}}", "more than 200000 copies"),
        ("bodies:\n  - {shape: {kind: sphere, radius: 1}, range: {count: 1000000}}",
         "expected at most 200000"),
        ("\x00", "not YAML"),
        ("", "is empty"),
        ("# nothing", "is empty"),
        ("- 1", "expected keys"),
        ("{}", "bodies: is missing"),
    ],
)  # fmt: skip
def test_limits(tmp_path, text, words):
    assert words in failure(tmp_path, text)
    if text.startswith("bodies: ["):
        assert "nested" in failure(tmp_path, '{"bodies": ' + "[" * 100 + "]" * 100 + "}", "a.json")


def test_files_that_are_none(tmp_path):
    for name, words in (("none.yaml", "No such file"), ("a.txt", ".yaml"), ("d.yaml", "folder")):
        (tmp_path / "d.yaml").mkdir(exist_ok=True)
        with pytest.raises(ds.SceneFileError, match=words):
            scene_files.read(tmp_path / name)
    (tmp_path / "x.yaml").write_bytes(b"title: \xff\xfe\n")
    with pytest.raises(ds.SceneFileError, match="UTF-8"):
        scene_files.read(tmp_path / "x.yaml")
    with pytest.raises(ds.SceneFileError, match="ending"):
        scene_files.write(tmp_path / "x.txt", {})
    with pytest.raises(ds.SceneFileError):
        scene_files.write(tmp_path / "no" / "x.yaml", {"bodies": []})


def test_the_schema_is_one_and_knows_every_kind():
    schema = scene_files.schema()
    text = json.dumps(schema)
    from drystone.constraints.joints.registry import JOINTS
    from drystone.geometry.shapes import SHAPES
    from drystone.scene_files.kinds import FORCES, MOTIONS
    from drystone.steppers.registry import METHODS

    for kinds in (FORCES, JOINTS, METHODS, MOTIONS, SHAPES):
        for kind in kinds:
            assert f'"const": "{kind}"' in text, kind
    assert schema["required"] == ["bodies"]
    assert schema["additionalProperties"] is False


def test_the_schema_agrees_with_the_reader(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft202012Validator(scene_files.schema())
    for name in ("wall", "vehicle", "double-action-jack", "brazil-nut"):
        scene = ds.scene(name)
        document = scene_files.document(scene.world, scene.method, scene.duration, scene.view)
        assert not list(check.iter_errors(document))
    assert list(check.iter_errors({"bodies": [{"shape": {"kind": "sphere", "radius": -1}}]}))


def test_examples_are_in_order():
    for path in sorted((Path(__file__).parents[2] / "examples").glob("*.yaml")):
        scene = ds.read_scene(path)
        sim = scene.simulation()
        sim.run(3 * scene.method.dt)
        assert sim.summary.ok, path.name


def test_a_key_that_is_there_twice_among_many(tmp_path):
    """Found in one pass: one for each key would take hours."""
    path = tmp_path / "a.json"
    path.write_text("{" + ", ".join(f'"k{n}": 0' for n in (*range(200_000), 199_999)) + "}")
    with pytest.raises(ds.SceneFileError, match="the key 'k199999' is there twice"):
        ds.read_scene(path)
