"""The offline page in a real browser: from a file, without a network."""

from __future__ import annotations

import base64
import io
import shutil

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import drystone as ds
from drystone.draw import meshes as drawing
from drystone.model import State
from drystone.view.export_html import page, with_this_player, write_html
from tests.view.replays import moved, pile, world_of_shapes

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox", "--enable-unsafe-swiftshader", "--use-gl=angle", "--use-angle=swiftshader",
    "--disable-background-networking",
]  # fmt: skip
SIZE = {"width": 780, "height": 440}


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


class Seen:
    """A page that is open, all it said, and all it asked for."""

    def __init__(self, browser, path):
        self.said, self.asked = [], []
        self.page = browser.new_page(viewport=SIZE)
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.set_default_timeout(60_000)  # other programs may use the machine
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("body.ready")

    def run(self, script):
        return self.page.evaluate(script)

    def picture(self, k=0):
        """Pixels of the canvas of panel k, drawn now."""
        data = self.run(f"(player.draw(), player.panels[{k}].canvas.toDataURL())")
        return _pixels(base64.b64decode(data.split(",")[1]))

    def wait(self, condition):
        """Until it holds; the page's policy forbids to wait by a script given as text."""
        for _ in range(1200):
            if self.run(condition):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never: {condition}")

    def quiet(self):
        assert self.said == []
        assert len(self.asked) == 1
        self.page.close()


def _pixels(data):
    return np.asarray(image.open(io.BytesIO(data)).convert("RGB")).astype(int)


@pytest.fixture
def opened(browser, tmp_path):
    def show(replays, **options):
        path = write_html(replays, tmp_path / "a page.html", **{"play": False, **options})
        return Seen(browser, path)

    return show


@pytest.mark.parametrize("planar", [True, False])
def test_a_replay_plays_and_scrubs(opened, planar):
    seen = opened(pile(planar, 0.4), title="a pile")
    start = seen.picture()
    screen = _pixels(seen.page.screenshot())
    for shown in (start, screen[60:-60, :500]):
        assert len(np.unique(shown.reshape(-1, 3), axis=0)) > 30  # not blank
    assert seen.run("document.getElementById('title').textContent") == "a pile"
    seen.run("player.panels.forEach(({ picture }) => { picture.quality = 0; })")  # quick
    start = seen.picture()
    seen.page.click("#play")
    seen.wait("player.time > 0.05")
    seen.page.keyboard.press("Space")
    assert not seen.run("player.playing")
    seen.page.evaluate(
        "() => { const bar = document.getElementById('scrub'); bar.value = 1;"
        " bar.dispatchEvent(new Event('input')); }"
    )
    seen.picture()
    assert seen.run("player.time") == pytest.approx(0.4)
    end = seen.picture()
    assert (np.abs(end - start).max(axis=2) > 40).mean() > 0.003
    seen.page.keyboard.press("Home")
    assert np.abs(seen.picture() - start).max() <= 2  # the same picture again
    seen.page.keyboard.press("ArrowRight")
    assert seen.run("player.time") == pytest.approx(1 / 60, abs=0.01)
    seen.quiet()


@pytest.mark.parametrize("planar", [True, False])
def test_a_click_picks_the_body_under_it(opened, planar):
    replay = pile(planar, 0.4)
    seen = opened(replay)
    seen.run("player.seek(player.end)")
    seen.picture()
    name = "disk 0" if planar else "ball"
    b = replay.model.names.index(name)
    spot = seen.run(
        f"""() => {{
          const {{ replay, picture, canvas }} = player.panels[0];
          const box = canvas.getBoundingClientRect();
          if (replay.dim === 2) {{
            const [x, y] = picture.pixel(replay.place[2 * {b}], replay.place[2 * {b} + 1]);
            return [box.left + x / picture.ratio, box.top + y / picture.ratio];
          }}
          const {{ camera }} = picture.orbit.look(canvas.width / canvas.height);
          const p = [0, 1, 2].map((i) => replay.place[3 * {b} + i]);
          const c = [0, 1, 3].map((r) =>
            camera[r] * p[0] + camera[4 + r] * p[1] + camera[8 + r] * p[2] + camera[12 + r]);
          return [box.left + (c[0] / c[2] + 1) / 2 * box.width,
                  box.top + (1 - c[1] / c[2]) / 2 * box.height];
        }}"""
    )
    seen.page.mouse.click(*spot)
    seen.picture()
    assert seen.run("document.getElementById('name').textContent") == name
    facts = seen.run("document.getElementById('facts').innerText")
    assert "kg" in facts
    assert "touching bodies" in facts
    seen.page.keyboard.press("Escape")
    seen.picture()
    assert seen.run("document.getElementById('card').hidden")
    seen.quiet()


def test_forces_are_lines_over_the_bodies(opened):
    seen = opened(pile(False, 0.4))
    seen.run("player.seek(player.end)")
    without = seen.picture()
    seen.page.keyboard.press("f")
    shown = seen.picture()
    assert not seen.run("document.getElementById('key').hidden")
    assert (np.abs(shown - without).max(axis=2) > 30).mean() > 0.005
    # weight of the stack on the ground: three bricks
    weight = seen.run(
        "player.replays[0].forces(player.end).filter((l) => l.b === 0 || l.a === 0)"
        ".map((l) => Math.abs(l.force[2])).reduce((a, b) => a + b, 0)"
    )
    masses = seen.run("player.replays[0].mass.reduce((a, b) => a + b, 0)")
    assert weight == pytest.approx(9.81 * masses, rel=0.01)
    seen.quiet()


