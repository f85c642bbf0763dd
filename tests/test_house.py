"""What ``benchmarks.house`` counts, on sources that are made for it."""

import ast

import pytest

from benchmarks import house

ONE = '''"""A module."""

from drystone.kernels.step import names as the

SMALL = 1e-9  # of a size
LARGE, LARGER = 10, -20.5
WORDS = ("a", "b")


def find(root, i):
    """Where i belongs."""
    while root[i] != i:  # a comment
        i = root[i]
    return i


def error_spatial(r, u, mu):
    contact[:, 13 if dim == 2 else 27] = s.count[the.WAIT]
    return contact[i, 9] + v[b, 5] + contact[i, 3:14] + contact[i, at + 7]


def many(a, b, c, d, e, f, g, h, i, j, *, k, l):
    """Impulse (n, t) of one planar contact."""
'''
TWO = '''from drystone.kernels.one import find

SMALL = 2
SHAPES = {"cylinder": 1, "cylindrical": 2}


class TimeStepper:
    def step(self):
        for stage in self.stages:
            self._one(stage)


class Other(TimeStepper):
    """Cylinder."""

    def run(self):
        return self.step()


class Third(Other):
    def _advance(self):
        while True:
            self.step()
'''


@pytest.fixture(autouse=True)
def package(monkeypatch):
    paths = ("kernels/one.py", "steppers/time_stepping/two.py", "scenes/three.py")
    texts = (ONE, TWO, "CYLINDER = 1\n")
    made = tuple(
        house.Module(house.PACKAGE / path, text, ast.parse(text))
        for path, text in zip(paths, texts, strict=True)
    )
    monkeypatch.setattr(house, "modules", lambda: made)


def last(places):
    return [place.split(" ", 1)[1] for place in places]


def test_ways():
    found = last(house.ways())
    wanted = ["loop in TimeStepper.step", "class Third", "loop in Third._advance"]
    assert found == wanted


def test_copies():
    assert last(house.copies("contact solve")) == ["many"]
    assert last(house.copies("residual")) == ["error_spatial"]
    assert last(house.copies("union-find")) == ["find"]
    assert house.copies("policy") == []


def test_names_of_a_shape_and_its_files():
    assert len(house.naming(house.TOUCHED["shape"])) == 1  # no scene, no docstring, no cylindrical


def test_slots():
    found = last(house.slots())
    assert sorted(found) == [
        "contact[:, 13 if dim == 2 else 27]",
        "contact[i, 3:14]",
        "contact[i, 9]",
        "contact[i, at + 7]",
        "the.WAIT",
    ]


def test_arguments_constants_imports_and_lines():
    assert last(house.long_argument_lists()) == ["many: 12"]
    assert set(house.constants()) == {"SMALL", "LARGE", "LARGER", "CYLINDER"}
    assert last(house.defined_twice()) == ["SMALL", "SMALL"]
    assert last(house.without_reason()) == ["SMALL", "LARGE", "LARGER", "CYLINDER"]
    assert [place.split()[0] for place in house.imported_once()] == ["drystone/kernels/one.py"]
    # the import, three lines of constants, and three functions without what is said of them
    assert house.lines_of(house.modules()[0]) == 4 + 4 + 3 + 1


def test_options_that_are_slow():
    speeds = {"a": {"default": 1.0, "x": 2.0, "y": 400.0}, "b": {"default": 2.0, "x": 7.0}}
    assert house.slower(speeds) == "2 / 1"
