"""Calls in a process of their own: its memory, its kernels and its time are nobody else's.

    python -m benchmarks.processes MODULE FUNCTION ARGUMENTS

calls a function with arguments given as JSON and prints what it returns as the last line.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from drystone.errors import SimulationError

ROOT = Path(__file__).parents[1]


def alone(
    function: Callable[..., Any], *arguments: Any, environment: Mapping[str, str] | None = None
) -> Any:
    """What a function of a module returns in a new process; both must be JSON."""
    words = [function.__module__, function.__qualname__, json.dumps(arguments)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.processes", *words],
        cwd=ROOT,
        env={**os.environ, "DRYSTONE_QUIET": "1", **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        named = ", ".join(map(str, arguments))
        raise SimulationError(f"{function.__qualname__}({named}) failed: {last}")
    return json.loads(done.stdout.splitlines()[-1])


def main(module: str, name: str, arguments: str) -> None:
    found = getattr(importlib.import_module(module), name)(*json.loads(arguments))
    sys.stdout.write("\n" + json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
