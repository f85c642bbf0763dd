"""A problem written to a file, read back, and solved: what simulators exchange.

FCLIB's .hdf5 is the format of the contact mechanics community; .npz is our own.
"""

import tempfile
from pathlib import Path

import numpy as np

import drystone as ds
from drystone.problems.generated import sphere_pile

problem = sphere_pile(3, formed=True).problem
solutions = []
with tempfile.TemporaryDirectory() as folder:
    for name in ("pile.hdf5", "pile.npz"):
        path = Path(folder) / name
        ds.write_problem(problem, path)
        read = ds.read_problem(path)
        solutions.append(ds.solve(read))
        print(f"{name}: {path.stat().st_size} bytes, {read}")
        print("  ", solutions[-1])


def check():
    for solution in solutions:
        assert solution.ok
        assert max(problem.residuals(solution.value)) <= 1e-8  # judged on the original
    assert np.allclose(solutions[0].dual, solutions[1].dual, atol=1e-6)


check()
