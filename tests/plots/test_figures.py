"""``ds.plot``: what its lines say, against statics, closed forms and the run itself."""

import numpy as np
import pytest

import drystone as ds
from drystone.comparison.runs import simulate
from drystone.plots import states, style
from drystone.plots.axes import power, unit
from drystone.plots.energy import draw_stack
from drystone.plots.figures import QUANTITIES, plot, quantities
from drystone.plots.forces import force_lines_3d, sight, silhouettes
from drystone.plots.paths import plane_of
from drystone.plots.run_data import chosen, contacts, frame, series, skipped
from drystone.plots.states import draw_chains, draw_picture
from drystone.plots.steps import force_on, over_frames

G = 9.81


def axes(width=3.5, height=3.0):
    """Axes in a figure of our style."""
    with style.figure(width, height, printed=True) as fig:
        return fig.add_axes((0.2, 0.2, 0.7, 0.6))


def lines(ax):
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


def stack(planar, seconds=0.1):
    """Three blocks of 1, 2 and 3 kg at rest on each other."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.5)
    for k in range(3):
        shape = ds.Rectangle(1, 0.4) if planar else ds.Box(1, 0.5, 0.4)
        place = (0, 0.2 + 0.4 * k) if planar else (0, 0, 0.2 + 0.4 * k)
        world.add_body(shape, name=f"brick{k}", mass=k + 1.0, position=place)
    sim = ds.Simulation(world)
    sim.profile = True
    return simulate(sim, seconds, title="stack")


@pytest.fixture(scope="module")
def flight():
    """A ball thrown at 3 m/s up and 4 m/s along, and one that falls."""
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1), name="thrown", position=(0, 1), velocity=(4, 3))
    world.add_body(ds.Disk(0.1), name="dropped", position=(-2, 5))
    return ds.Simulation(world, ds.TimeStepping(dt=1e-3)).run(0.5, record=True)


@pytest.fixture(scope="module")
def collapse():
    scene = ds.scene("disks-21", rows=3)
    sim = scene.simulation()
    sim.profile = True
    return simulate(sim, 4.0, title="disks", view=scene.view)


@pytest.mark.parametrize("what", QUANTITIES)
def test_every_quantity_is_drawn(collapse, what, tmp_path):
    fig = plot(collapse, what, path=tmp_path / "x.svg")
    assert (tmp_path / "x.svg").stat().st_size > 2000
    assert fig.get_size_inches()[0] == style.COLUMN


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_equal_runs_give_equal_files(collapse, suffix, tmp_path):
    pair = [tmp_path / f"{k}{suffix}" for k in range(2)]
    for path in pair:
        plot(collapse, "chains", path=path)
    assert pair[0].read_bytes() == pair[1].read_bytes()
    assert pair[0].stat().st_size > 2000


def test_several_quantities_share_a_page(collapse):
    fig = plot(collapse, ["energy", "gap", "chains"])
    assert fig.get_size_inches()[0] == style.PAGE
    assert len(fig.subfigs) == 4
    assert [len(cell.axes) for cell in fig.subfigs][:2] == [3, 2]


def test_a_given_axes_holds_the_main_panel(flight):
    ax = axes()
    assert plot(flight, "energy", ax=ax) is ax
    assert {"kinetic", "potential", "total"} <= set(lines(ax))


def test_the_stack_adds_up_to_what_the_state_says(collapse):
    """Top of the gains and bottom of the losses make the change, which the energies of the first
    and the last state give without the ledger."""
    ax = axes()
    draw_stack(ax, collapse)
    factor = {"J": 1.0, "kJ": 1e3, "MJ": 1e6}[ax.get_ylabel().split("[")[1][:-1]]
    sim = ds.scene("disks-21", rows=3).simulation()
    start = sum(sim.energy)
    sim.run(4.0)
    change = sum(sim.energy) - start
    drawn = factor * lines(ax)["change"][-1, 1]
    assert drawn == pytest.approx(change, rel=1e-9)
    corners = np.vstack([p.vertices for c in ax.collections for p in c.get_paths()])
    last = corners[corners[:, 0] == corners[:, 0].max()][:, 1]
    # parts below SHOWN of the largest are left out of the picture
    assert factor * (last.max() + last.min()) == pytest.approx(change, rel=1e-2)


def test_a_ledger_with_steps_left_out_is_not_stacked():
    """Parts of one step in three are not a third of the whole; the sum comes from the energies."""
    sim = ds.scene("disks-21", rows=3).simulation()
    start = sum(sim.energy)
    kept = sim.run(3.0, record=True, every=3)
    assert skipped(kept) == 3
    ax = axes()
    draw_stack(ax, kept)
    assert not ax.collections
    assert "1 step in 3" in ax.texts[0].get_text()
    factor = {"J": 1.0, "kJ": 1e3, "MJ": 1e6}[ax.get_ylabel().split("[")[1][:-1]]
    assert factor * lines(ax)["change"][-1, 1] == pytest.approx(
        sum(sim.energy) - start, rel=0.1
    )  # but for the two steps before the first report


def test_unexplained_energy_has_a_logarithmic_axis_of_its_own(collapse):
    fig = plot(collapse, "energy")
    last = fig.subfigs[0].axes[-1]
    assert last.get_yscale() == "log"
    drawn = last.get_lines()[0].get_ydata()
    expected = np.abs([r.energy.unexplained for r in collapse.reports])
    assert np.array_equal(drawn, expected[expected > 0])


@pytest.mark.parametrize("planar", [True, False], ids=["planar", "spatial"])
def test_forces_of_a_stack_are_its_weights(planar):
    run = stack(planar)
    total, most, on = over_frames(run, ["brick0", "brick2"])
    assert total[-1] == pytest.approx(G * (6 + 5 + 3), rel=1e-6)
    assert most[-1] <= G * 6
    assert on[-1] == pytest.approx([G * 1, G * 3], rel=1e-6)
    up = force_on(contacts(run, -1), "brick1")
    assert up == pytest.approx([*([0] * (len(up) - 1)), G * 2], abs=1e-6)
    ax = axes()
    plot(run, "forces", ax=ax, bodies=["brick2"])
    assert lines(ax)["brick2"][-1, 1] == pytest.approx(G * 3, rel=1e-6)


def test_chains_in_space_are_the_weights_between_centres():
    run = stack(planar=False)
    look = sight({})
    found, depth = force_lines_3d(run.model, run.state(-1), contacts(run, -1), look)
    assert sorted(found.size) == pytest.approx([3 * G, 5 * G, 6 * G], rel=1e-6)
    assert depth == pytest.approx(np.zeros(3), abs=1e-6)
    assert np.allclose(found.ends[:, :, 0], 0.0, atol=1e-6)
    heights = {round(float(h), 6) for ends in found.ends for h in ends[:, 1]}
    assert heights == {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}
    body, _, edge = silhouettes(run.model, run.state(-1), look)[0]
    assert run.model.names[body].startswith("brick")
    assert np.ptp(edge, axis=0) == pytest.approx([1.0, 0.4])


def test_the_sight_goes_along_the_axis_nearest_to_the_camera():
    look = sight({"camera": (5, 1, 3), "target": (0, 0, 0)})
    assert look.away == pytest.approx([-1, 0, 0])
    assert look.flat(np.array([[0.0, 2, 7]])) == pytest.approx(np.array([[2.0, 7]]))
    assert sight({"camera": (0, 0, 5), "target": (0, 0, 0)}).away == pytest.approx([0, 1, 0])


def test_a_path_is_the_parabola(flight):
    ax = axes()
    plot(flight, "trajectory", ax=ax, bodies=["thrown"])
    x, y = lines(ax)["thrown"].T
    t = x / 4
    assert x[-1] == pytest.approx(2.0)
    # first order: half a step of gravity behind
    assert np.abs(y - (1 + 3 * t - G * t**2 / 2)).max() < G * 1e-3 * 0.5 / 2 * 1.01


def test_a_phase_plot_is_the_energy_of_the_fall(flight):
    ax = axes()
    plot(flight, "phase", ax=ax, bodies=["dropped"], coordinate="y")
    y, v = lines(ax)["dropped"].T
    assert np.abs(v**2 / 2 - G * (5 - y)).max() < G * 1e-3 * np.abs(v).max()
    assert "velocity along y [m/s]" in ax.get_ylabel()
    ax = axes()
    plot(flight, "phase", ax=ax)
    assert ax.get_xlabel() == "x [m]"  # the coordinate that goes farthest


def test_stages_are_the_times_of_the_reports(collapse):
    ax = axes()
    plot(collapse, "timing", ax=ax)
    shares = [int(t.get_text().split("(")[1].split()[0]) for t in ax.get_legend().get_texts()]
    assert 97 <= sum(shares) <= 103


def test_a_run_that_was_not_timed_says_how_to_time_it(flight):
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), position=(0, 0.1))
    kept = ds.Simulation(world).run(0.05, record=True)
    with pytest.raises(ds.OptionError, match=r"sim\.profile = True"):
        plot(kept, "timing")


def test_moments(flight):
    assert frame(flight, None) == 500
    assert frame(flight, 0.2504) == 250
    with pytest.raises(ds.OptionError, match=r"from 0 s to 0\.5 s"):
        frame(flight, 0.7)


def test_bodies_are_those_named_or_those_that_went_farthest(collapse):
    which, said = chosen(collapse, None, most=2)
    way = np.linalg.norm(np.diff(collapse.position, axis=0), axis=2).sum(axis=0)
    assert set(which) == set(np.argsort(-way)[:2])
    assert said == "the 2 of 6 bodies that went farthest"
    with pytest.raises(ds.OptionError, match="did you mean 'disk0-1'"):
        chosen(collapse, ["disk0_1"])


def test_planes(flight):
    assert plane_of(flight, np.array([0]), None) == (0, 1)
    assert plane_of(flight, np.array([0]), "yx") == (1, 0)
    for wrong in ("xz", "x", "xx", "xyz"):
        with pytest.raises(ds.OptionError, match="expected two of x, y"):
            plane_of(flight, np.array([0]), wrong)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda run: plot(run, "enrgy"), "did you mean 'energy'"),
        (lambda run: plot(run, ""), "expected some of energy"),
        (lambda run: plot(run, "energy,gap", ax=axes()), "one quantity fits"),
        (lambda run: plot(run, path="x.gif"), "ending in .png, .svg, .pdf"),
        (lambda run: plot(run, width=200), "inches from 1 to 40"),
        (lambda run: plot(run, "phase", coordinate="z"), "expected one of x, y, angle"),
        (lambda run: plot(7), "7 is not a replay"),
        (lambda run: plot([]), "one step or more"),
    ],
)
def test_mistakes_are_named(flight, call, words):
    with pytest.raises(ds.OptionError, match=words):
        call(flight)


def test_a_list_of_reports_is_enough_for_steps(flight):
    ax = axes()
    plot(flight.reports, "gap", ax=ax)
    assert series(flight.reports, "contacts").sum() == 0
    assert "zero throughout" in [text.get_text() for text in ax.texts]


def test_chains_without_contacts_say_so(collapse):
    world = ds.World(planar=True)
    world.add_body(ds.Disk(0.1))
    run = simulate(ds.Simulation(world), 0.05)
    ax = axes()
    draw_chains(ax, run)
    assert "no contact forces" in [text.get_text() for text in ax.texts]


def test_spatial_pictures_are_rendered(monkeypatch):
    monkeypatch.setattr(states, "PIXELS", 200)
    ax = axes()
    draw_picture(ax, stack(planar=False, seconds=0.02))
    assert ax.get_images()[0].get_array().std() > 0.02


def test_quantities_are_read_once_each():
    assert quantities(" energy, gap,energy") == ("energy", "gap")


@pytest.mark.parametrize(
    ("value", "text"), [(1e-8, "$10^{-8}$"), (2.5e-5, r"$2.5\cdot10^{-5}$"), (0.01, "0.01")]
)
def test_powers(value, text):
    assert power(value) == text


def test_units():
    assert unit(5.0) == (1.0, "J")
    assert unit(3e4, "N") == (1e-3, "kN")
    factor, name = unit(2e-7)
    assert (factor * 2e-7, name) == (pytest.approx(200.0), "nJ")
    assert unit(0.0) == (1.0, "J")


def test_a_recording_is_plotted_like_the_run_itself(tmp_path):
    scene = ds.scene("disks-21", rows=3)
    sim = scene.simulation()
    sim.run(2.0, record=str(tmp_path / "run.h5"))
    kept = simulate(scene.simulation(), 2.0, view=scene.view)
    with ds.read_recording(tmp_path / "run.h5") as recording:
        for what in ("energy", "gap", "residual", "forces", "trajectory", "phase"):
            drawn = []
            for run in (recording, kept):
                ax = axes()
                plot(run, what, ax=ax)
                drawn.append(lines(ax))
            assert list(drawn[0]) == list(drawn[1])
            for label, points in drawn[0].items():
                assert np.array_equal(points, drawn[1][label], equal_nan=True), (what, label)
        plot(recording, "chains,picture", path=tmp_path / "x.png", time=1.0)


def spheres():
    """Spheres in a heap, a frame with contacts."""
    scene = ds.scene("spheres", n=12)
    return simulate(scene.simulation(), 0.5, title="spheres", view=scene.view)


@pytest.mark.parametrize("heap", [stack(True), spheres()], ids=["planar", "spatial"])
def test_nothing_of_a_figure_is_cut_off(heap):
    """The title above the axes and the legend below them lie inside."""
    fig = plot(heap, "chains")
    fig.draw_without_rendering()
    box, (wide, tall) = fig.get_tightbbox(), fig.get_size_inches()
    assert 0.0 <= box.x0 < box.x1 <= wide
    assert 0.0 <= box.y0 < box.y1 <= tall


def test_chains_fill_the_picture_of_a_wide_scene(collapse):
    """The scene asks for a picture of the whole trough; forces are drawn where bodies move."""
    ax = axes()
    draw_chains(ax, collapse)
    x = collapse.state(-1).position[collapse.model.inverse_mass > 0, 0]
    low, high = ax.get_xlim()
    (left, right), _ = collapse.view["limits"]
    assert high - low < 0.75 * (right - left)
    assert np.ptp(x) > 0.5 * (high - low)


def test_the_tolerance_is_seen_with_the_residuals(collapse):
    ax = axes()
    plot(collapse, "residual", ax=ax, tol=1e-3)
    low, high = ax.get_ylim()
    assert low < 1e-3 < high


def test_a_class_is_no_run():
    for what in ("energy", "gap"):
        with pytest.raises(ds.DrystoneError):
            ds.plot(ds.Sphere, what)
