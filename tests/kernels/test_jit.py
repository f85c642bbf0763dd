"""The decorator and its cache: modes, folders, and the one line a first run prints."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import drystone
from drystone.kernels import _jit

PACKAGE = Path(drystone.__file__).parent
USE = (
    "import numpy as np, drystone as ds;"
    "print(ds.FrictionProblem(np.eye(2), [1.0, 0.0], 0.5, dim=2).residual([0.0, 0.0]))"
)
LINE = "compiling kernels, once for this machine"


def run(code, *, cwd=None, **environment):
    """Run Python with only what a plain shell has; a value of None removes the variable."""
    base = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NUMBA_CACHE_DIR", "DRYSTONE_JIT", "DRYSTONE_QUIET", "XDG_CACHE_HOME")
        and not name.startswith(("COV_", "PYTEST_"))
    }
    merged = {**base, **environment}
    env = {name: str(value) for name, value in merged.items() if value is not None}
    return subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=cwd, capture_output=True, text=True, timeout=900
    )


def compiled(folder):
    return sorted(path.name for path in Path(folder).rglob("*.nbc"))


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A cache filled by one process, and what that process printed."""
    folder = tmp_path_factory.mktemp("cache")
    return folder, run(USE, NUMBA_CACHE_DIR=folder)


def test_first_run_says_that_it_compiles_once(warm):
    folder, first = warm
    assert first.returncode == 0, first.stderr
    assert first.stdout.strip() == "0.0"
    assert first.stderr.count(LINE) == 1
    assert compiled(folder)


def test_second_run_is_silent_and_compiles_nothing(warm):
    folder, _ = warm
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb*")}
    second = run(USE, NUMBA_CACHE_DIR=folder)
    assert second.returncode == 0
    assert second.stderr == ""
    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb*")}


def test_quiet_says_nothing(tmp_path):
    assert run(USE, NUMBA_CACHE_DIR=tmp_path, DRYSTONE_QUIET=1).stderr == ""


def test_modes_have_folders_of_their_own(warm):
    folder, _ = warm
    checked = run(USE, NUMBA_CACHE_DIR=folder, DRYSTONE_JIT="bounds")
    assert checked.stdout.strip() == "0.0"
    assert LINE in checked.stderr  # a warm cache of the other mode is not used
    assert len(list(folder.glob("blocks-*"))) == 2


def test_mode_off_compiles_nothing(tmp_path):
    plain = run(USE, NUMBA_CACHE_DIR=tmp_path, DRYSTONE_JIT="off")
    assert plain.stdout.strip() == "0.0"
    assert plain.stderr == ""
    assert not list(tmp_path.iterdir())


def test_unknown_mode_is_refused():
    wrong = run(USE, DRYSTONE_JIT="fast")
    assert wrong.returncode != 0
    assert "DRYSTONE_JIT='fast': expected 'on', 'bounds' or 'off'" in wrong.stderr


def test_bounds_mode_catches_a_bad_index(tmp_path):
    code = (
        "import numpy as np; from drystone.kernels.blocks import block_product as f;"
        "i = np.array([0, 1], np.int32); j = np.array([7], np.int32); z = np.zeros((1, 2));"
        "f((0, 0), i, j, np.zeros((1, 2, 2)), z, z, z.copy())"
    )
    caught = run(code, NUMBA_CACHE_DIR=tmp_path, DRYSTONE_JIT="bounds")
    assert "IndexError" in caught.stderr


def test_an_edit_starts_fresh_folders_for_what_it_touches(tmp_path):
    """newton inlines block_lu, dantzig the bordered inverse; all use the decorator."""
    copy = tmp_path / "site"
    shutil.copytree(PACKAGE, copy / "drystone", ignore=shutil.ignore_patterns("__pycache__"))
    ask = (
        "from drystone.kernels._jit import cache_folder as f;"
        "print(*(f(f'drystone.kernels.{m}').name"
        " for m in ('cones.newton', 'cones.nsgs', 'pivoting.dantzig')))"
    )
    names = []
    for edited in (None, "linalg/block_lu", "linalg/bordered_inverse", "_jit"):
        if edited:
            other = copy / "drystone" / "kernels" / f"{edited}.py"
            other.write_text(other.read_text() + "\n# an edit\n")
        names.append(run(ask, cwd=copy, NUMBA_CACHE_DIR=tmp_path).stdout.split())
    first, block_lu, inverse, jit = names
    assert [n.partition("-")[0] for n in first] == ["newton", "nsgs", "dantzig"]
    assert [a == b for a, b in zip(first, block_lu, strict=True)] == [False, True, True]
    assert [a == b for a, b in zip(block_lu, inverse, strict=True)] == [True, True, False]
    assert not set(inverse) & set(jit)


