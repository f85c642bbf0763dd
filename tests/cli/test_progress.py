"""What counts as the time of a run."""

import os
import subprocess
import sys

import pytest

CODE = """
from drystone.cli.progress import watch
from drystone.scenes import scene
first = watch(scene("brazil-nut").simulation(), 1.0, title="", bar=False)
again = watch(scene("brazil-nut").simulation(), 1.0, title="", bar=False)
print(first.compiling, first.seconds, again.compiling, again.seconds)
"""


@pytest.mark.skipif(os.environ.get("DRYSTONE_JIT") == "off", reason="nothing is loaded")
def test_kernels_that_are_loaded_are_not_time_of_the_steps():
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, timeout=900
    )
    loading, _, none, _ = map(float, done.stdout.split())
    assert loading > 0.0
    assert none == 0.0
