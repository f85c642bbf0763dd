"""Names, titles, descriptions, paths and errors are texts, wherever they are shown: nothing in them
runs, in the viewer or in an exported page, and nothing in them is taken for markup."""

import json

import pytest

import drystone as ds
from drystone.escaping import WORD_JOINER, for_markdown
from drystone.view import panel
from drystone.view.export_html import page, with_this_player

RUNS = "window.hacked=(window.hacked||0)+1"
HOSTILE = (
    f"<img src=x onerror='{RUNS}'>",
    f"<script>{RUNS}</script>",
    f"[x](javascript:{RUNS})",
    f"{{({RUNS})}}",
    f"</title></script><svg onload={RUNS}>",
    f"<iframe srcdoc='<script>parent.{RUNS}</script>'>",
    f"**<details open ontoggle={RUNS}>** | ` $x$",
    "www.evil.example/x, https://evil.example/?q=1, HTTP://evil.example or mail@evil.example",
    f'"><a href="javascript:{RUNS}" autofocus onfocus="{RUNS}">x</a><!--<script>',
)


def hostile(*texts):
    """Blocks on the ground, called so."""
    world = ds.World(planar=True)
    world.add_ground(name=f"ground {texts[0]}")
    for k, text in enumerate(texts):
        world.add_body(ds.Rectangle(0.2, 0.2), name=text, position=(0.3 * k, 0.1))
    return world


VIEW = {"limits": ((-1.0, 1.0), (-0.2, 1.4))}


def ran(page):
    return page.evaluate("window.hacked || 0")


def harmless(opened):
    """Nothing ran, and no text became a part of the page."""
    return (
        ran(opened) == 0
        and not opened.locator("img[src=x], svg[onload], iframe, details").count()
        and not opened.locator("a[href*=evil], a[href*=mailto]").count()
    )


def letters(text):
    return "".join(text.replace(WORD_JOINER, "").split())


def test_the_viewer(look):
    """Picked bodies and contacts, titles, labels of sliders, and errors that name a body."""
    sim = ds.Simulation(hostile(*HOSTILE), ds.TimeStepping(dt=1 / 120))
    sim.run(0.1)
    sliders = [{"what": "gravity", "label": text, "low": 0.0, "high": 20.0} for text in HOSTILE]
    seen = look(sim, playing=False, title=HOSTILE[0], view=VIEW | {"sliders": sliders})
    viewer, opened = seen.viewer, seen.page

    def shows(text):
        return letters(text) in letters(opened.inner_text("body"))

    for k, text in enumerate(HOSTILE):
        viewer.do("pick", "contact", k)
        viewer.do("pick", "body", 1 + k)
        seen.until(lambda text=text: shows(f"{text}\nmass"))
        viewer._failed(ds.SimulationError(f"body {k}: {text}"))
        seen.until(lambda text=text, k=k: shows(f"The simulation stopped. body {k}: {text}"))
        assert harmless(opened), text


def test_an_exported_page(browser, tmp_path):
    sim = ds.Simulation(hostile(*HOSTILE), ds.TimeStepping(dt=1 / 60))
    text = HOSTILE[4]
    sim.origin = {"scene": text, "title": text, "settings": {text: text}, "view": VIEW}
    run = sim.run(0.1, record=True, contacts=True)
    place = tmp_path / f"{HOSTILE[0].replace('/', '')}.html"
    labels = [HOSTILE[1], HOSTILE[-1]]
    place.write_text(with_this_player(page([run, run], labels=labels)))
    opened = browser.new_page()
    try:
        opened.goto(place.as_uri())
        opened.wait_for_selector("body.ready", timeout=600_000)
        assert opened.text_content("#title") == opened.title() == text
        for k, name in enumerate(HOSTILE):
            opened.evaluate(f"window.player.choose({1 + k})")
            for _ in range(1000):
                if opened.text_content("#name") == name:
                    break
                opened.wait_for_timeout(60)
            assert opened.text_content("#name") == name
        assert harmless(opened)
    finally:
        opened.close()
    ds.export(run, tmp_path / "single.html")


def test_data_of_a_page_that_is_none(tmp_path):
    run = ds.Simulation(hostile("a")).run(0.02, record=True)
    text = page(run)
    start = text.index('id="data-0">') + len('id="data-0">')
    with pytest.raises(ds.OptionError, match="not what this program writes"):
        with_this_player(text[:start] + "<!--<script>" + text[start:])


def test_markdown_of_what_is_picked():
    for text in HOSTILE:
        sim = ds.Simulation(hostile(text))
        sim.run(0.1)
        said = panel.body_text(sim.model, sim.state, 1, sim.contacts)
        said += panel.contact_text(sim.contacts[0])
        assert "<" not in said
        assert "javascript:" not in said
        assert "{" not in said
    assert for_markdown("a\n\n# b") == "a &#35; b"
    assert for_markdown("brick 3") == "brick 3"


def test_gltf(tmp_path):
    text = "\x1b]0;owned\x07 \u202ename"
    run = ds.Simulation(hostile(text)).run(0.05, record=True)
    data = ds.export(run, tmp_path / "a.glb").read_bytes()
    length = int.from_bytes(data[12:16], "little")
    names = [node.get("name") for node in json.loads(data[20 : 20 + length])["nodes"]]
    assert r"\x1b]0;owned\x07 \u202ename" in names
