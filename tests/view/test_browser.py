"""The viewer in a real browser: it draws, plays, scrubs, picks and lets bodies be pulled."""

import numpy as np
import pytest

import drystone as ds

VIVID = np.array([(210, 60, 60), (60, 180, 70), (60, 80, 210), (200, 160, 60), (170, 60, 190)])


def block(planar: bool) -> ds.World:
    world = ds.World(planar=planar)
    world.add_ground()
    if planar:
        world.add_body(ds.Rectangle(0.5, 0.5), name="block", position=(0, 0.25))
    else:
        world.add_body(ds.Box(0.5, 0.5, 0.5), name="block", position=(0, 0, 0.25))
    return world


def hints(planar: bool):
    if planar:
        return {"limits": ((-1.0, 1.0), (-0.2, 1.4))}
    return {"camera": (0.4, -4, 0.9), "target": (0, 0, 0.4)}


def test_a_replay_plays_and_scrubs(look):
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.2), name="ball", position=(-1, 0.2), velocity=(1, 0))
    run = ds.Simulation(world, "time-stepping").run(2.0, record=True, every=4)
    seen = look(run, playing=False, view={"limits": ((-1.4, 1.6), (-0.3, 0.9))})
    source = seen.viewer.source
    assert source.time == 0.0
    start = seen.picture()
    seen.page.get_by_role("button", name="Play").click()
    seen.until(lambda: source.time > 0.2)
    seen.page.get_by_role("button", name="Pause").click()
    seen.until(lambda: not seen.viewer.playing)
    moved = seen.picture()
    assert (np.abs(moved - start).sum(axis=2) > 30).mean() > 0.005
    field = seen.page.locator("input.mantine-NumberInput-input").first  # of the time
    field.fill("1.5")
    field.press("Enter")
    seen.until(lambda: abs(source.time - 1.5) < 0.01)
    seen.page.get_by_role("button", name="Step").click()
    seen.until(lambda: source.time > 1.5)
    place = source.state.position[1]
    x, y = (round(v) for v in seen.pixel((place[0], place[1], 0)))

    def stone() -> bool:
        colours = seen.picture()[y - 2 : y + 3, x - 2 : x + 3].reshape(-1, 3)
        return np.abs(colours - [233, 228, 218]).max(axis=1).min() < 8

    seen.until(stone)  # where it rolled
    seen.page.get_by_role("button", name="Reset").click()
    seen.until(lambda: source.time == 0.0)
    assert not seen.complaints


@pytest.mark.parametrize("planar", [True, False])
def test_a_drag_moves_the_body_and_letting_go_lets_go(look, planar):
    world = block(planar)
    sim = ds.Simulation(world, ds.TimeStepping(dt=1 / 120))
    sim.step()  # compiled before anybody waits
    seen = look(sim, playing=True, view=hints(planar))
    x, y = seen.mouse((0, 0.25, 0) if planar else (0, -0.25, 0.25))
    goal = np.array((-0.1, 0.75) if planar else (-0.1, -0.25, 0.75))
    away = np.array(seen.mouse(np.append(goal, 0.0) if planar else goal)) - (x, y)
    mouse = seen.page.mouse

    def grasped() -> bool:
        """Press the button on the block; the page may not listen yet."""
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + away[0] / 8, y + away[1] / 8)
        if seen.comes(lambda: len(world.forces) == 1):
            return True
        mouse.up()
        return False

    seen.until(grasped)
    for k in range(2, 9):
        mouse.move(x + away[0] * k / 8, y + away[1] * k / 8)
        seen.page.wait_for_timeout(50)
    up = 1 if planar else 2
    seen.until(lambda: sim.body("block").position[up] > 0.35)
    assert len(world.forces) == 1
    pulled = seen.viewer.dragging.force.target  # in a plane that faces the camera
    np.testing.assert_allclose(pulled, goal, atol=0.1)
    mouse.up()
    seen.until(lambda: len(world.forces) == 0)
    seen.until(lambda: sim.body("block").position[up] < 0.3)
    assert seen.viewer.error is None
    assert not seen.complaints


def test_a_click_tells_a_bodys_numbers(look):
    sim = ds.Simulation(block(False), "time-stepping")
    sim.step()  # compiled before anybody waits
    seen = look(sim, view=hints(False))
    seen.page.get_by_role("button", name="Step").click()
    seen.until(lambda: seen.viewer.source.time > sim.method.dt)

    def clicked() -> bool:
        """The page may not listen yet."""
        seen.page.mouse.click(*seen.mouse((0, 0, 0.25)))
        return seen.comes(lambda: seen.viewer.picked == ("body", 1))

    seen.until(clicked)
    seen.page.get_by_text("contact force", exact=True).wait_for()
    weight = 9.81 * 125.0
    text = seen.viewer.panel.picked.content
    assert "**block**" in text
    assert f"{weight:.4g} N" in text  # the ground's push, from the contacts
    before = seen.picture()
    for kind in ("points", "normals", "forces", "cones", "joints", "boxes"):
        seen.viewer.do("switch", kind, True)
    seen.viewer.do("switch", "islands", True)
    seen.until(lambda: (np.abs(seen.picture() - before).sum(axis=2) > 40).mean() > 0.003)
    assert seen.viewer.error is None


