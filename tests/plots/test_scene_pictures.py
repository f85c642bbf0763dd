"""Pictures of states: what is where in them, checked against geometry and statics."""

import matplotlib.image
import numpy as np
import pytest

import drystone as ds
from drystone.draw import meshes as drawing
from drystone.draw.camera import Camera
from drystone.draw.raster import PRINT, SCREEN, Balls, Raster, draw_solids, sunlight
from drystone.plots import planar_picture, series, style
from drystone.plots.forces import force_lines
from drystone.plots.scene_picture import save_picture
from drystone.plots.spatial_picture import render


def every_shape(planar):
    world = ds.World(planar=planar)
    world.add_ground()
    if planar:
        shapes = [
            ds.Disk(0.5), ds.Ellipse(0.6, 0.3), ds.Capsule2D(0.6, 0.2), ds.Rectangle(0.8, 0.5),
            ds.Compound([(ds.Disk(0.2), (-0.3, 0)), (ds.Disk(0.3), (0.3, 0))]),
        ]  # fmt: skip
    else:
        shapes = [
            ds.Sphere(0.5), ds.Ellipsoid(0.6, 0.3, 0.4), ds.Superquadric(0.5, 0.4, 0.3, 0.5, 0.7),
            ds.Capsule(0.5, 0.2), ds.Cylinder(0.7, 0.3), ds.Cone(0.8, 0.4), ds.Box(0.8, 0.6, 0.4),
            ds.Compound([(ds.Sphere(0.2), (-0.3, 0, 0)), (ds.Box(0.2, 0.3, 0.4), (0.3, 0, 0))]),
        ]  # fmt: skip
    rng = np.random.default_rng(3)
    for k, shape in enumerate(shapes):
        turn = rng.uniform(-1, 1) if planar else rng.normal(size=4)
        turn = turn if planar else turn / np.linalg.norm(turn)
        place = (1.8 * k, 1.0) if planar else (1.8 * k, 0.3 * k, 1.0)
        world.add_body(shape, position=place, orientation=turn, name=f"b{k}")
    return world, shapes


def local(world, name, points):
    """Points of the world in the frame that a body was described in."""
    body = ds.Simulation(world, ds.TimeStepping(overlap="allow")).body(name)
    if world.planar:
        c, s = np.cos(body.orientation), np.sin(body.orientation)
        R = np.array([[c, -s], [s, c]])
    else:
        from scipy.spatial.transform import Rotation

        w, *v = body.orientation
        R = Rotation.from_quat([*v, w]).as_matrix()
    return (points - body.position) @ R


@pytest.mark.parametrize("planar", [True, False], ids=["planar", "spatial"])
def test_what_is_drawn_lies_on_the_shapes(planar):
    """A little inside the drawn boundary is the shape, a little outside it is not."""
    world, shapes = every_shape(planar)
    model, state = world.build()
    geoms, at = model.geoms, drawing.frames(model, state)
    mesh = None if planar else drawing.Scenery(model).triangles(state)
    for k, shape in enumerate(shapes):
        if isinstance(shape, ds.Compound):
            continue
        b = model.names.index(f"b{k}")
        if planar:
            g = int(np.flatnonzero(geoms.body == b)[0])
            points = at.world(g, drawing.outline(geoms, g))
        elif isinstance(shape, ds.Sphere):
            continue
        else:
            points = mesh.corners[mesh.body == b].reshape(-1, 3)
        assert len(points) >= 4
        middle = state.position[b]
        inside, outside = (middle + f * (points - middle) for f in (1 - 1e-6, 1 + 1e-6))
        assert shape.contains(local(world, f"b{k}", inside)).all(), shape
        assert not shape.contains(local(world, f"b{k}", outside)).any(), shape


def test_triangles_face_outwards():
    world, _ = every_shape(planar=False)
    model, state = world.build()
    mesh = drawing.Scenery(model).triangles(state)
    p = mesh.corners
    face = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    solid = np.linalg.norm(face, axis=1) > 1e-12
    for corner in range(3):
        agree = np.einsum("ti,ti->t", face, mesh.normal[:, corner])
        assert (agree[solid] > 0).all()
    convex = mesh.body != model.names.index("b7")
    away = np.einsum("ti,ti->t", face, p.mean(axis=1) - state.position[mesh.body])
    assert (away[solid & convex] > 0).all()


