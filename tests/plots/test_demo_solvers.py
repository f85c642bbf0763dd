"""``drystone demo --solvers``: it ends well, says where its pictures are, and they exist."""

import sys

import numpy as np
import pytest
from rich.console import Console

import drystone as ds
from drystone.cli import demo_solvers as module
from drystone.problems.generated import disk_pile


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(module, "disk_pile", lambda *_, **__: disk_pile(4, formed=True))
    monkeypatch.setattr(module, "METHODS", ("nsgs", "lemke"))


def test_demo(small, tmp_path, capsys):
    module.demo(tmp_path / "pictures")
    text = capsys.readouterr().out
    assert "nsgs" in text
    assert "solved" in text
    assert "f_N = 0 N, 1 N" in text
    pictures = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert pictures == ["force_chains.png", "rod.png"]
    for name in pictures:
        assert name in text


def test_demo_without_matplotlib_still_solves(small, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    module.demo(tmp_path)
    text = capsys.readouterr().out
    assert "solved" in text
    assert "pip install" in text
    assert not list(tmp_path.iterdir())


def test_the_best_answer_is_drawn(small):
    pile = disk_pile(4, formed=True)
    best = module.compare(Console(quiet=True), pile)
    assert best.ok


def test_every_method_of_the_demo_takes_the_pile():
    problem = disk_pile(2, formed=True).problem
    for name in module.METHODS:
        solution = ds.solve(problem, name)
        assert solution.ok, f"{name}: {solution}"
        assert np.isfinite(solution.value).all()