def test_a_step_that_fails_says_so_in_the_page(look):
    world = block(True)

    def wild(model, state):
        force = np.zeros((model.nb, 3))
        force[1] = np.nan if state.time > 0.2 else 0.0
        return force

    world.add_force(ds.Callback(wild))
    sim = ds.Simulation(world, "time-stepping")
    sim.step()
    seen = look(sim, playing=True, view=hints(True))
    seen.until(lambda: seen.viewer.error is not None)
    seen.page.get_by_text("force callback 'wild'").wait_for()
    assert not seen.viewer.playing
    page = seen.page.context.browser.new_page()  # and the viewer lives
    page.goto(seen.viewer.url)
    seen.until(lambda: len(seen.viewer.server.get_clients()) == 2)
    page.close()
    seen.until(lambda: len(seen.viewer.server.get_clients()) == 1)


def shapes(planar: bool) -> list:
    if planar:
        return [
            ds.Disk(0.2), ds.Ellipse(0.25, 0.15), ds.Capsule2D(0.3, 0.12),
            ds.Polygon([(-0.2, -0.15), (0.2, -0.15), (0.0, 0.25)]), ds.Rectangle(0.4, 0.3),
        ]  # fmt: skip
    tetrahedron = [(0.3, 0, -0.2), (-0.2, 0.25, -0.2), (-0.2, -0.25, -0.2), (0, 0, 0.3)]
    return [
        ds.Sphere(0.2), ds.Ellipsoid(0.25, 0.15, 0.2), ds.Superquadric(0.2, 0.2, 0.2, 0.5, 0.5),
        ds.Capsule(0.2, 0.12), ds.Cylinder(0.4, 0.18), ds.Cone(0.5, 0.2), ds.Box(0.3, 0.3, 0.3),
        ds.ConvexPolyhedron(tetrahedron),
        [(ds.Sphere(0.15), (-0.1, 0, 0)), (ds.Box(0.2, 0.2, 0.2), (0.1, 0, 0))],
    ]  # fmt: skip


@pytest.mark.parametrize("planar", [True, False])
def test_every_kind_of_shape_is_seen_where_it_is(look, planar):
    """Each in a vivid colour of its own; the pixel at its centre has that hue."""
    kinds = shapes(planar)
    world = ds.World(planar=planar)
    places = []
    for k, shape in enumerate(kinds):
        row, column = divmod(k, 5)
        place = (0.7 * (column - 2), 0.7 * row) if planar else (0.7 * (column - 2), 0.0, 0.7 * row)
        world.add_body(shape, name=f"shape{k}", position=place, mass=1.0)
        places.append((*place, 0.0) if planar else place)
    low = {"limits": ((-1.8, 1.8), (-0.6, 0.6))}
    view = low if planar else {"camera": (0.0, -6.0, 0.6), "target": (0, 0, 0.35)}
    seen = look(ds.Simulation(world, "time-stepping"), view=view)
    seen.viewer.stage.colours = VIVID[np.arange(len(kinds)) % len(VIVID)].astype(np.uint8)
    seen.viewer.do("length", 1.0)  # anything: draw again
    model, state = seen.viewer.source.model, seen.viewer.source.state

    def wrong() -> list:
        """Shapes that are not seen in their colour."""
        picture, out = seen.picture(), []
        for k in range(len(kinds)):
            centre = np.zeros(3)
            centre[: model.dim] = state.position[k]
            centre[model.dim - 1] += 0.05  # off the band round a ball and the edges of a box
            x, y = (round(v) for v in seen.pixel(centre))
            got, wanted = picture[y, x + 3].astype(float), VIVID[k % len(VIVID)].astype(float)
            cosine = got @ wanted / (np.linalg.norm(got) * np.linalg.norm(wanted))
            exact = np.abs(got - wanted).max() < 12 or not planar  # in even light
            if cosine <= 0.93 or not exact:
                out.append((kinds[k], got, wanted))
        return out

    seen.comes(lambda: not wrong(), 300.0)
    assert not wrong()
    assert seen.viewer.error is None


def test_the_scene_stays_in_view_when_the_page_changes_its_size(look, monkeypatch):
    """Long after it has opened, as long as nobody has moved the camera."""
    seen = look(ds.Simulation(block(True)), playing=False, view=hints(True))
    monkeypatch.setattr("drystone.view.viewer.SETTLING", 0.0)
    before = np.array(seen.camera.position)
    seen.page.set_viewport_size({"width": 1000, "height": 900})
    seen.until(seen.settled)
    assert not np.allclose(before, seen.camera.position, rtol=1e-3)
    assert not seen.complaints