def test_a_camera_sees_each_point_along_its_ray():
    camera = Camera(np.array([3.0, -5, 2]), np.array([0.2, 0, 0.5]), (60, 40))
    points = np.random.default_rng(0).uniform(-1, 1, (50, 3))
    pixel, near = camera.project(points)
    for (x, y), w, point in zip(pixel, near, points, strict=True):
        i, j = int(np.floor(y)), int(np.floor(x))
        if 0 <= i < 40 and 0 <= j < 60:
            across, up = (j + 0.5 - 30) / camera.scale, (20 - i - 0.5) / camera.scale
            ray = camera.eye + np.array([across, up, 1.0]) @ camera.axes / w
            # half a pixel off at most
            assert np.linalg.norm(ray - point) < 0.75 / (w * camera.scale) + 1e-4


@pytest.mark.parametrize("width", [None, 4.0], ids=["perspective", "parallel"])
def test_the_nearer_surface_is_seen(width):
    """A sphere in front of a plate that faces the viewer, pixel by pixel against the geometry."""
    camera = Camera(np.array([0.0, -8, 0]), np.zeros(3), (80, 80), width=width)
    plate = np.array([[[-1.5, 0, -1.5], [1.5, 0, -1.5], [1.5, 0, 1.5]],
                      [[-1.5, 0, -1.5], [1.5, 0, 1.5], [-1.5, 0, 1.5]]])  # fmt: skip
    buffer = Raster(camera)
    towards = np.tile([0.0, -1.0, 0.0], (2, 3, 1))
    buffer.add_triangles(drawing.Mesh(plate, towards, np.zeros(2, np.int64)))
    centre, radius = np.array([[0.4, -1.0, 0.3]]), np.array([0.5])
    buffer.add_balls(Balls(centre, radius, np.eye(3)[None], np.array([2])))
    x, z = np.meshgrid(np.arange(80) + 0.5 - 40, 40 - np.arange(80) - 0.5)
    if width is None:
        ray = np.stack([x / camera.scale, np.ones_like(x), z / camera.scale], axis=-1)
        c = np.array([0.4, 7.0, 0.3])
        dd, dc = (ray * ray).sum(-1), ray @ c
        ball = dc**2 - dd * (c @ c - 0.25) > 0
        X, Z = 8 * ray[..., 0], 8 * ray[..., 2]
    else:
        X, Z = x * width / 80, z * width / 80
        ball = (X - 0.4) ** 2 + (Z - 0.3) ** 2 < 0.25
    expected = np.where(ball, 2, np.where((abs(X) < 1.5) & (abs(Z) < 1.5), 0, -1))
    seen = buffer.sheets.owner
    edge = np.minimum(abs(abs(X) - 1.5), abs(abs(Z) - 1.5)) < 1e-6
    assert (seen == expected)[~edge].mean() > 0.999
    assert {-1, 0, 2} <= set(np.unique(seen))


def test_shadows_fall_away_from_the_light_and_the_ground_fades():
    world = ds.World()
    world.add_ground()
    world.add_body(ds.Sphere(0.5), position=(0, 0, 1.0))
    image = render(*world.build(), (160, 100), view={})
    assert image.shape == (100, 160, 3)
    assert image[0].min() > 0.97  # far ground is paper
    dark = np.argwhere(image.mean(axis=2) < 0.80)
    assert 50 < len(dark) < 4000
    # the light stands behind the left shoulder: the shadow lies to the right of the ball's middle
    shadow = np.argwhere((image.mean(axis=2) < 0.9) & (np.ptp(image, axis=2) < 0.045))
    assert shadow[:, 1].mean() > 80


def test_many_spheres_are_drawn():
    scene = ds.scene("spheres", n=3000)
    image = render(*scene.world.build(), (320, 200), view=scene.view)
    assert image.min() < 0.5


@pytest.mark.parametrize("planar", [True, False], ids=["planar", "spatial"])
def test_every_shape_can_be_drawn(planar, tmp_path):
    world, _ = every_shape(planar)
    view = {} if planar else {"camera": (0, -5, 2), "target": (0, 0, 1)}
    path = save_picture(world, tmp_path / "all.png", view=view, title="all")
    image = matplotlib.image.imread(path)
    assert image[..., :3].std() > 0.02


def test_a_picture_needs_a_world():
    with pytest.raises(ds.OptionError, match=r"Simulation or a ds\.World"):
        save_picture("pile", "x.png")


