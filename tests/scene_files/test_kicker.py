"""The example of a mechanism in a file: motor, limit and contact do what its text says."""

import math
from pathlib import Path

import pytest

import drystone as ds

PATH = Path(__file__).parents[2] / "examples" / "kicker.yaml"


def test_the_rocker_kicks_the_ball_and_stays_at_its_stop():
    scene = ds.read_scene(PATH)
    sim = scene.simulation()
    before = sim.body("ball").position
    sim.run(0.6)
    # the stop is counted from the pose in the file, not from the one that closes the loop
    assert sim.body("rocker").orientation == pytest.approx(math.radians(95) + 0.6, abs=1e-6)
    assert sim.body("ball").position[0] < before[0] - 0.5
    torque = dict(zip(sim.joints["name"], sim.joints["torque"], strict=True))
    assert torque["drive"] == pytest.approx(-4.0)  # all that the motor has
    assert torque["foot"][0] < -1.0  # the stop pushes back
    assert torque["elbow"] == pytest.approx(0.0, abs=1e-9)
