"""Skips are counted by reason, and one for a reason that nobody stated fails the run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    ("reason", "code"),
    [("no third-party problems beside the project", 0), ("could not import 'coal'", 1)],
)
def test_a_run_fails_by_a_skip_without_a_known_reason(tmp_path, reason, code):
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n\n@pytest.mark.parametrize('k', range(3))\n"
        f"def test_it(k):\n    pytest.skip({reason!r})\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path), "-c", os.devnull, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=900,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "3 tests skipped, by reason" in done.stdout
    assert f"    3  {reason}" in done.stdout
    assert ("not a known reason to skip" in done.stdout) == (code == 1)