@pytest.mark.posix("folders that are read-only")
def test_install_folder_that_cannot_be_written_to(tmp_path):
    """The package is copied and made read-only; nothing is added to it either way."""
    copy = tmp_path / "site"
    shutil.copytree(PACKAGE, copy / "drystone", ignore=shutil.ignore_patterns("__pycache__"))
    before = sorted(copy.rglob("*"))
    for path in [copy, *before]:
        path.chmod(0o555)
    try:
        cache = tmp_path / "cache"
        code = f"{USE}; print(ds.__file__)"
        done = run(code, cwd=copy, XDG_CACHE_HOME=cache, PYTHONDONTWRITEBYTECODE=1)
        assert done.stdout.split()[0] == "0.0", done.stderr
        assert Path(done.stdout.split()[1]).is_relative_to(copy)
        assert sorted(copy.rglob("*")) == before
        assert compiled(cache / "drystone")
    finally:
        for path in [copy, *before]:
            path.chmod(0o755)


@pytest.mark.posix("HOME, /dev/null")
def test_home_that_cannot_be_written_to(tmp_path):
    """/dev/null is a file, so no folder can be made below it, whoever runs the test."""
    done = run(USE, HOME="/dev/null", TMPDIR=tmp_path)
    assert done.stdout.strip() == "0.0", done.stderr
    assert compiled(tmp_path)
    again = run(USE, HOME="/dev/null", TMPDIR=tmp_path)
    assert again.stderr == ""


def test_a_user_without_any_home(monkeypatch, tmp_path):
    """Containers run as users that the password file does not know."""
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(_jit.tempfile, "gettempdir", lambda: str(tmp_path))
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert _jit._cache_root().parent == tmp_path


@pytest.mark.posix("owners of folders")
def test_a_shared_folder_that_others_can_write_to_is_not_trusted(monkeypatch, tmp_path):
    """Cached kernels are code: a guessable folder in /tmp may have been planted."""
    monkeypatch.setattr(_jit, "_chosen_root", lambda: None)
    monkeypatch.setattr(_jit.tempfile, "gettempdir", lambda: str(tmp_path))
    planted = tmp_path / f"drystone-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    assert _jit._cache_root() != planted
    planted.chmod(0o700)
    assert _jit._cache_root() == planted


def test_the_setting_of_other_packages_is_left_alone():
    code = (
        "import numba; before = numba.config.CACHE_DIR; import drystone.kernels.blocks;"
        "print(numba.config.CACHE_DIR == before)"
    )
    assert run(code).stdout.strip() == "True"


def test_a_closed_stderr_does_not_stop_a_solve(tmp_path):
    code = "import sys; sys.stderr.close();" + USE
    assert run(code, NUMBA_CACHE_DIR=tmp_path).stdout.strip() == "0.0"


def test_time_spent_compiling_is_known():
    code = (
        "from drystone.kernels._jit import compile_seconds, kernel; from time import perf_counter;"
        "before = compile_seconds(); t = perf_counter();"
        "import numba; f = numba.njit(lambda x: x + 1.0); f(1.0);"
        "print(before, compile_seconds(), perf_counter() - t)"
    )
    before, after, wall = map(float, run(code).stdout.split())
    assert before == 0.0
    assert 0.0 < after <= wall


@pytest.mark.kernels
def test_division_by_zero_is_ieee_in_every_mode():
    @_jit.kernel
    def divide(a, out):
        out[0] = 1.0 / a[0]
        return 0

    out = np.zeros(1)
    with np.errstate(divide="ignore"):
        assert divide(np.zeros(1), out) == 0
    assert out[0] == np.inf
