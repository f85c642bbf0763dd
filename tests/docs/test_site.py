"""The site builds without a warning, needs no network, and holds what the pages promise."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import drystone as ds
from drystone.scenes import SCENES

for library in ("mkdocs", "material", "mkdocstrings", "latex2mathml"):
    pytest.importorskip(library)

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}
LINKED = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "modulepreload", "manifest"}


class Page(HTMLParser):
    """What a page loads, where it links, its anchors, and the text a reader sees."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.links, self.anchors, self.text = [], [], set(), []
        self.formulas, self.hidden = 0, 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag in LOADS and given.get(LOADS[tag]):
            self.loads.append(given[LOADS[tag]])
        if tag == "link" and LINKED & set((given.get("rel") or "").split()):
            self.loads.append(given["href"])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get("id"):
            self.anchors.add(given["id"])
        self.formulas += tag == "math"
        self.hidden += tag in ("pre", "code", "script", "style", "math")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("pre", "code", "script", "style", "math")

    def handle_data(self, data):
        if not self.hidden:
            self.text.append(data)


def load(path):
    """A script of the documentation as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site in a folder of its own; proxies lead nowhere, so that a fetch would fail."""
    folder = tmp_path_factory.mktemp("site")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """All pages of the site by path, without the replays."""
    found = (p for p in site.rglob("*.html") if "replays" not in p.parts)
    return {p.relative_to(site).as_posix(): Page(p.read_text()) for p in sorted(found)}


def test_every_page_is_there(pages):
    for source in DOCS.rglob("*.md"):
        assert source.relative_to(DOCS).with_suffix(".html").as_posix() in pages
    for name in ("changes", "benchmarks/index", "benchmarks/results/scenes", "reproducing"):
        assert f"{name}.html" in pages


def test_nothing_comes_from_elsewhere(site, pages):
    """Scripts, styles, fonts, pictures: all are files of the site."""
    for name, page in pages.items():
        for target in page.loads:
            if target.startswith("data:"):
                continue
            assert not urlsplit(target).netloc, f"{name} loads {target}"
            place = site / name if name != "404.html" else site / "index.html"
            file = (place.parent / unquote(urlsplit(target).path.lstrip("/"))).resolve()
            assert file.exists(), f"{name} loads {target}"
    for style in site.rglob("*.css"):
        text = style.read_text()
        assert not re.search(r"(url\(\s*|@import\s+)[\"']?(https?:)?//", text), style.name
    for script in (site / "theme").rglob("*.js"):
        assert "http" not in script.read_text()


def test_links_lead_to_pages_and_anchors(site, pages):
    for name, page in pages.items():
        for target in page.links:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or name == "404.html" or "replays/" in target:
                continue
            place = name if not parts.path else (site / name).parent / unquote(parts.path)
            path = (site / name if not parts.path else place).resolve()
            assert path.exists(), f"{name} links to {target}"
            other = pages.get(path.relative_to(site.resolve()).as_posix())
            if parts.fragment and other is not None:
                known = other.anchors | {"__top", ""}
                assert unquote(parts.fragment) in known, f"{name} links to {target}"


def test_formulas_are_drawn(pages):
    theory = [page for name, page in pages.items() if name.startswith("theory/")]
    assert sum(page.formulas for page in theory) > 300
    for name, page in pages.items():
        text = " ".join(page.text)
        assert "zqm" not in text, name
        assert "$" not in text, f"{name}: {text[text.index('$') - 40 :][:80]}"


def test_every_formula_of_the_sources_arrives(pages):
    """As many formulas as the Markdown has pairs of dollars, page by page."""
    for source in sorted((DOCS / "theory").glob("*.md")):
        text = re.sub(r"^```.*?^```|`[^`\n]*`|^#.*?$", "", source.read_text(), flags=re.M | re.S)
        display = len(re.findall(r"\$\$.+?\$\$", text, re.S))
        inline = len(re.findall(r"\$[^$]+\$", re.sub(r"\$\$.+?\$\$", "", text, flags=re.S)))
        assert pages[f"theory/{source.stem}.html"].formulas == display + inline, source.name


