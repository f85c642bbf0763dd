"""Kernels are compiled once to code, and to machine code only where they are entered."""

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from drystone.kernels._calls import address
from drystone.kernels._jit import MODE
from drystone.kernels.islands import extract
from tests.kernels.compiled_kernels import mark, mark_at, total, twice

ROOT = Path(__file__).parents[2]
compiled = pytest.mark.skipif(MODE == "off", reason="nothing is compiled")
USE = """
import gc, numpy as np
from drystone.kernels._calls import address
from drystone.kernels._jit import compile_seconds
from drystone.kernels.islands import extract
from tests.kernels.compiled_kernels import mark, mark_at, total
before, values = gc.get_threshold(), np.arange(1.0, 4.0)
print(total(values, 3), mark_at(address(mark, values), values), values[0], mark(values), values[0])
print(compile_seconds() > 0.0, gc.get_threshold() == before)
"""


def started(folder, code):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT)}
    env = {**env, "DRYSTONE_QUIET": "1", "DRYSTONE_JIT": "on"}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env=env, stdout=pipe, stderr=pipe, text=True
    )


def finished(process):
    out, errors = process.communicate(timeout=900)
    assert process.returncode == 0, errors
    return out.split("\n")


def used(folder, code=USE):
    return finished(started(folder, code))


def files(folder):
    return {path.name.partition("-")[0] for path in Path(folder).rglob("*.nbc")}


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
    wanted = {"called.total", "called.mark_at"}
    wanted |= {f"{form}.mark" for form in ("code", "entered", "called")}
    wanted |= {f"code.{name}" for name in ("twice", "total", "mark_at")}
    assert files(tmp_path) == wanted
    assert used(tmp_path) == [numbers, "False True", ""]


@compiled
def test_code_from_disk_is_linked_with_code_compiled_now(tmp_path):
    """Functions of Numba's own have the same names for others in each process."""
    used(tmp_path)
    for path in Path(tmp_path).rglob("*"):
        if path.name.startswith(("called.", "entered.", "code.twice")):
            path.unlink()
    assert used(tmp_path) == ["13.0 7 3.0 7 7.0", "True True", ""]


@compiled
def test_a_part_of_a_matrix_of_blocks_is_taken_by_a_kernel_that_is_kept():
    """Newton's method on an island: where blocks were assigned as slices, Numba's error for other
    shapes belonged to one process, and each compiled the kernel anew (3 s)."""
    indptr, indices, place = np.array([0, 1, 2]), np.array([0, 1]), np.zeros(2, np.int64)
    blocks = np.arange(8.0).reshape(2, 2, 2)
    _, _, part = extract(indptr, indices, blocks, np.array([1]), place)
    assert np.array_equal(part, blocks[1:])
    for form in (extract.code, extract.called):
        assert all(form.is_kept(made) for made in form.known.values())


HALVES = """
import numpy as np
from drystone.kernels.islands import extract
from tests.kernels.compiled_kernels import count_halves, halves
print({}count_halves(np.arange(3.0)), *halves(np.arange(3.0)))
"""


@compiled
def test_what_python_calls_is_the_same_after_its_code_was_loaded(tmp_path):
    """The first process keeps `halves` as code and as Python calls it; the second links its code
    into a kernel before it calls it from Python."""
    assert (
        used(tmp_path, HALVES.format("*halves(np.arange(3.0)), "))[0] == "[0.] [1 2] 21 [0.] [1 2]"
    )
    for path in Path(tmp_path).rglob("*.count_halves*"):
        path.unlink()
    assert used(tmp_path, HALVES.format(""))[0] == "21 [0.] [1 2]"


CALLS = (
    "total(values, 3)", "mark(values)", "mark_at(address(mark, values), values)",
    "halves(values)", "count_halves(values)",
)  # fmt: skip
ORDERED = """
import numpy as np
from drystone.kernels._calls import address
from drystone.kernels.islands import extract
from tests.kernels.compiled_kernels import count_halves, halves, mark, mark_at, total
values = np.arange(1.0, 4.0)
print(*sorted((name, repr(eval(name, globals()))) for name in {}))
"""


@compiled
def test_processes_compile_into_one_folder_at_the_same_time(tmp_path):
    """In opposite orders: each finds some of what it needs, and writes the rest."""
    one, other = ORDERED.format(CALLS), ORDERED.format(CALLS[::-1])
    wanted = {order: used(tmp_path / str(k), order) for k, order in enumerate((one, other))}
    folder = tmp_path / "both"
    for process, order in [(started(folder, order), order) for order in (one, other, one, other)]:
        assert finished(process) == wanted[order]
    assert files(folder) == files(tmp_path / "0") == files(tmp_path / "1")
    for path in folder.rglob("*"):
        if path.name.startswith(("called.", "entered.")):
            path.unlink()
    assert used(folder, one) == wanted[one]  # linked from what all of them wrote


@compiled
def test_damaged_files_are_compiled_again(tmp_path):
    wanted = used(tmp_path)[0]
    for k, path in enumerate(sorted(Path(tmp_path).rglob("*.nbc"))):
        whole = path.read_bytes()
        path.write_bytes((b"", whole[:-1], whole[:-1] + b"x", b"x" * len(whole))[k % 4])
    assert used(tmp_path) == [wanted, "True True", ""]
    assert used(tmp_path) == [wanted, "False True", ""]


@compiled
def test_files_of_another_kernel_are_not_used(tmp_path):
    """As if two names had the same hash."""
    wanted = used(tmp_path)
    paths = sorted(Path(tmp_path).rglob("called.*.nbc"))
    contents = [path.read_bytes() for path in paths]
    for path, other in zip(paths, contents[1:] + contents[:1], strict=True):
        path.write_bytes(other)
    assert used(tmp_path) == wanted


@compiled
def test_nothing_is_kept_of_kernels_that_exist_in_one_process_only(tmp_path):
    code = """
import numpy as np
from drystone.kernels._jit import kernel
def made(factor):
    @kernel
    def scaled(x):
        return factor * x
    return scaled
two, three = made(2.0), made(3.0)
@kernel
def both(x):
    return two(x) + 10.0 * three(x)
print(both(1.0), two(1.0), three(1.0))
"""
    assert used(tmp_path, code) == ["32.0 2.0 3.0", ""]
    assert files(tmp_path) == set()


@compiled
def test_with_another_version_of_numba_its_own_decorator_is_used(tmp_path):
    other = "import numba; numba.__version__ = '0.99.1'"
    assert used(tmp_path, f"{other}\n{USE}")[0] == "13.0 7 3.0 7 7.0"
    assert {name.partition(".")[0] for name in files(tmp_path)} == {"compiled_kernels"}


@pytest.mark.kernels
def test_kernels_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(mark)) is mark
    assert copy.deepcopy([total])[0] is total


@compiled
def test_an_address_stays_what_it_was():
    """Machine code loaded later has inner functions of the same source: none takes its name."""
    values = np.arange(1.0, 4.0)
    first = mark.address((numba.typeof(values),))
    assert mark(values) == 7
    assert mark.address((numba.typeof(values),)) == first


@compiled
def test_functions_of_users_may_call_kernels():
    @numba.njit
    def mine(values):
        return total(values, 2) + np.sort(values)[1]

    assert mine(np.array([1.0, 2.0])) == 6.0 + 1.0 + 2.0
