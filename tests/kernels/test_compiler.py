"""Kernels are compiled once to code, and to machine code only where they are entered."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from drystone.kernels._calls import address
from drystone.kernels._jit import MODE
from tests.kernels.compiled_kernels import mark, mark_at, total, twice

ROOT = Path(__file__).parents[2]
compiled = pytest.mark.skipif(MODE == "off", reason="nothing is compiled")
USE = """
import gc, numpy as np
from drystone.kernels._calls import address
from drystone.kernels._jit import compile_seconds
from tests.kernels.compiled_kernels import mark, mark_at, total
before, values = gc.get_threshold(), np.arange(1.0, 4.0)
print(total(values, 3), mark_at(address(mark, values), values), values[0], mark(values), values[0])
print(compile_seconds() > 0.0, gc.get_threshold() == before)
"""


def used(folder, code=USE):
    base = {name: value for name, value in os.environ.items() if name != "DRYSTONE_JIT"}
    env = {**base, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT), "DRYSTONE_QUIET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


def files(folder):
    return {path.name.partition("-")[0] for path in Path(folder).rglob("*.nbi")}


@pytest.mark.kernels
def test_called_from_python_from_kernels_and_by_address():
    values = np.arange(1.0, 4.0)
    assert total(values, 3) == 2.0 * 6.0 + 1.0
    assert mark(values) == 7
    assert mark_at(address(mark, values), values) == 7
    assert values.tolist() == [7.0, 2.0, 3.0]


@compiled
def test_what_only_kernels_call_gets_no_machine_code():
    assert total(np.ones(2), 2) == 5.0
    assert not twice.entered.known
    assert not twice.called.known


@compiled
def test_each_form_is_kept_on_disk_and_found_again(tmp_path):
    numbers = "13.0 7 3.0 7 7.0"
    assert used(tmp_path) == [numbers, "True True", ""]
    wanted = {"called.compiled_kernels.total", "called.compiled_kernels.mark_at"}
    wanted |= {f"{form}.compiled_kernels.mark" for form in ("code", "entered", "called")}
    wanted |= {f"code.compiled_kernels.{name}" for name in ("twice", "total", "mark_at")}
    assert files(tmp_path) == wanted
    assert used(tmp_path) == [numbers, "False True", ""]


@compiled
def test_code_from_disk_is_linked_with_code_compiled_now(tmp_path):
    """Functions of Numba's own have the same names for others in each process."""
    used(tmp_path)
    for path in Path(tmp_path).rglob("*"):
        if path.name.startswith(("called.", "entered.", "code.compiled_kernels.twice")):
            path.unlink()
    assert used(tmp_path) == ["13.0 7 3.0 7 7.0", "True True", ""]


@compiled
def test_functions_of_users_may_call_kernels():
    @numba.njit
    def mine(values):
        return total(values, 2) + np.sort(values)[1]

    assert mine(np.array([1.0, 2.0])) == 6.0 + 1.0 + 2.0
