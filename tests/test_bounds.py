"""What files may hold: sizes, counts and nesting, in numbers that the documentation states. A few
bytes never make a reader fill the memory, follow a link, or lose itself in depth."""

import json
import shutil
import tracemalloc
import zipfile

import h5py
import numpy as np
import pytest

import drystone as ds
from drystone.problems.files import fclib, shared, tokens
from drystone.recording.checksums import FIXED, checksum, text_array
from drystone.scene_files import text as scene_text

LITTLE = 50e6  # [bytes] of memory that a refusal may take


def refused(error, act, words):
    tracemalloc.start()
    try:
        with pytest.raises(error, match=words):
            act()
        assert tracemalloc.get_traced_memory()[1] < LITTLE
    finally:
        tracemalloc.stop()


# scenes


def scene(tmp_path, content, ending="yaml"):
    place = tmp_path / f"a.{ending}"
    place.write_text(content)
    return place


BODY = "{shape: {kind: disk, radius: 0.1}, position: [0, 1]"


@pytest.fixture(scope="module", autouse=True)
def readers_are_loaded(tmp_path_factory):
    """Once, before memory is counted."""
    ds.read_scene(scene(tmp_path_factory.mktemp("one"), f"planar: true\nbodies:\n  - {BODY}}}\n"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("bodies: " + "[" * 41 + "]" * 41, "nested more than 40"),
        ("a0: &a0 [1, 1]\n" + "".join(f"a{k + 1}: &a{k + 1} [{', '.join([f'*a{k}'] * 10)}]\n"
                                      for k in range(8)), "more than 3000000 values"),
        (f"planar: true\nbodies:\n  - {BODY}, name: {'x' * 501}}}\n", "name"),
        (f"planar: true\nbodies:\n  - {BODY}, name: a, range: {{count: 200001}}}}\n", "200000"),
        ("bodies: [" + "9" * 401 + "]", "digits"),
        ("bodies: !!python/object/apply:os.system [true]", "tag"),
    ],
)  # fmt: skip
def test_scenes(tmp_path, content, words):
    refused(ds.SceneFileError, lambda: ds.read_scene(scene(tmp_path, content)), words)


def test_a_scene_of_more_than_64_mb(tmp_path):
    place = tmp_path / "a.yaml"
    with place.open("wb") as file:
        file.truncate(scene_text.MAX_BYTES + 1)
    with pytest.raises(ds.SceneFileError, match="more than 64 MB"):
        ds.read_scene(place)


def test_copies_of_joints_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("drystone.scene_files.build.MAX_BODIES", 30)
    spring = "{kind: spring, a: ball, anchor_b: [0, 1], stiffness: 1, range: {count: 20}}"
    content = f"planar: true\nbodies:\n  - {BODY}, name: ball}}\nforces:\n" + f"  - {spring}\n" * 2
    with pytest.raises(ds.SceneFileError, match="more than 30 forces"):
        ds.read_scene(scene(tmp_path, content))


# problems


def test_archives_that_unpack_to_much(tmp_path, monkeypatch):
    place = tmp_path / "a.npz"
    n = 2000
    ds.write_problem(ds.LCP(np.eye(n), np.ones(n)), place)
    with zipfile.ZipFile(place) as old, zipfile.ZipFile(tmp_path / "b.npz", "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name), zipfile.ZIP_DEFLATED)
    assert (tmp_path / "b.npz").stat().st_size < 1e6
    monkeypatch.setattr(shared, "UNPACKED_BYTES", 2**24)
    refused(ds.ProblemFileError, lambda: ds.read_problem(tmp_path / "b.npz"), "GiB unpacked")


def test_hdf5_that_unpacks_to_much(tmp_path, monkeypatch):
    place = tmp_path / "a.hdf5"
    with h5py.File(place, "w") as file:
        file["fclib_local/W/m"] = 3
        file["fclib_local/spacedim"] = 3
        file.create_dataset("fclib_local/W/x", data=np.zeros(10**6), compression="gzip")
    monkeypatch.setattr(shared, "UNPACKED_BYTES", 2**20)
    with h5py.File(place) as file:
        reader = fclib.Reader(place, file)
        refused(ds.ProblemFileError, lambda: reader.array("fclib_local/W/x", "f"), "unpacked")


def test_long_texts(tmp_path, monkeypatch):
    place = tmp_path / "a.dat"
    with place.open("wb") as file:
        file.truncate(tokens.TEXT_BYTES + 1)
    refused(ds.ProblemFileError, lambda: ds.read_problem(place), "more than 1024 MiB")


# recordings


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("bounds") / "a.h5"
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="disk", position=(0, 0.3))
    ds.Simulation(world).run(0.05, record=path, every=4).close()
    return path


@pytest.fixture
def spoilt(recorded, tmp_path):
    """spoilt(change) -> path: a recording in which somebody changed something on purpose."""

    def make(change):
        path = tmp_path / "b.h5"
        shutil.copy(recorded, path)
        with h5py.File(path, "r+", libver="latest") as file:
            change(file)
            if all(isinstance(file.get(name), h5py.Dataset) for name in FIXED):
                file["sum"][0] = checksum({name: file[name][()] for name in FIXED})
        return path

    return make


def replaced(name, **options):
    def change(file):
        del file[name]
        file.create_dataset(name, **options)

    return change


def linked(name, link):
    def change(file):
        del file[name]
        file[name] = link

    return change


def virtual(file):
    del file["frames/kick"]
    layout = h5py.VirtualLayout((10,), "f8")
    layout[:] = h5py.VirtualSource("/etc/passwd", "x", (10,))
    file.create_virtual_dataset("frames/kick", layout)


HUGE = {"shape": (2**50, 2), "dtype": "f8", "chunks": (1024, 2), "maxshape": (None, 2)}
PACKED = {"data": np.zeros((1000, 1000)), "compression": "gzip"}
OUTSIDE = {"shape": (10,), "dtype": "f8", "external": [("/etc/passwd", 0, 80)]}
SPOILT = {
    "huge": (replaced("contacts/numbers", **HUGE), "claims .* bytes, the file has"),
    "packed": (replaced("frames/position", **PACKED), "is compressed"),
    "outside": (replaced("frames/kick", **OUTSIDE), "in another file"),
    "virtual": (virtual, "in another file"),
    "soft": (linked("runs", h5py.SoftLink("/ended")), "is a link"),
    "external": (linked("runs", h5py.ExternalLink("/etc/passwd", "/")), "is a link"),
    "texts": (replaced("runs", data=np.array(["a" * 10], object)), "is not numeric"),
    "parts": (lambda file: [file.create_group(f"g{k}") for k in range(101)], "too many parts"),
    "depth": (lambda file: file.create_group("a/b/c/d/e/f"), "too many parts"),
    "nested": (
        replaced("about", data=text_array('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}")),
        "is damaged",
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_recordings(spoilt, name):
    change, words = SPOILT[name]
    path = spoilt(change)
    refused(ds.RecordingError, lambda: ds.read_recording(path), words)
    refused(ds.RecordingError, lambda: ds.resume(path, until=1.0), words)


def test_documents_in_recordings_have_the_limits_of_scenes(spoilt):
    deep = json.dumps({"bodies": 1})[:-1] + ', "x": ' + "[" * 50 + "]" * 50 + "}"
    path = spoilt(replaced("document", data=text_array(deep)))
    with pytest.raises(ds.SceneFileError, match="nested more than 40"):
        ds.read_recording(path).world  # noqa: B018