def test_every_kind_of_shape_is_seen_in_its_place(opened):
    """The page's ids, one for each body, at the projected centre of each."""
    replay = moved(world_of_shapes(), n=3)
    seen = opened(replay)
    seen.picture()
    found = seen.run(
        """() => {
          const { replay, picture, canvas } = player.panels[0], out = {};
          const { camera } = picture.orbit.look(canvas.width / canvas.height);
          replay.names.forEach((name, b) => {
            const p = [0, 1, 2].map((i) => replay.place[3 * b + i]);
            const c = [0, 1, 3].map((r) =>
              camera[r] * p[0] + camera[4 + r] * p[1] + camera[8 + r] * p[2] + camera[12 + r]);
            out[name] = picture.pick((c[0] / c[2] + 1) / 2 * canvas.clientWidth,
                                     (1 - c[1] / c[2]) / 2 * canvas.clientHeight);
          });
          return out;
        }"""
    )
    names = replay.model.names
    for name in names[1:]:
        assert found[name] is not None, name
        assert names[found[name]] == name
    seen.quiet()


def test_pieces_of_a_body_move_with_it(opened):
    """Places and turns that the page gives to WebGL, against the model's own frames."""
    world = ds.World()
    lean = (np.cos(0.4), np.sin(0.4) * 0.6, 0.0, np.sin(0.4) * 0.8)
    piece = ds.Box(0.5, 0.2, 0.1)
    shape = ds.Compound([(piece, (0.3, 0.1, 0)), (piece, (-0.4, 0, 0.2), lean), ds.Sphere(0.2)])
    for k in range(2):
        world.add_body(shape, name=f"cross {k}", position=(k, 0, 1), orientation=lean)
    replay = moved(world, n=9)
    seen = opened(replay, fps=1000)
    seen.run(f"player.seek({replay.time[5]})")
    seen.picture()
    moving = np.array(seen.run("[...player.panels[0].picture.moving]")).reshape(-1, 7)
    state = State(0.0, replay.position[5], replay.orientation[5], np.empty(0))
    at = drawing.frames(replay.model, state)
    assert len(moving) == len(replay.model.geoms) == 6
    for g in range(6):
        i = int(np.linalg.norm(moving[:, :3] - at.origin[g], axis=1).argmin())
        assert moving[i, :3] == pytest.approx(at.origin[g], abs=1e-4)
        axes = Rotation.from_quat(moving[i, 3:]).as_matrix()
        assert axes == pytest.approx(at.axes[g], abs=3e-4)
    seen.quiet()


def test_several_replays_share_one_clock(opened):
    seen = opened([pile(True, 0.4), pile(False, 0.3)], labels=["flat", "solid"])
    assert seen.page.locator("section canvas").count() == 2
    assert seen.page.locator("section h2").all_inner_texts() == ["flat", "solid"]
    assert seen.run("player.end") == pytest.approx(0.4)
    seen.run("player.seek(player.end)")  # the shorter one stands at its end
    for k in (0, 1):
        pixels = seen.picture(k)
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 30
    seen.quiet()


@pytest.mark.parametrize(("limits", "below"), [((-9, 9, 0, 3), True), ((-1, 1, 0, 8), False)])
def test_panels_lie_as_things_are_seen_largest(opened, limits, below):
    """Wide ones one below the other, high ones side by side."""
    x0, x1, y0, y1 = limits
    seen = opened([pile(True, 0.4)] * 2, labels=["a", "b"], view={"limits": ((x0, x1), (y0, y1))})
    first, second = (panel.bounding_box() for panel in seen.page.locator("section").all())
    assert (second["y"] > first["y"]) is below
    assert (second["x"] > first["x"]) is not below
    seen.quiet()


def test_hostile_names_are_only_text(opened):
    world = ds.World(planar=True)
    nasty = '</script><script>window.hit=1</script><img src=x onerror="window.hit=2">'
    world.add_body(ds.Disk(0.5), name=nasty, position=(0, 1))
    seen = opened(moved(world), title=nasty, about=nasty)
    seen.run("player.choose(0)")
    seen.picture()
    assert seen.run("document.getElementById('name').textContent") == nasty
    assert seen.run("window.hit") is None
    seen.quiet()


def test_an_earlier_page_gets_the_present_player():
    text = page(pile(True, 0.4), title="<b> & 'c'")
    start, end = text.rindex("<script>"), text.rindex("</script>")
    earlier = text[:start] + '<script>"an earlier player";' + text[end:]
    assert with_this_player(earlier) == with_this_player(text) == text
    for wrong in ("", "<p>", text.replace('id="data-0"', 'id="other"')):
        with pytest.raises(ds.OptionError, match="with_this_player"):
            with_this_player(wrong)


def test_a_page_that_was_cut_short_says_so(browser, tmp_path):
    path = write_html(moved(world_of_shapes()), tmp_path / "a.html")
    text = path.read_text()
    at = text.index('id="data-0">') + 400
    path.write_text(text[:at] + text[text.index("</script>", at) :])
    page = browser.new_page(viewport=SIZE)
    page.goto(path.as_uri())
    page.wait_for_selector("#trouble:not([hidden])", timeout=600_000)
    assert "cannot be shown" in page.inner_text("#trouble")
    page.close()


def test_a_notebook_holds_the_page(browser, tmp_path):
    shown = ds.embed(pile(True, 0.4), height=400, play=False)
    assert shown.save(tmp_path / "b.html").stat().st_size > 10_000
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><body>{shown._repr_html_()}</body>")
    page = browser.new_page(viewport=SIZE)
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    page.frame_locator("iframe").locator("body.ready").wait_for(timeout=600_000)
    assert page.frames[1].evaluate("player.end") == pytest.approx(0.4)
    assert said == []
    page.close()
