"""A phase begins with forces of the state it begins at, not of the one before contacts closed."""

import numpy as np

import drystone as ds
from drystone.cli.bench_forces_run import force_method
from drystone.scenes.base import rough


def test_no_phase_of_collapse_begins_past_a_bound():
    """Nearly parallel contacts share the load: closing them by 1e-12 m may change forces by more
    than their friction's bound."""
    sim = ds.scene("collapse").simulation(method=rough())
    past = []

    def listen(told):
        f, mu = told.f, told.state.mu[:, 0]
        if f.size:
            beyond = np.linalg.norm(f[:, 1:], axis=1) - mu * f[:, 0]
            past.append(max(beyond.max(), -f[:, 0].min()) / np.abs(f).max(initial=1e-300))

    force_method(sim).listener = listen
    while sim.time < 1.5:
        sim.step()
    assert len(past) > 300
    assert max(past) <= 1e-7
