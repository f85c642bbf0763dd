"""Scenes of 1989, 1992 and 1994 by time stepping: what the papers say happens."""

import numpy as np
import pytest

import drystone as ds
from drystone.scenes import scene
from tests.scenes.running import run

FINE = ds.TimeStepping(dt=1e-3)


def heights(sim, prefix):
    return np.array([sim.body(n).position[-1] for n in sim.bodies if n.startswith(prefix)])


def watched(name, method, duration=None, **settings):
    """A run, with its greatest depth, greatest energy, and the sums of its ledger."""
    built = scene(name, **settings)
    sim = built.simulation(method=method)
    start = sum(sim.energy)
    out = {"depth": 0.0, "unexplained": 0.0, "failed": 0, "start": start, "most": start}

    def look(sim):
        report = sim.report
        out["depth"] = max(out["depth"], report.penetration)
        out["unexplained"] += abs(report.energy.unexplained)
        out["failed"] += not report.ok
        out["most"] = max(out["most"], report.energy.total)

    sim.run(built.duration if duration is None else duration, callback=look)
    return sim, out


@pytest.mark.parametrize("planar", [True, False])
def test_the_stack_falls_where_it_leans_too_far(planar):
    """(n) shift > length: it falls; the ground gives no sideways force, so the centre of mass
    stays above its point."""
    method = ds.TimeStepping()
    sim, _ = watched("bricks", method, 0.5, n=4, shift=0.045, planar=planar)
    assert abs(sim.body("brick3").position[-1] - 3.5 * 0.06) < 1e-6
    sim, seen = watched("bricks", method, 0.35, n=6, shift=0.05, planar=planar)
    assert seen["failed"] == 0
    assert sim.body("brick5").position[-1] < 4 * 0.06
    assert abs(sim.state.position[1:, 0].mean() - 2.5 * 0.05) < 1e-9
    assert seen["depth"] < 5e-4


def test_the_chain_destroys_the_stack():
    sim, seen = watched("destructive-chain", FINE, 1.6)
    bricks = heights(sim, "brick")
    assert bricks.max() < 0.35, "none is left on the fourth row"
    assert seen["most"] < seen["start"] + 1e-6 * abs(seen["start"])
    assert sim.report.joint_error < 1e-9
    assert seen["unexplained"] < 1e-6 * seen["start"]


def test_the_chain_curls_round_the_post():
    """Links below the post pass round it: the last one is above the post's axis at some time,
    on the far side."""
    built = scene("chain-pivot")
    sim = built.simulation(method=FINE)
    post = sim.body("post").position
    most, turned = -np.inf, 0.0

    def look(sim):
        nonlocal most, turned
        most = max(most, sum(sim.energy))
        x, y = sim.body("link15").position - post
        if x < 0 and y > 0:
            turned = max(turned, y)

    sim.run(1.2, callback=look)
    assert turned > 0.05
    assert most < 0.05 * 16 * 0.1 * 9.81


@pytest.mark.parametrize("name", ["blocks-chain", "many-blocks-chain"])
def test_the_chain_catches_the_blocks(name):
    sim, seen = watched(name, FINE, 1.5)
    links, blocks = heights(sim, "link"), heights(sim, "block")
    assert blocks.min() > links.min(), "in the chain, not below it"
    assert seen["depth"] < 5e-4
    assert sum(sim.energy) < seen["start"]
    assert sim.report.joint_error < 1e-8


def test_the_heavy_ball_stops_at_once():
    """Figure 12: all contacts together leave both at rest."""
    sim, _ = watched("heavy-ball", FINE)
    for name in ("light", "heavy"):
        assert np.abs(sim.body(name).velocity).max() < 1e-6


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize(("mass", "restitution"), [(1.0, 0.5), (3.0, 0.0), (0.5, 1.0)])
def test_the_struck_board_takes_no_impulse_from_its_supports(mass, restitution, planar):
    """Figure 13: A leaves as from a collision of two free bodies."""
    built = scene("struck-block", mass=mass, restitution=restitution, planar=planar)
    sim = built.simulation(method=ds.TimeStepping(dt=1e-4, restitution="newton"))
    while sim.body("A").velocity[-1] < 1e-6 and sim.time < 0.1:
        up = sim.body("C").velocity[-1]
        sim.step()
    sim.step()  # what is left of the gap closes in the first
    expected = (1 + restitution) * up / (1 + mass)
    assert sim.body("A").velocity[-1] == pytest.approx(expected, abs=5e-3)
    table = sim.contacts
    held = [r for r in table if any(b.startswith("B") for b in r["bodies"])]
    assert sum(np.abs(r["impulse"]).sum() for r in held) < 1e-9


