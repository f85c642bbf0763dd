"""The layers hold, and the package keeps the promises the import contract cannot see."""

import ast
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

import drystone

PACKAGE = Path(drystone.__file__).parent
ROOT = PACKAGE.parent
SOURCES = sorted(PACKAGE.rglob("*.py"))


def test_import_contracts(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert lint_imports(cache_dir=None) == 0, capsys.readouterr().out


def test_modules_say_what_they_are_for():
    for path in SOURCES:
        tree = ast.parse(path.read_text())
        assert not tree.body or ast.get_docstring(tree), f"{path} has no docstring"


@pytest.mark.parametrize("path", sorted((PACKAGE / "kernels").rglob("*.py")), ids=lambda p: p.stem)
def test_kernels_do_not_raise_nor_read_the_clock(path):
    """Every function under the decorator."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.FunctionDef):
            continue
        if not any(isinstance(d, ast.Name) and d.id == "kernel" for d in node.decorator_list):
            continue
        for inner in ast.walk(node):
            assert not isinstance(inner, ast.Raise | ast.Assert), node.name
            if isinstance(inner, ast.Name | ast.Attribute):
                name = inner.id if isinstance(inner, ast.Name) else inner.attr
                assert name not in ("perf_counter", "time", "random"), node.name


def test_nothing_is_left_for_later():
    for path in SOURCES:
        text = path.read_text()
        for word in ("TODO", "FIXME", "XXX"):
            assert word not in text, f"{word} in {path}"