def test_equal_states_give_equal_files(tmp_path):
    files = []
    for k in range(2):
        sim = ds.scene("disks-21", rows=3).simulation()
        sim.run(0.5)
        files.append(save_picture(sim, tmp_path / f"{k}.png").read_bytes())
    assert files[0] == files[1]


def test_limits_hold_all_bodies():
    world = ds.World(planar=True)
    world.add_body(ds.Rectangle(2, 1), position=(5, 1), orientation=np.pi / 2)
    (x0, x1), (y0, y1) = planar_picture.planar_limits(*world.build(), margin=0.0)
    assert (x0, x1, y0, y1) == pytest.approx((4.5, 5.5, 0, 2))


def stack():
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    for k in range(3):
        world.add_body(
            ds.Rectangle(1, 0.4), name=f"brick{k}", mass=k + 1.0, position=(0, 0.2 + 0.4 * k)
        )
    sim = ds.Simulation(world)
    sim.run(0.1)
    return sim


def test_points_of_a_face_make_one_force_at_its_centre_of_pressure():
    sim = stack()
    lines = force_lines(sim.model, sim.state, sim.contacts)
    weights = sorted(9.81 * np.array([3.0, 3 + 2, 3 + 2 + 1]))
    assert sorted(lines.size) == pytest.approx(weights, rel=1e-6)
    assert lines.share == pytest.approx(np.zeros(3), abs=1e-6)
    assert lines.ends[:, :, 0] == pytest.approx(np.zeros((3, 2)), abs=1e-6)
    # from abreast of one centre to abreast of the other; on the ground to its surface
    heights = np.sort(lines.ends[:, :, 1], axis=1)
    assert sorted(map(tuple, heights.round(6))) == [(0.0, 0.2), (0.2, 0.6), (0.6, 1.0)]


def test_share_of_friction_on_a_slope_is_that_of_statics():
    sim = ds.scene("incline", planar=True, ratio=0.6, mu=0.5).simulation()
    sim.run(0.2)
    lines = force_lines(sim.model, sim.state, sim.contacts)
    assert lines.share == pytest.approx([0.6], abs=1e-6)
    way = lines.ends[0, 0] - lines.ends[0, 1]
    assert way[0] == pytest.approx(0.0, abs=1e-9)  # it carries the weight: vertical


def test_the_line_of_thrust_of_an_arch_is_connected():
    sim = ds.scene("arch", planar=True).simulation()
    sim.run(0.05)
    lines = force_lines(sim.model, sim.state, sim.contacts)
    assert len(lines.size) == 16
    ends = lines.ends.reshape(-1, 2)
    alone = [p for p in ends if (np.linalg.norm(ends - p, axis=1) < 1e-9).sum() == 1]
    assert len(alone) == 2  # where it enters the ground
    assert [p[1] for p in alone] == pytest.approx([0.0, 0.0], abs=1e-6)


def test_two_walls_of_one_body_are_two_forces():
    world = ds.World((3.0, -4.0), planar=True)
    corner = ds.Compound([ds.HalfPlane((0, 1), 0.0), ds.HalfPlane((-1, 0), -1.0)])
    world.add_body(corner, name="corner", fixed=True, friction=0.0)
    world.add_body(ds.Disk(0.5), name="disk", mass=2.0, position=(0.5, 0.5), friction=0.0)
    sim = ds.Simulation(world)
    sim.step()
    lines = force_lines(sim.model, sim.state, sim.contacts)
    assert sorted(lines.size) == pytest.approx([6.0, 8.0], rel=1e-6)


def test_nothing_touching_draws_no_forces(tmp_path):
    sim = ds.scene("ellipse-drop").simulation()
    sim.step()
    assert force_lines(sim.model, sim.state, sim.contacts).size.size == 0
    assert save_picture(sim, tmp_path / "air.png").exists()


def test_series_take_a_trajectory_and_draw_what_it_says(tmp_path):
    sim = ds.scene("ellipse-drop").simulation()
    trajectory = sim.run(3.0, record=True)
    paths = series.save_series(trajectory, tmp_path, tol=1e-8, loose=1e-3)
    assert [path.name for path in paths] == ["energy.png", "steps.png"]
    with style.figure(3, 3) as fig:
        axes = fig.add_axes((0.2, 0.2, 0.7, 0.7))
        series.draw_ledger(axes, trajectory)
        lines = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
        unit = {"[J]": 1.0, "[kJ]": 1e3, "[MJ]": 1e6}[axes.get_ylabel().removeprefix("work done ")]
    spent = trajectory.series("impact").sum()
    assert spent < 0
    assert unit * lines["impact"][-1] == pytest.approx(spent)
    assert unit * lines["sum: change"][-1] == pytest.approx(trajectory.series("change").sum())


