"""Force chains: what is drawn is what was solved."""

import numpy as np
import pytest

import drystone as ds
from drystone.plots import demos, style
from drystone.problems.generated import Pile


@pytest.fixture
def pile():
    """Two unit disks side by side on a floor: two floor contacts and one between them."""
    problem = ds.FrictionProblem(np.eye(6), np.zeros(6), [0.5, 0.5, 0.0], dim=2)
    return Pile(
        problem=problem,
        centres=np.array([[0.0, 1.0], [2.0, 1.0]]),
        radii=np.ones(2),
        pairs=np.array([[0, -1], [1, -1], [1, 0]]),
        points=np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0]]),
        normals=np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]),
    )


def test_chains_join_centres_and_reach_the_floor(pile):
    found = demos.pile_chains(pile, np.array([4.0, -1.0, 2.0, 1.0, 3.0, 0.0]))
    assert found.ends.tolist() == [
        [[0.0, 1.0], [0.0, 0.0]],
        [[2.0, 1.0], [2.0, 0.0]],
        [[2.0, 1.0], [0.0, 1.0]],
    ]
    assert found.size.tolist() == [4.0, 2.0, 3.0]
    assert found.share.tolist() == [0.5, 1.0, 0.0]  # no friction: nothing to use


def test_contacts_that_carry_nothing_are_left_out(pile):
    found = demos.pile_chains(pile, np.array([4.0, 0.0, 0.0, 0.0, 1e-6, 0.0]))
    assert found.size.tolist() == [4.0]


@pytest.mark.parametrize("impulses", [np.zeros(6), np.array([4.0, -1.0, 2.0, 1.0, 3.0, 0.0])])
def test_drawing_works_also_without_forces(pile, impulses, tmp_path):
    with style.figure(4.0, 3.0) as fig:
        demos.draw_pile(fig.add_subplot(2, 1, 2), fig.add_subplot(2, 1, 1), pile, impulses, 7.0)
        path = style.save(fig, tmp_path / "new" / "pile.png", dpi=50)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_equal_pictures_are_equal_files(pile, tmp_path):
    files = []
    for name in ("a.png", "b.png"):
        with style.figure(3.0, 2.0) as fig:
            demos.draw_rod_conditions(fig.add_subplot(), -1.0, 1.0, np.array([0.0, 1.0]), None)
            files.append(style.save(fig, tmp_path / name, dpi=40).read_bytes())
    assert files[0] == files[1]


def test_settings_stay_inside():
    import matplotlib

    before = dict(matplotlib.rcParams)
    with style.figure(3.0, 2.0):
        pass
    assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with (
        pytest.raises(ds.MissingExtraError, match=r"pip install 'drystone\[plot\]'"),
        style.figure(3.0, 2.0),
    ):
        pass
