"""Every scene of the gallery by every method: it runs, or says in one sentence why not."""

import numpy as np
import pytest

import drystone as ds
from drystone.cli.run import begin
from drystone.scenes.registry import SCENES
from drystone.steppers.registry import METHODS

SMALL = {
    "spheres": {"n": 8}, "hopper": {"n": 6}, "pyramid": {"rows": 2}, "dominoes": {"n": 3},
    "wall": {"courses": 2, "columns": 2}, "chain": {"links": 4}, "chain-whip": {"links": 4},
    "arch": {"n": 3}, "card-house": {"storeys": 1}, "chain-drop": {"links": 4},
    "many-blocks-chain": {"n": 3}, "mass-ratio": {"n": 3}, "double-action-jack": {"teeth": 4},
    "brazil-nut": {},
}  # fmt: skip
OPTIONS = {
    "time-stepping": {"dt": 1e-3},
    "event-driven": {"dt": 1e-3},
    # soft enough that an explicit integrator does not creep
    "penalty": {"dt": 1e-3, "stiffness": 1e4, "damping": 10.0, "rtol": 1e-4, "atol": 1e-6},
}

# motors that may push with any force: the event-driven method says that it needs a bound
REFUSED = {
    ("four-bar", "event-driven"): "max_force = inf",
    ("slider-crank", "event-driven"): "max_force = inf",
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SCENES)
def test_scenes_run_by_every_method(name, method):
    known = SCENES[name].settings
    scene = ds.scene(name, **{k: v for k, v in SMALL.get(name, {}).items() if k in known})
    options = dict(OPTIONS[method])
    if name == "brazil-nut":
        options["dt"] = 1e-4  # 201 bodies that touch
    if (name, method) in REFUSED:
        with pytest.raises(ds.DrystoneError, match=REFUSED[name, method]):
            begin(scene, method, options).step()
        return
    sim = begin(scene, method, options)
    for _ in range(2):
        report = sim.step()
    assert sim.time == pytest.approx(2 * options["dt"])
    assert np.isfinite(sim.state.position).all()
    assert np.isfinite(sim.state.velocity).all()
    assert report.ok, report.status


def test_options_go_to_the_method_that_has_them():
    scene = ds.scene("bricks", n=1)
    assert begin(scene, None, {"solver": "lemke"}).method.contact_forces == "lemke"
    assert begin(scene, "time-stepping", {"solver": "lemke"}).method.solver == "lemke"
    with pytest.raises(ds.OptionError, match="--formulation convex: event-driven has no such"):
        begin(scene, None, {"formulation": "convex"})
