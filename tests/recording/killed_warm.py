"""Imported by the server that runs are forked from: their kernels are loaded here, once."""

import tempfile
from pathlib import Path

import drystone as ds
from tests.recording.killed import SCENES, simulation

for name in SCENES:
    sim = simulation(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.h5")
        sim.run(2 * sim.method.dt, record=path)
        ds.resume(path, until=4 * sim.method.dt)
