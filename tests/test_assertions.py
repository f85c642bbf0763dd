"""Every test says what must hold: a test that only runs something finds half of what is wrong."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
SAYS = ("raises", "warns", "fail", "deprecated_call")  # of pytest


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def own(path):
    """{name: functions and methods of it} of a file."""
    out = {}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef):
            out.setdefault(node.name, []).append((path, node))
    return out


@cache
def defined(path):
    """The same, with those of the files of tests that it imports from."""
    out = {name: list(found) for name, found in own(path).items()}
    for node in tree(path).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests"):
            other = ROOT.joinpath(*node.module.split(".")).with_suffix(".py")
            for name, found in own(other).items() if other.exists() else ():
                out.setdefault(name, []).extend(found)
    return out


@cache
def facts(function):
    """Whether it asserts something itself, and the functions that it calls."""
    says, calls = False, set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True, set()
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        says |= name in SAYS or name.startswith("assert_")
        value = getattr(node.func, "value", None)
        if not (isinstance(value, ast.Name) and value.id in ("ds", "np")):
            calls.add(name)
    return says, calls


def asserts(path, function, seen):
    """Whether it, or a function of the tests that it calls, asserts something."""
    says, calls = facts(function)
    if says:
        return True
    for name in calls:
        for where, helper in defined(path).get(name, ()):
            if helper not in seen:
                seen.add(helper)
                if asserts(where, helper, seen):
                    return True
    return False


def silent(path):
    """Tests of a file that assert nothing."""
    for name, found in own(path).items():
        for _, node in found if name.startswith("test_") else ():
            if not asserts(path, node, {node}):
                yield f"{path.relative_to(ROOT)}:{node.lineno} {name}"


def test_every_test_asserts_something():
    found = [test for path in sorted(TESTS.rglob("test_*.py")) for test in silent(path)]
    assert not found, "tests that assert nothing:\n" + "\n".join(found)


def test_a_test_that_only_runs_is_found(tmp_path, monkeypatch):
    path = tmp_path / "tests" / "test_some.py"
    path.parent.mkdir()
    path.write_text(
        "def check(x):\n    assert x\n"
        "def use(x):\n    return x\n"
        "def test_by_a_helper():\n    check(1)\n"
        "def test_nothing():\n    use(1)\n"
        "def test_an_error():\n    with pytest.raises(ValueError):\n        use(1)\n"
    )
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert [found.split()[1] for found in silent(path)] == ["test_nothing"]
