"""Who is ahead: verdicts from rows made by hand, and the steps that a comparison asks for."""

import math

import pytest

from benchmarks.scenes import picture
from benchmarks.scenes import report as report
from benchmarks.scenes import verdict as verdict
from benchmarks.scenes.run import OURS, Row

DT = 1 / 240


def row(engine, wall, error, dt=DT, world="3D", case="stack", **more):
    figure = math.nan if wall is None else error
    return Row(case, engine, world, 10, dt, wall, figure, "moved", "mm", error, **more)


def only(rows):
    (found,) = verdict.judge(rows)
    return found


def test_a_peer_is_ahead_if_faster_and_more_accurate():
    ours = row(OURS, 1.0, 0.1)
    found = only([ours, row("fast", 0.5, 0.01), row("exact", 2.0, 1e-5), row("rough", 0.1, 5.0)])
    assert [one.engine for one in found.ahead] == ["fast"]
    assert not found.default_holds
    assert found.best.engine == "exact"
    assert found.reached is None
    assert not found.free_holds
    words = verdict.words([found])
    assert "fast (0.5 s, 0.01 mm)" in words[0]
    assert "no step of ours reached the error of exact" in words[1]


def test_errors_that_differ_little_are_equal():
    found = only([row(OURS, 1.0, 0.245), row("same", 0.5, 0.225)])
    assert found.default_holds
    assert found.reached.engine == OURS
    assert not found.free_holds  # as accurate, and twice as slow
    assert "2.0 times as long as same" in verdict.words([found])[-1]
    rounding = only([row(OURS, 1.0, 6e-15), row("less", 0.5, 7e-16)])
    assert rounding.default_holds


def test_the_step_is_chosen_freely():
    rows = [row(OURS, 1.0, 1e-6), row("peer", 0.3, 1e-2)]
    rows += [row(OURS, 0.25, 1e-4, dt=4 * DT), row(OURS, 0.1, 1.0, dt=8 * DT)]
    found = only(rows)
    assert found.reached.dt == 4 * DT
    assert found.free_holds
    assert found.default_holds
    assert all("no peer" in line.lower() or "everywhere" in line for line in verdict.words([found]))


def test_the_faster_of_two_equally_accurate_peers_is_the_best():
    found = only([row(OURS, 1.0, 1.0), row("slow", 5.0, 0.1), row("quick", 2.0, 0.105)])
    assert found.best.engine == "quick"


def test_who_falls_or_is_stopped_is_nobody_s_best():
    found = only([row(OURS, 1.0, 1.0), row("falls", 0.1, math.inf), row("stopped", None, math.nan)])
    assert found.best is None
    assert found.free_holds
    assert verdict.judge([row(OURS, 1.0, 1.0), row("stopped", None, math.nan)]) == []
    failed = only([row(OURS, None, math.nan, note="burst"), row("peer", 1.0, 1.0)])
    assert not failed.default_holds
    assert "ours failed: burst" in verdict.words([failed])[0]


def test_worlds_are_judged_apart():
    rows = [row(OURS, 1.0, 1.0), row("three", 2.0, 2.0)]
    rows += [row(OURS, 0.1, 1.0, world="2D"), row("flat", 0.5, 2.0, world="2D")]
    assert [one.world for one in verdict.judge(rows)] == ["3D", "2D"]


@pytest.mark.parametrize(
    ("error", "reach", "expected"),
    [
        (1e-6, (True, True, False), [2, 4, 8]),  # coarser while the peer's error is reached
        (1e-6, (True,) * 9, [2, 4, 8, 16, 32]),
        (1.0, (False, True), [1 / 2, 1 / 4]),  # finer until it is
        (1.0, (False,) * 9, [1 / 2, 1 / 4, 1 / 8, 1 / 16]),
    ],
)
def test_other_steps(error, reach, expected):
    steps = verdict.other_steps(row(OURS, 1.0, error), [row("peer", 1.0, 1e-3)])
    seen, answers = [], iter(reach)
    dt = next(steps, None)
    while dt is not None:
        seen.append(dt / DT)
        try:
            dt = steps.send(row(OURS, 1.0, 1e-4 if next(answers) else 1.0, dt=dt))
        except StopIteration:
            dt = None
    assert seen == pytest.approx(expected)
    assert list(verdict.other_steps(row(OURS, 1.0, 1.0), [])) == []


def test_the_page_names_what_does_not_hold(tmp_path):
    stages = {"solve": 3e-3, "rows": 1e-3}
    rows = [row(OURS, 1.0, 0.1, steps=10, stages=stages), row("fast", 0.5, 0.01)]
    rows += [row(OURS, 2.0, 0.01, dt=DT / 2, steps=20, stages=stages)]
    text = "\n".join(report.markdown(report.Results(rows), "scenes.png"))
    assert "**does not hold**" in text
    assert "solve 75%, rows 25%" in text
    assert "(scenes.png)" in text
    assert text.count("| stack | drystone |") == 1  # other steps are in the comparison only
    pytest.importorskip("matplotlib")
    assert picture.save_comparison(rows, tmp_path / "a.png").stat().st_size
