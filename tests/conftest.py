"""Property tests repeat: their examples depend on the test alone.

Hypothesis also draws numbers that it finds in the source of whatever modules happen to be loaded,
which depends on the order of tests and on the worker; with derandomize=True that is not wanted.
"""

import sys

import pytest
from hypothesis.internal.conjecture import providers

if hasattr(providers, "is_local_module_file"):  # pinned in pyproject.toml; without it: as before
    providers.is_local_module_file = lambda path: False

# run by who asks for them, `pytest -m fuzz`: minutes, or what `make test` does not install
LONG = ("fuzz", "kills", "neighbours", "judges", "peers", "loops", "goldens")

# Why a test may be skipped, in words of its reason. A skip for anything else fails the run: a test
# that nobody runs is none. What pip can install, `make test` installs, so it is not listed.
SKIPS = (
    "third-party problems",  # lie beside the project, for who has them
    "shared/problems",
    "chromium is not installed",  # the viewer in a real browser; .ci/run installs it
    "python3-siconos",  # of Debian, as libfclib0; .ci/run installs them where there is apt
    "libfclib0",
    "without a compiler",  # DRYSTONE_JIT=off
    "nothing is compiled",
    "nothing is loaded",
    "needs compiled kernels",
    "Linux on x86-64",  # the sampling profiler
    "POSIX only",  # tests marked posix, on Windows
)


def pytest_addoption(parser):
    said = "goldens to the bit, on the kind of machine that wrote them (with -m goldens)"
    parser.addoption("--bits", action="store_true", help=said)


def pytest_collection_modifyitems(config, items):
    for item in items if sys.platform == "win32" else ():
        for mark in item.iter_markers("posix"):
            item.add_marker(pytest.mark.skip(reason=f"POSIX only: {mark.args[0]}"))
    asked = config.getoption("markexpr") or ""
    left = [name for name in LONG if name not in asked]
    out = [item for item in items if any(item.get_closest_marker(name) for name in left)]
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in out]


# coal, another library for distances, has no wheel for Windows
COAL = ("fallback", "polyhedra", "smooth")
collect_ignore = [f"geometry/test_narrow_{name}.py" for name in COAL if sys.platform == "win32"]


def skipped(config):
    """{reason: how often} of this run."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    counts = {}
    for report in reporter.stats.get("skipped", []) if reporter else []:
        if hasattr(report, "wasxfail"):
            continue
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        counts[reason] = counts.get(reason, 0) + 1
    return counts


def unknown_skips(counts):
    return {why: n for why, n in counts.items() if not any(known in why for known in SKIPS)}


def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput") and unknown_skips(skipped(session.config)):
        session.exitstatus = max(int(session.exitstatus), 1)


def pytest_terminal_summary(terminalreporter, config):
    counts = skipped(config)
    if counts:
        terminalreporter.section(f"{sum(counts.values())} tests skipped, by reason")
    for why, n in sorted(counts.items()):
        terminalreporter.line(f"{n:5d}  {why}")
    for why in unknown_skips(counts):
        terminalreporter.line(f"not a known reason to skip (tests/conftest.py): {why}", red=True)


@pytest.fixture
def problem_folder(tmp_path):
    """Problem files of every kind, and a file that is not one."""
    import numpy as np

    import drystone as ds

    place = tmp_path / "problems"
    place.mkdir()
    texts = {
        "contact.dat": "3 1 0 3 3 3 3 15 -1 0 -1 15 0 0 0 15 -1 2 3 0.1",
        "small.dat": "2 0 2 2 2 2\n2 1\n1 2\n-5 -6\n",
        "mixed.dat": "1 1 1 1 0 1 2 0 1 0 2 2 2 2 2 1 1 2 -1 -2  2 2 1 1 -1 -2",
        "README.md": "not a problem",
    }
    for name, text in texts.items():
        (place / name).write_text(text)
    H = np.vstack([np.eye(3), np.zeros((1, 3))])
    whole = ds.GlobalFrictionProblem(np.eye(4), H, np.array([-1.0, 0.2, 0, 0]), np.zeros(3), 0.5)
    ds.write_problem(whole, place / "whole.hdf5")
    return place


@pytest.fixture
def without_warming(monkeypatch):
    """For tests of what benchmarks write, not of their figures: methods are not compiled first."""
    from drystone.cli import bench

    monkeypatch.setattr(bench, "warm", lambda *_: None)
