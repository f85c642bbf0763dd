"""One public module: every name loads, is documented, and is nowhere else needed."""

import ast
import inspect
from pathlib import Path

import pytest

import drystone as ds

API = Path(__file__).parents[1] / "docs" / "api.md"


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


def test_the_type_checker_sees_every_public_name():
    """Names load lazily; the block for type checkers must list the same ones."""
    tree = ast.parse(Path(ds.__file__).read_text())
    seen = {
        alias.asname
        for node in tree.body
        if isinstance(node, ast.If)
        for inner in node.body
        if isinstance(inner, ast.ImportFrom)
        for alias in inner.names
    }
    assert seen == set(ds.__all__) - {"__version__"}


def test_options_are_keyword_only():
    for name in ("Lemke", "PGS", "NSGS", "Newton"):
        solver = getattr(ds, name)
        with pytest.raises(TypeError):
            solver(1e-6)
        assert solver(tol=1e-6).tol == 1e-6


def test_version_is_the_one_installed():
    from importlib.metadata import version

    assert ds.__version__ == version("drystone")