def test_series_mark_unsolved_steps():
    scene = ds.scene("mass-ratio", planar=True)
    sim = scene.simulation(solver=ds.NSGS(max_sweeps=1))
    trajectory = sim.run(0.05, record=True)
    assert not all(report.ok for report in trajectory.reports)
    with style.figure(3, 3) as fig:
        axes = fig.add_axes((0.2, 0.2, 0.7, 0.7))
        series.draw_residual(axes, trajectory, 1e-8)
        labels = [text.get_text() for text in axes.get_legend().get_texts()]
    bad = sum(not report.ok for report in trajectory.reports)
    assert f"{bad} of {len(trajectory.reports)} unsolved" in labels


def test_an_empty_run_has_no_plot(tmp_path):
    with pytest.raises(ds.OptionError, match="one step"):
        series.save_series([], tmp_path)


@pytest.mark.parametrize("height", [-0.5, 0.9], ids=["below the rim", "over it"])
def test_a_bowl_is_seen_from_both_sides(height):
    """A hollow unit ball cut at its equator, from the side: the near wall from below, from above
    the far one; each by the intersection of the ray in the middle with the sphere."""
    world = ds.World()
    world.add_body(ds.Bowl(1.0, 1.0, 1.0), fixed=True)
    model, state = world.build()
    scenery = drawing.Scenery(model, 96)
    eye, target = np.array([0.0, -6.0, height]), np.array([0.0, 0.0, -0.45])
    camera = Camera(eye, target, (81, 81))
    seen = Raster(camera)
    seen.add_triangles(scenery.triangles(state))
    way = camera.axes[2]
    half = -(eye @ way)
    root = np.sqrt(half**2 - eye @ eye + 1.0)
    hits = [eye + s * way for s in (half - root, half + root)]
    wall = next(p for p in hits if p[2] < 0.0)  # what is over the equator has been cut off
    near = float(seen.sheets.near[40, 40])
    assert 1.0 / near == pytest.approx(float((wall - eye) @ way), rel=2e-3)
    assert seen.sheets.way[40, 40] @ way < 0.0, "lit as what faces the viewer"


def test_figures_and_films_are_drawn_by_the_same_code():
    """One state, one camera: on white paper and on the screen's, bodies are the same pixels."""
    world, _ = every_shape(planar=False)
    model, state = world.build()
    scenery = drawing.Scenery(model)
    low, high = drawing.bounds(model, state)
    eye = 0.5 * (low + high) + np.array([2.0, -5.0, 3.0])
    camera = Camera(eye, 0.5 * (low + high), (160, 120))
    sun = sunlight(camera, low, high)
    palette = np.full((model.nb, 3), 0.7)
    white, screen = (
        draw_solids(scenery, state, camera, sun, palette, (80, 60), (low, high), paper)
        for paper in (PRINT, SCREEN)
    )
    seen = Raster(camera)
    seen.add_triangles(scenery.triangles(state))
    seen.add_balls(Balls(*scenery.balls(state)))
    whole = (seen.sheets.owner >= 0).reshape(60, 2, 80, 2).all(axis=(1, 3))
    assert whole.mean() > 0.05
    assert np.array_equal(white[whole], screen[whole])
    assert not np.array_equal(white, screen)


@pytest.mark.parametrize("planar", [True, False])
def test_boxes_are_those_of_samples_of_the_surfaces(planar):
    """The box of a turned body touches it on every side."""
    world, _ = every_shape(planar)
    model, state = world.build()
    body, low, high = drawing.boxes(model, state, n=96)
    at = drawing.frames(model, state)
    for k, g in enumerate(np.flatnonzero(np.isfinite(model.geoms.radius))):
        points = at.world(g, drawing.geom_mesh(model.geoms, g, 96)[0][:, : model.dim])
        assert body[k] == model.geoms.body[g]
        assert low[k] == pytest.approx(points.min(axis=0), abs=2e-3)
        assert high[k] == pytest.approx(points.max(axis=0), abs=2e-3)
    whole = drawing.bounds(model, state, drawing.moving(model))
    assert np.array_equal(whole, [low.min(axis=0), high.max(axis=0)])
