"""The parts of the viewer that need no browser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.draw import meshes as drawing
from drystone.dynamics.drag import grip
from drystone.dynamics.frames import rotations
from drystone.model import State
from drystone.view import palette, panel, show
from drystone.view.panel import _scaled, carried_on
from drystone.view.sources import HISTORY_LENGTH, Live, Playback, between
from drystone.view.stage import frame, quaternions, templates, upright


def pile(n: int = 3) -> ds.World:
    world = ds.World(planar=True)
    world.add_ground()
    for k in range(n):
        world.add_body(ds.Disk(0.1 + 0.02 * k), name=f"disk{k}", position=(0.5 * k, 0.2))
    return world


def test_many_bodies_are_copies_of_few_meshes():
    model, _ = ds.scene("spheres", n=1000).world.build()
    found = templates(model, 0.001)
    assert [len(t.bodies) for t in found] == [1000]
    model, _ = ds.scene("brazil-nut").world.build()
    assert sum(len(t.bodies) for t in templates(model, 0.01)) == 201
    assert len(templates(model, 0.01)) < 6


@pytest.mark.parametrize("name", ["arch", "double-action-jack", "vehicle", "tippe-top", "ragdoll"])
def test_templates_have_the_size_of_their_shapes(name):
    """Volume by the divergence theorem (area in the plane) against the mass properties."""
    scene = ds.scene(name)
    model, _ = scene.world.build()
    for template in templates(model, 1e-3):
        for b, scale in zip(template.bodies, template.scale, strict=True):
            p = (template.vertices * scale)[template.faces]
            if model.dim == 2:
                area = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])[:, 2].sum() / 2
                reach = np.linalg.norm(p[..., :2], axis=-1).max()
                assert 0 < area <= np.pi * reach**2
            else:
                volume = np.einsum("ti,ti->t", p[:, 0], np.cross(p[:, 1], p[:, 2])).sum() / 6
                reach = np.linalg.norm(p, axis=-1).max()
                assert 0 < volume <= 4 / 3 * np.pi * reach**3
            mine = (model.geoms.body == b) & np.isfinite(model.geoms.radius)
            far = (np.linalg.norm(model.geoms.offset, axis=1) + model.geoms.radius)[mine].max()
            assert reach <= far * (1 + 1e-9)
            assert reach > 0.5 * far / max(1, mine.sum())


def test_moments_between_two_states():
    world = ds.World((0, 0, 0))
    world.add_body(ds.Box(1, 2, 3), velocity=(1, 0, 0), angular_velocity=(0, 0, 1))
    sim = ds.Simulation(world, ds.TimeStepping(dt=0.2))
    a = sim.state
    sim.step()
    b = sim.state
    half = between(a, b, 0.5)
    assert half.time == pytest.approx(0.1)
    np.testing.assert_allclose(half.position[0], [0.1, 0, 0], atol=1e-12)
    turn = rotations(half.orientation)[0]
    np.testing.assert_allclose(turn[:, 0], [np.cos(0.1), np.sin(0.1), 0], atol=1e-9)
    flipped = ds.Simulation(world, ds.TimeStepping(dt=0.2)).state
    flipped.orientation = -b.orientation  # the same rotation
    np.testing.assert_allclose(
        rotations(between(a, flipped, 0.5).orientation), rotations(half.orientation), atol=1e-12
    )


def test_a_live_source_runs_with_the_clock_and_looks_back():
    sim = ds.Simulation(pile(), ds.TimeStepping(dt=0.01))
    sim.step()
    live = Live(sim)
    for _ in range(10):
        live.advance(0.05, 10.0)
    assert sim.time == pytest.approx(0.51)
    live.seek(0.2)
    assert live.time == pytest.approx(0.2, abs=0.011)
    assert live.contacts is None
    assert sim.time == pytest.approx(0.51)  # it stays where it is
    live.advance(0.01, 10.0)
    assert live.time == sim.time == pytest.approx(0.52)
    live.reset()
    assert sim.time == 0.0
    assert live.span == (0.0, 0.0)
    assert len(live.curves()[0]) == 1


def test_the_past_of_a_long_run_thins_out():
    live = Live(ds.Simulation(pile(1), ds.TimeStepping(dt=0.01)))
    for _ in range(2 * HISTORY_LENGTH + 10):
        live.step()
    times = np.array([s.time for s in live._past])
    assert len(times) <= HISTORY_LENGTH + 1
    assert np.diff(times).max() < 0.06
    curves = live.curves()
    assert len(curves) == 6
    assert all(len(c) == len(curves[0]) for c in curves)


def test_a_slow_simulation_does_not_run_after_the_clock():
    live = Live(ds.Simulation(pile(), ds.TimeStepping(dt=0.001)))
    live.step()
    live.advance(100.0, 0.02)
    assert live.simulation.time < 50.0
    assert 0 < live.pace < 5000
    assert live.lag < 0.001


def test_a_replay_reads_frames_when_they_are_looked_at():
    run = ds.Simulation(pile(), ds.TimeStepping(dt=0.01)).run(1.0, record=True)

    class Counting:
        def __init__(self):
            self.read = 0

        def __getattr__(self, name):
            return getattr(run, name)

        def state(self, k):
            self.read += 1
            return run.state(k)

    counted = Counting()
    frames = Playback(counted)
    assert counted.read == 0
    frames.seek(0.505)
    np.testing.assert_allclose(
        frames.state.position, 0.5 * (run.state(50).position + run.state(51).position)
    )
    assert counted.read == 2
    frames.seek(9.0)
    assert frames.time == 1.0
    frames.advance(0.1, 1.0)  # from the end to the start
    assert frames.time == 0.0
    frames.step()
    assert frames.time == pytest.approx(0.01)
    assert frames.report is run.reports[0]
    assert len(frames.curves()[0]) == 100


@given(
    t=st.floats(0, 50), amplitude=st.floats(0.1, 3), frequency=st.floats(0.1, 3),
    other=st.floats(0.1, 3), which=st.sampled_from(["amplitude", "frequency"]),
)  # fmt: skip
@settings(deadline=None, derandomize=True, max_examples=60)
def test_a_shaken_box_does_not_jump_when_a_slider_moves(t, amplitude, frequency, other, which):
    before = ds.Oscillation((0, 1), amplitude, frequency, 0.3)
    after = carried_on(before, t, which, other)
    assert getattr(after, which) == other
    a, b = (m.bind("box", 2, ((0.0, 0.0), 0.0)) for m in (before, after))
    there, here = a.pose(t)[0][1], b.pose(t)[0][1]
    assert here == pytest.approx(np.clip(there, -after.amplitude, after.amplitude), abs=1e-7)
    if abs(there) < 0.99 * after.amplitude:
        assert np.sign(a.velocity(t, 0.0)[1]) == np.sign(b.velocity(t, 0.0)[1])


def test_bodies_said_anew_go_on_from_where_they_are():
    world = pile()
    sim = ds.Simulation(world, ds.TimeStepping(dt=0.01))
    sim.run(0.3)
    place = sim.body("disk1").position
    world.change_body("disk1", friction=0.05, restitution=0.1)
    assert sim.body("disk1").position == pytest.approx(place)
    assert sim.model.friction[2, 0] == 0.05
    sim.step()
    with pytest.raises(ds.ModelError, match="'disk1': motion cannot be changed: it has none"):
        world.change_body("disk1", motion=ds.ConstantVelocity((1, 0)))
    with pytest.raises(ds.ModelError, match="mass cannot be changed"):
        world.change_body("disk1", mass=3)


def test_a_jointed_body_said_anew_can_still_be_removed():
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1), name="a", position=(0, 0))
    world.add_joint(ds.Pin("a", "world", anchor=(0, 0.1), name="pin"))
    world.change_body("a", friction=0.1)
    with pytest.raises(ds.ModelError, match="joint 'pin' holds it"):
        world.remove_body("a")
    world.remove_joint("pin")
    world.remove_body("a")


@pytest.mark.parametrize("aspect", [0.6, 1.0, 2.0])
@pytest.mark.parametrize(
    "name", ["arch", "brazil-nut", "chain-drop", "rolling-ball", "sliding-block", "wedge-cone"]
)
def test_cameras_see_everything(name, aspect):
    """Where a view looks elsewhere than at the middle of the bodies, too."""
    scene = ds.scene(name)
    model, state = scene.world.build()
    camera = frame(model, state, scene.view, aspect)
    tall = np.tan(0.5 * camera.fov)
    if model.dim == 2:
        (x0, x1), (y0, y1) = scene.view["limits"]
        across = 2 * np.linalg.norm(camera.eye - camera.target) * tall
        assert across * aspect >= (x1 - x0) * (1 - 1e-9)
        assert across >= (y1 - y0) * (1 - 1e-9)
        return
    low, high = drawing.bounds(model, state)
    corners = low + np.array(list(np.ndindex(2, 2, 2))) * (high - low) - camera.eye
    ahead = (camera.target - camera.eye) / np.linalg.norm(camera.target - camera.eye)
    right = np.cross(ahead, camera.up)
    right /= np.linalg.norm(right)
    depth = corners @ ahead
    assert (depth > 0).all()
    assert (np.abs(corners @ right) < tall * aspect * depth).all()
    assert (np.abs(corners @ np.cross(right, ahead)) < tall * depth).all()


def test_small_geometry():
    for n in np.eye(3), -np.eye(3):
        for way in n:
            q = upright(way)
            np.testing.assert_allclose(rotations(q[None])[0] @ [0, 0, 1], way, atol=1e-12)
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1), orientation=0.7)
    _, state = world.build()
    turn = rotations(quaternions(state))[0]
    np.testing.assert_allclose(turn[:2, 0], [np.cos(0.7), np.sin(0.7)])


def test_colours_of_copies_are_amounts_of_light():
    assert palette.of_copies([(255, 255, 255), (0, 0, 0)], False).tolist() == [[255] * 3, [0] * 3]
    assert palette.of_copies([(188, 188, 188)], False)[0, 0] == pytest.approx(128, abs=1)


def test_what_is_picked_says_its_numbers():
    sim = ds.Simulation(pile(), ds.TimeStepping(dt=0.01))
    sim.run(1.0)
    live = Live(sim)
    table = sim.contacts
    text = panel.selected_text(("body", 1), live, sim.state, table)
    assert "**disk0**" in text
    assert f"{sim.model.mass[1]:.4g} kg" in text
    text = panel.selected_text(("contact", 0), live, sim.state, table)
    assert "normal force" in text
    assert "contact is open" in panel.selected_text(("contact", 99), live, sim.state, table)
    colours = panel.by_island(sim.model, palette.body_colours(sim.model), table)
    assert len({tuple(c) for c in colours[1:]}) == 3  # three disks, three islands


@pytest.fixture
def viser():
    return pytest.importorskip("viser", reason="viser is not installed: drystone[view]")


def test_many_bodies_have_shadows_while_they_stand_still(viser):
    for n, at_once in ((20, True), (600, False)):
        with show(ds.scene("spheres", n=n), port=0, playing=False) as viewer:
            stage = viewer.stage
            assert stage._sun.cast_shadow == at_once
            for still in (True, False):
                stage.cast_shadows(still)
                assert stage._sun.cast_shadow == (still or at_once)


def test_sliders_of_the_brazil_nut(viser):
    scene = ds.scene("brazil-nut", n=30)
    with show(scene, port=0) as shown:
        sim, slide = shown.source.simulation, shown.sliders.slide
        sim.run(0.5)
        place = sim.body("box").position
        slide(0, 0.7)  # amplitude
        slide(1, 2.0)  # frequency
        assert abs(sim.body("box").position[1]) <= max(abs(place[1]), 0.7) + 1e-9
        slide(2, 0.1)
        sim.sync()
        assert (sim.model.friction[:, 0] == 0.1).all()
        slide(3, 3.0)
        assert sim.world.gravity == pytest.approx((0.0, -3.0))
        sim.run(0.5)
        motion = dict(sim.model.motions)[0]
        assert motion.pose(sim.time)[0][1] == pytest.approx(sim.state.position[0, 1], abs=1e-9)


def test_a_slider_of_a_motor(viser):
    world = ds.World(planar=True)
    world.add_body(ds.Rectangle(1, 0.1), name="fan", position=(0, 0))
    world.add_joint(ds.Pin("fan", "world", anchor=(0, 0), motor=ds.Motor(speed=1.0), name="axle"))
    sim = ds.Simulation(world, ds.TimeStepping(dt=0.01))
    hints = {"sliders": [{"what": "motor", "joint": "axle", "low": -5, "high": 5}]}
    with sim.show(port=0, view=hints) as shown:
        sim.run(0.1)
        assert sim.body("fan").angular_velocity == pytest.approx(1.0)
        shown.sliders.slide(0, 3.0)
        sim.run(0.1)
        assert sim.body("fan").angular_velocity == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("slider", "words"),
    [
        ({"what": "weather", "low": 0, "high": 1}, "what = 'weather'"),
        ({"what": "gravity", "low": 0}, "expected numbers low and high"),
        ({"what": "motion", "body": "disk0", "field": "amplitude", "low": 0, "high": 1}, "'disk0'"),
        ({"what": "motor", "joint": "none", "low": 0, "high": 1}, "joint 'none'"),
    ],
)
def test_wrong_sliders_are_refused(viser, slider, words):
    with pytest.raises(ds.OptionError, match=words):
        ds.Simulation(pile(), "time-stepping").show(port=0, view={"sliders": [slider]})


def test_the_jack_is_worked_by_hand():
    """Pulled to and fro like a pump, the lever lifts the bar tooth by tooth."""
    sim = ds.scene("double-action-jack", hand=True).simulation(ds.TimeStepping(dt=1 / 160))
    sim.run(0.2)
    drag = grip(sim.model, sim.state, sim.index("lever"), (0.5, 0.0), sim.method.dt, 6.0)
    sim.world.add_force(drag)
    start, low = sim.time, sim.body("bar").position[1]
    while sim.time < start + 3.0:
        angle = np.radians(20) * np.sin(2 * np.pi * (sim.time - start) / 1.5)
        drag.target = (0.5 * np.cos(angle), 0.5 * np.sin(angle))
        sim.step()
    assert sim.body("bar").position[1] > low + 0.2  # two teeth of 0.1


@pytest.mark.parametrize("most", [3e-10, 2e-7, 4.5e-3, 0.7, 12.0, 1e3, 1.2e6, 5e8, 7e12, 0.0])
def test_energies_are_drawn_in_a_unit_that_fits_the_axis(most):
    """Numbers of at most four digits before the point, from 1e-15 to 1e13 J."""
    curve = np.linspace(-most, most, 5)
    (scaled,), title = _scaled([curve], "Energy [J]")
    factor = {"p": 1e-12, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9}
    np.testing.assert_allclose(scaled * factor[title[8:-2]], curve, rtol=1e-14)
    assert scaled[-1] == 0.0 or 0.1 < scaled[-1] < 1e4


def test_half_turns_are_interpolated_too():
    """Quaternions at right angles are half a turn apart: either way round is right, none is not."""
    still = np.zeros((1, 3)), np.zeros((1, 6))
    upright = State(0.0, still[0], np.array([[1.0, 0, 0, 0]]), still[1])
    turned = State(1.0, still[0], np.array([[0.0, 0, 0, 1]]), still[1])
    assert between(upright, turned, 1.0).orientation == pytest.approx(turned.orientation)
    half = between(upright, turned, 0.5).orientation
    assert half == pytest.approx(np.array([[1.0, 0, 0, 1.0]]) / np.sqrt(2))
