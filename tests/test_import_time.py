"""``import drystone`` is cheap: no compiler, no plots, no files, no optimisers."""

import subprocess
import sys

HEAVY = ("numba", "scipy.optimize", "matplotlib", "h5py", "rich", "typer", "clarabel")


def fresh(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_takes_under_half_a_second_of_the_processor():
    code = "from time import process_time as now; t = now(); import drystone; print(now() - t)"
    assert min(float(fresh(code)[0]) for _ in range(3)) < 0.5


def test_import_pulls_nothing_heavy():
    code = f"import sys, drystone; print(*[m for m in {HEAVY} if m in sys.modules])"
    assert fresh(code) == []


def test_stating_a_problem_pulls_no_viewer_no_plots_and_no_files():
    unused = ("matplotlib", "h5py", "rich", "typer", "clarabel", "scipy.optimize")
    code = (
        "import sys, drystone as ds; ds.LCP([[1.0]], [1.0]).residual([0.0]);"
        f"print(*[m for m in {unused} if m in sys.modules])"
    )
    assert fresh(code) == []