def test_the_reference_has_every_public_name(pages):
    anchors = {}
    for name, page in pages.items():
        if name.startswith("reference/"):
            anchors.update(dict.fromkeys(page.anchors, name))
    for name in set(ds.__all__) - {"__version__"}:
        assert f"drystone.{name}" in anchors
    assert "drystone.World.add_body" in anchors
    assert any(f"#drystone.{'World'}" in link for link in pages["api.html"].links)


def test_a_browser_needs_nothing_else(site):
    """Opened from the folder: formulas have a size, and no request leaves it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    driver = pytest.importorskip("playwright.sync_api")
    asked = []
    with driver.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        for name in ("index", "theory/time_stepping", "gallery/index", "reference/worlds"):
            page.goto((site / f"{name}.html").as_uri())
            page.wait_for_load_state("networkidle")
            assert "drystone" in page.title().lower()
            boxes = page.locator("math").evaluate_all("all => all.map(m => m.clientWidth)")
            assert all(width > 0 for width in boxes)
            assert len(boxes) > 50 or "theory" not in name
            blank = "all => all.filter(i => !i.naturalWidth).map(i => i.src)"
            assert page.locator("img").evaluate_all(blank) == []
        browser.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.fixture(scope="module")
def gallery():
    return load(DOCS / "make_gallery.py")


def test_the_gallery_shows_every_scene(gallery):
    assert set(gallery.claims()) == set(SCENES)
    assert gallery.PAGE.read_text() == gallery.page(), "run: python docs/make_gallery.py --page"
    for name, entry in gallery.claims().items():
        size = (gallery.PICTURES / f"{name}.webp").stat().st_size
        assert 0 < size <= 40 * 1024, name
        assert (ROOT / entry["test"]).exists(), entry["test"]
        assert name in entry["command"].split()
        ds.scene(name, **entry.get("set", {}))


def test_a_scene_is_asserted_where_the_gallery_says(gallery):
    """The test that an entry names runs the scene."""
    for name, entry in gallery.claims().items():
        assert name in (ROOT / entry["test"]).read_text(), (name, entry["test"])


def test_the_gallery_embeds_replays_that_have_been_made(gallery, tmp_path, monkeypatch):
    """One replay from the scene to the page that holds it; none, no player."""
    hooks = load(DOCS / "theme" / "hooks.py")
    text = gallery.page()
    assert hooks._with_replays(text, tmp_path) == text
    short = {"rolling-ball": {**gallery.claims()["rolling-ball"], "until": 0.05}}
    monkeypatch.setattr(gallery, "claims", lambda: short)
    monkeypatch.setattr(gallery, "REPLAYS", tmp_path)
    assert "replay" in gallery.write_replay("rolling-ball")
    assert gallery.write_replay("rolling-ball").endswith("up to date")
    found = hooks._with_replays(text, tmp_path)
    assert found.count("<iframe") == 1
    assert 'src="replays/rolling-ball.html"' in found
    page = (tmp_path / "rolling-ball.html").read_text()
    assert not re.search(r"(src|href)\s*=\s*[\"']?https?:", page)


def test_layers_of_a_picture(gallery):
    """The last moment is in front, earlier ones are fainter, what rests stays."""
    import numpy as np

    ground = np.full((4, 9, 3), 240, np.uint8)
    moments = [ground.copy() for _ in range(3)]
    for k, moment in enumerate(moments):
        moment[1, 3 * k] = 40
    out = gallery.layered(moments)
    assert (out[1, 6] == 40).all()
    assert 240 > out[1, 0, 0] > out[1, 3, 0] > 40
    assert (out[2] == 240).all()
    assert gallery.layered(moments[:1]) is moments[0]
