"""Few points of many: no peak is lost, and nothing is thinned that need not be."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.plots import run_data
from drystone.plots.decimation import peaks
from drystone.scenes import scene


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    n=st.integers(1, 900), columns=st.integers(1, 40), seed=st.integers(0, 50), gaps=st.booleans()
)
def test_every_column_keeps_its_ends(n, columns, seed, gaps):
    rng = np.random.default_rng(seed)
    lines = rng.normal(size=(3, n))
    if gaps:
        lines[:, rng.random(n) < 0.5] = np.nan
    kept = peaks(lines, columns)
    assert np.all(np.diff(kept) > 0)
    assert kept[0] == 0
    assert kept[-1] == n - 1
    assert len(kept) <= max(n if n <= 2 * columns + 2 else 0, 6 * columns + 2)
    edges = np.linspace(0, n, columns + 1).astype(int)
    for line in lines:
        for first, last in itertools.pairwise(edges):
            part, some = line[first:last], line[kept[(kept >= first) & (kept < last)]]
            if part.size and not np.isnan(part).all():
                assert np.nanmin(some) == np.nanmin(part)
                assert np.nanmax(some) == np.nanmax(part)


def test_columns_of_reports_are_those_of_the_reports(tmp_path):
    sim = scene("four-bar").simulation()
    sim.profile = True
    rec = sim.run(20 * sim.method.dt, record=tmp_path / "a.h5", every=2)
    reports = [rec.reports(k) for k in range(1, len(rec))]
    assert np.array_equal(rec.solved(), [report.ok for report in reports])
    found = rec.stage_seconds()
    assert list(found) == list(reports[0].seconds)
    for name, values in found.items():
        assert np.array_equal(values, [report.seconds[name] for report in reports])
    for name in ("residual", "iterations", "total", "unexplained", "friction", "dissipation"):
        assert np.array_equal(rec.series(name), run_data.series(reports, name)), name
    assert rec.series("iterations").dtype == np.int64


def test_steps_that_were_not_solved_are_found(tmp_path):
    world = ds.World()
    world.add_ground()
    for k in range(4):
        place = (0.02 * k, 0, 0.1 + 0.2 * k)
        world.add_body(ds.Box(0.3, 0.3, 0.2), position=place, density=1000 * 5**k)
    method = ds.TimeStepping(solver=ds.NSGS(tol=1e-15, max_sweeps=1), dt=0.01)
    rec = ds.Simulation(world, method).run(0.1, record=tmp_path / "a.h5", every=1)
    ok = [rec.reports(k).ok for k in range(1, len(rec))]
    assert not all(ok)
    assert np.array_equal(rec.solved(), ok)
    assert np.array_equal(run_data.unsolved(rec), ~np.array(ok))
