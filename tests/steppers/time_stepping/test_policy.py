"""``ds.IslandPolicy``: its numbers decide, compiled or not, and errors name them."""

import numpy as np
import pytest

import drystone as ds


def column(policy, **options):
    """Ten steps of three disks on each other, which roll off."""
    world = ds.World(planar=True)
    world.add_ground()
    for k in range(3):
        world.add_body(ds.Disk(0.1), position=(0.0, 0.1 + 0.2 * k), velocity=(0.3 * k, 0.0))
    sim = ds.Simulation(world, ds.TimeStepping(policy=policy, **options))
    methods, residual = set(), 0.0
    for _ in range(10):
        report = sim.step()
        methods |= set(report.methods)
        residual = max(residual, report.residual)
    return methods, residual, sim.state.position


@pytest.mark.parametrize("options", [{}, {"sleeping": ds.Sleeping(1e-9, 1.0)}])
def test_few_sweeps_leave_islands_to_newton(options):
    few = ds.IslandPolicy(first_sweeps=1, first_visits=1)
    many = ds.IslandPolicy(first_sweeps=4000)
    swept, newton = column(many, **options), column(few, **options)
    assert swept[0] == {"nsgs"}
    assert "newton" in newton[0]
    np.testing.assert_allclose(swept[2], newton[2], atol=1e-9)


def test_what_is_closer_is_solved_better():
    """Without Newton's method, whose last step is always exact."""
    loose = column(ds.IslandPolicy(first_sweeps=4000, closer=1.0, closer_at_rest=1.0))
    close = column(ds.IslandPolicy(first_sweeps=4000, closer=1e-4, closer_at_rest=1e-4))
    assert loose[1] <= 1e-8
    assert close[1] <= 1e-12 < loose[1]


def test_small_islands_get_every_method():
    """A policy for which no island is small sweeps all of them to the looser tolerance."""
    coarse = column(ds.IslandPolicy(small=1, medium=1), sweep_tol=1e-2)
    assert coarse[1] > 1e-8


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"small": 0}, "IslandPolicy.small = 0"),
        ({"polish": -1.0}, "IslandPolicy.polish = -1.0"),
        ({"sweeps": 2.5}, "IslandPolicy.sweeps = 2.5"),
        ({"rest_tol": float("nan")}, "IslandPolicy.rest_tol"),
        ({"closer": "much"}, "IslandPolicy.closer"),
    ],
)
def test_errors_name_the_field(options, said):
    with pytest.raises(ds.OptionError, match=said):
        ds.IslandPolicy(**options)


def test_a_policy_is_expected():
    with pytest.raises(ds.OptionError, match=r"TimeStepping.policy = 3: expected ds.IslandPolicy"):
        ds.TimeStepping(policy=3)  # type: ignore[arg-type]
