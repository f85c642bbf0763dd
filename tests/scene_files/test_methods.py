"""Methods in words and back: the same options, for all three of them."""

import json

import pytest

import drystone as ds
from drystone import scene_files
from drystone.steppers.event_driven.impulses import CollisionLaw

METHODS = [
    ds.TimeStepping(),
    ds.TimeStepping(dt=1 / 3, cone=8, formulation="convex", stabilize=False, active_gap=0.1),
    ds.TimeStepping(cone=ds.EllipticCone((1, 0.1), 0.3), active_gap="predicted", order=2),
    ds.TimeStepping(cone=ds.SoftFingerCone(0.1), solver=ds.NSGS(tol=1e-6, max_sweeps=7)),
    ds.TimeStepping(cone=ds.PolyhedralCone(6), solver=ds.PGS(sweep="jacobi", damp=True)),
    ds.TimeStepping(solver=ds.Ramp(inner=ds.Lemke(max_pivots=9)), sleeping=ds.Sleeping(0.1, 2)),
    ds.TimeStepping(policy=ds.IslandPolicy(small=7, polish=1e-3)),
    ds.EventDriven(guards=ds.EventGuards(max_events=7, cluster_step=1e-3)),
    ds.EventDriven(),
    ds.EventDriven(integrator="adams", contact_forces="lemke", collisions="propagation"),
    ds.EventDriven(contact_forces=ds.QP(form=2), collisions=CollisionLaw(order="propagation")),
    ds.EventDriven(contact_forces=("dantzig", {"prefer": "force", "reuse": False}), dt=0.01),
    ds.EventDriven(contact_forces=("lemke", {"round_cone": True, "fallback": ("dantzig",)})),
    ds.Penalty(),
    ds.Penalty(stiffness=1e5, damping=3, integrator="radau", joint_stiffness=10, max_steps=7),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_round_trip(method):
    document = json.loads(json.dumps(scene_files.method_document(method)))
    assert scene_files.method_from(document) == method
    scene = scene_files.load({"bodies": [], "method": document})
    assert scene.method == method


def test_documents_say_what_differs_only():
    found = scene_files.method_document(ds.TimeStepping(dt=0.004))
    assert found == {"name": "time-stepping", "dt": 0.004}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"name": "magic"}, "magic"),
        ({}, "expected a name"),
        ({"name": "penalty", "cone": 8}, "no such option"),
        ({"name": "time-stepping", "dt": -1}, "dt = -1"),
        ({"name": "time-stepping", "solver": {"name": "x"}}, "solver 'x'"),
        ({"name": "time-stepping", "cone": {"kind": "x"}}, "cone 'x'"),
        ({"name": "time-stepping", "sleeping": {"sped": 1}}, "sped"),
    ],
)
def test_wrong_documents(document, words):
    with pytest.raises(ds.OptionError, match=words):
        scene_files.method_from(document)


def test_methods_of_others_cannot_be_described():
    with pytest.raises(ds.DescriptionError):
        scene_files.method_document(object())