def test_the_jack_comes_down_the_stairs():
    sim, seen = watched("jack-stairs", ds.TimeStepping(restitution="newton"))
    assert sim.body("jack").position[0] > 5 * 0.4, "past the last step"
    assert sim.body("jack").position[2] < 0.25
    assert seen["failed"] == 0
    assert seen["most"] <= seen["start"] * (1 + 1e-3)


def test_the_dice_fall_through_the_lattice():
    sim, seen = watched("dice-lattice", ds.TimeStepping(restitution="newton"))
    assert heights(sim, "die").max() < 0.2, "all are on the floor"
    assert seen["depth"] < 5e-3
    assert seen["failed"] == 0


def test_posts_and_beams_stand_or_fall():
    """Rocking starts near lean = width / height = 0.25, and all lies flat beyond it."""
    still = run("collapse", 1.0, lean=0.1)
    assert still.moved < 1e-6
    sim, seen = watched("collapse", ds.TimeStepping())
    assert sim.report.contacts >= 20
    assert heights(sim, "beam").max() < 0.6
    assert seen["failed"] == 0
    assert seen["unexplained"] < 1e-6 * seen["start"]


def ratchet(times, arm, swing, period, pitch, tip):
    """The jack without inertia: each pawl holds the tooth above its tip; the bar lies on the one
    that is higher. tip: of the right pawl at the start; rise (n,) of the bar."""
    y0, x0 = tip[1], arm - tip[0]
    reach = np.hypot(x0, y0)
    held, rise, out = [0, 0], 0.0, []
    for t in times:
        turn = np.radians(swing) * np.sin(2 * np.pi * t / period)
        tips = []
        for side in (1, -1):
            pin = arm * np.array([np.cos(turn), side * np.sin(turn)])
            tips.append(pin[1] + np.sqrt(reach**2 - (pin[0] - tip[0]) ** 2))
        rise = max(tips[i] - y0 + held[i] * pitch for i in (0, 1))
        for i in (0, 1):
            while rise - held[i] * pitch - pitch >= tips[i] - y0:
                held[i] += 1
        out.append(rise)
    return np.array(out)


def test_the_jack_lifts_with_every_stroke():
    """Against a ratchet without inertia: within what a pawl takes to fall under its tooth."""
    from drystone.scenes.mechanisms_1994 import ARM, TIP

    sim = scene("double-action-jack").simulation(method=ds.TimeStepping(dt=1 / 240))
    kept = sim.run(5.0, record=True)
    bar = kept.position[:, sim.index("bar"), 1]
    rise = bar - bar[0]
    expected = ratchet(kept.time, ARM, 20.0, 2.0, 0.1, TIP)
    assert np.abs(rise - expected).max() < 0.03
    assert rise[-1] > 0.8
    ends = rise[(kept.time * 240 + 0.5).astype(int) % 240 == 120]
    assert np.allclose(np.diff(ends), 0.2, atol=0.01), "two teeth a stroke"


@pytest.mark.parametrize("method", [ds.TimeStepping(dt=1 / 240), None], ids=["steps", "events"])
def test_the_feeder_pushes_one_block_a_turn(method):
    """The pusher follows the crank's closed form, and each turn moves one more block out."""
    speed, length = 3.0, 0.3
    built = scene("block-feeder", n=3, speed=speed)
    sim = built.simulation(method)
    start = sim.body("pusher").position[0]
    crank, rod = 0.65 * length, 2 * length
    out = []
    for turn in range(3):
        while sim.time < 2 * np.pi * (turn + 1) / speed:
            sim.step()
            phi = np.pi + speed * sim.time
            slide = crank * np.cos(phi) + np.sqrt(rod**2 - (crank * np.sin(phi)) ** 2)
            moved = sim.body("pusher").position[0] - start
            assert moved == pytest.approx(slide - rod + crank, abs=1e-9)
        x = [sim.body(f"block{k}").position[0] for k in range(3)]
        out.append(int(sum(v > 0.9 * length for v in x)))
    assert out == [1, 2, 3]
