"""One public module: every name loads, is documented, and is nowhere else needed."""

import ast
import inspect
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml

import drystone as ds

ROOT = Path(__file__).parents[1]
API = ROOT / "docs" / "api.md"


@pytest.mark.parametrize("name", ds.__all__)
def test_every_public_name_loads_and_says_what_it_is(name):
    value = getattr(ds, name)
    if name != "__version__":
        assert inspect.getdoc(value)
    assert name in dir(ds)


def test_a_name_that_does_not_exist():
    with pytest.raises(AttributeError, match="module 'drystone' has no attribute 'Lemk'"):
        ds.Lemk  # noqa: B018


@pytest.mark.parametrize("name", ds.__all__)
def test_every_public_name_is_on_the_api_page(name):
    text = API.read_text()
    assert f"`{name}`" in text or f"`{name}(" in text


def for_type_checkers(module):
    """Names that a module imports for type checkers only; of a star, all that it brings."""
    tree = ast.parse(Path(module.__file__).read_text())
    imports = [
        inner
        for node in tree.body
        if isinstance(node, ast.If)
        for inner in node.body
        if isinstance(inner, ast.ImportFrom)
    ]
    seen = {alias.asname or alias.name for inner in imports for alias in inner.names} - {"*"}
    for inner in imports:
        if inner.names[0].name == "*":
            room = import_module(inner.module)
            assert for_type_checkers(room) >= set(room.__all__)
            seen |= set(room.__all__)
    return seen


def test_the_type_checker_sees_every_public_name():
    """Names load lazily; the block for type checkers must list the same ones."""
    seen = for_type_checkers(ds)
    assert seen == set(ds.__all__) - {"__version__"}


def test_options_are_keyword_only():
    for name in ("Lemke", "PGS", "NSGS", "Newton"):
        solver = getattr(ds, name)
        with pytest.raises(TypeError):
            solver(1e-6)
        assert solver(tol=1e-6).tol == 1e-6


def test_one_version_everywhere():
    """The package says it; the metadata is made of that, the citation and the changes repeat it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["dynamic"] == ["version"]
    assert settings["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "drystone.__version__"}
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == ds.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+) \((.*)\)$", changes, re.M)
    assert newest[1] == ds.__version__
    assert newest[2] == str(citation["date-released"])


def test_tools_have_one_version():
    """Hooks before a commit and the settings of CI use what pyproject pins."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = settings["project"]["optional-dependencies"]["dev"]
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    asked = [
        tool
        for repository in hooks["repos"]
        for hook in repository["hooks"]
        for tool in hook.get("additional_dependencies", ())
    ]
    assert len(asked) == 3
    assert set(asked) <= set(pinned)


def test_ci_runs_what_is_promised():
    """Every version of Python and every system that the metadata names."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    work = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    matrix = work["jobs"]["test"]["strategy"]["matrix"]
    named = [c.rpartition(" :: ")[2] for c in settings["project"]["classifiers"]]
    assert [v for v in named if re.fullmatch(r"3\.\d+", v)] == matrix["python"]
    systems = {"MacOS": "macos", "Windows": "windows", "Linux": "ubuntu"}
    assert {s.partition("-")[0] for s in matrix["os"]} == {
        systems[n] for n in named if n in systems
    }
