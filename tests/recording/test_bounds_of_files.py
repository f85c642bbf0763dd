"""Small files that claim much: whoever writes them knows the checksums."""

import json

import h5py
import numpy as np
import pytest

import drystone as ds
from drystone.kernels import kinds
from drystone.recording import checksums, packing, reports


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "a.h5"
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="disk", position=(0, 0.1))
    ds.Simulation(world, ds.TimeStepping(dt=0.01)).run(0.05, record=path, every=1)
    return path


def forged(recorded, path, **changed):
    """The same file with other datasets (groups by two underscores), and with right checksums."""
    with h5py.File(recorded) as old, h5py.File(path, "w", libver="latest") as new:
        names = []
        old.visititems(lambda name, item: names.append(name) if hasattr(item, "shape") else None)
        parts = {name: old[name][()] for name in names}
        parts |= {name.replace("__", "/"): value for name, value in changed.items()}
        fixed = checksums.checksum({name: parts[name] for name in checksums.FIXED})
        parts["sum"] = np.array([fixed], parts["sum"].dtype)
        for name, value in parts.items():
            new[name] = value
    return path


def test_a_file_that_was_only_copied_is_whole(recorded, tmp_path):
    assert ds.read_recording(forged(recorded, tmp_path / "b.h5")).damage == ()


def packed(value, data):
    body = json.dumps(value).encode()
    head = len(body).to_bytes(8, "little")
    body += data
    total = packing.zlib.crc32(body).to_bytes(4, "little")
    return packing.MARK + total + head + body


def test_no_array_begins_before_the_one_before_it():
    width = 1000
    again = [{"__array__": [f"<U{width}", [1]]}, {"__array__": [f"<U{width}", [-1]]}]
    with pytest.raises(ds.RecordingError, match="array of"):
        packing.unpack(packed(again * 50, bytes(4 * width)))
    for shape in ([1.0], [True], ["1"], [-3], [10**30, 0]):
        with pytest.raises(ds.RecordingError):
            packing.unpack(packed({"__array__": ["<f8", shape]}, bytes(8)))


def test_texts_beside_arrays_are_limited(monkeypatch):
    monkeypatch.setattr(packing, "MAX_TEXT", 1000)
    with pytest.raises(TypeError, match="cannot be kept"):
        packing.pack({"a": "x" * 1000})
    with pytest.raises(ds.RecordingError, match="at most 1000"):
        packing.unpack(packed({"a": "x" * 1000}, b""))
    assert packing.unpack(packing.pack({"a": np.ones(1000)}))["a"].sum() == 1000


def test_no_text_is_read_twice(recorded, tmp_path):
    data = np.frombuffer(b"x" * 1000, np.uint8)
    row = [1000, 1000, checksums.note_sum(np.array([1000, 1000]), data.tobytes())]
    path = forged(recorded, tmp_path / "b.h5", notes=data, note_index=np.array([row] * 100))
    texts = ds.read_recording(path)._texts
    assert sum(text is not None for text in texts) == 1


def test_no_checkpoint_is_read_twice(recorded, tmp_path):
    with h5py.File(recorded) as old:
        row = old["checkpoints/index"][:1]
    path = forged(recorded, tmp_path / "b.h5", checkpoints__index=np.repeat(row, 100, axis=0))
    with pytest.raises(ds.RecordingError, match="not in order"):
        ds.read_recording(path).checkpoints  # noqa: B018


def test_rows_of_nothing_are_counted(recorded, tmp_path):
    path = tmp_path / "b.h5"
    names = ("time", "kick", "ends", "sums", "position", "orientation", "velocity", "report")
    empty = {f"frames__{name}": np.empty((10**9, 0)) for name in names}
    forged(recorded, path, **empty)
    with pytest.raises(ds.RecordingError, match="claims"):
        ds.read_recording(path)


def test_long_texts(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr("drystone.recording.reader.MAX_TEXT", 100)
    with pytest.raises(ds.RecordingError, match="more than 100 bytes"):
        ds.read_recording(recorded)


@pytest.mark.parametrize(
    ("name", "value"),
    [("dt", "x"), ("dt", 0), ("every", None), ("every", 0), ("dim", 4), ("info", 1.5),
     ("settings", ["a"]), ("view", "x"), ("title", 3), ("method", []), ("scene", {})],
)  # fmt: skip
def test_what_a_recording_says_of_itself(recorded, tmp_path, name, value):
    with h5py.File(recorded) as old:
        about = json.loads(old["about"][()].tobytes())
    text = json.dumps(about | {name: value})
    path = forged(recorded, tmp_path / "b.h5", about=checksums.text_array(text))
    with pytest.raises(ds.RecordingError, match="is damaged"):
        ds.read_recording(path)


def test_reports_that_are_none(recorded, tmp_path):
    with h5py.File(recorded) as old:
        rows = old["frames/report"][()]
        table = old["frames/sums"][()]
    narrow = rows[:, :3].copy()
    table[:, 4] = checksums.row_sums(narrow)
    path = forged(recorded, tmp_path / "b.h5", frames__report=narrow, frames__sums=table)
    rec = ds.read_recording(path)
    for read in (lambda: rec.reports(1), lambda: rec.series("kinetic")):
        with pytest.raises(ds.RecordingError):
            read()
    endless = rows.copy()
    endless[:] = np.inf
    table[:, 4] = checksums.row_sums(endless)
    forged(recorded, path, frames__report=endless, frames__sums=table)
    with pytest.raises(ds.RecordingError, match="cannot be read"):
        ds.read_recording(path).reports(1)


@pytest.mark.parametrize(
    ("name", "change"),
    [("position", lambda x: x[:, 0]), ("position", lambda x: x.astype("S3")),
     ("position", lambda x: x[:, :1]), ("velocity", lambda x: x[:, :, :1]),
     ("kick", lambda x: x[0]), ("orientation", lambda x: x[:, :, None]),
     ("time", lambda x: x[:, None])],
)  # fmt: skip
def test_states_of_another_kind(recorded, tmp_path, name, change):
    with h5py.File(recorded) as old:
        found = change(old[f"frames/{name}"][()])
    path = forged(recorded, tmp_path / "b.h5", **{f"frames__{name}": found})
    with pytest.raises(ds.RecordingError, match="damaged"):
        ds.read_recording(path)


def test_frames_of_another_number_of_bodies(recorded, tmp_path):
    changed, names = {}, ("position", "orientation", "velocity")
    with h5py.File(recorded) as old:
        table = old["frames/sums"][()]
        for column, name in enumerate(names, 1):
            rows = old[f"frames/{name}"][()]
            changed[f"frames__{name}"] = np.concatenate([rows, rows], axis=1)
            table[:, column] = checksums.row_sums(changed[f"frames__{name}"])
    path = forged(recorded, tmp_path / "b.h5", frames__sums=table, **changed)
    with pytest.raises(ds.RecordingError, match="its model has 2 bodies, its frames have 4"):
        ds.read_recording(path).model  # noqa: B018


def test_places_beyond_all_bounds(recorded, tmp_path):
    """The bodies' range overflows: JSON has no word for it."""
    with h5py.File(recorded) as old:
        places = old["frames/position"][()]
        table = old["frames/sums"][()]
    places[0], places[-1] = -1.7e308, 1.7e308
    table[:, 1] = checksums.row_sums(places)
    path = forged(recorded, tmp_path / "b.h5", frames__position=places, frames__sums=table)
    rec = ds.read_recording(path)
    for kind in ("html", "glb"):
        with pytest.raises(ds.OptionError, match="not finite"), np.errstate(all="ignore"):
            ds.export(rec, tmp_path / f"x.{kind}")


@pytest.fixture(scope="module")
def solid(tmp_path_factory):
    path = tmp_path_factory.mktemp("solid") / "a.h5"
    world = ds.World()
    world.add_ground()
    world.add_body(ds.Box(0.2, 0.2, 0.2), name="box", position=(0, 0, 0.1))
    world.add_body(ds.Sphere(0.1), name="ball", position=(1, 0, 0.1))
    ds.Simulation(world, ds.TimeStepping(dt=0.01)).run(0.02, record=path, every=1)
    return path


def swapped(first, second):
    def change(arrays):
        kind = arrays["geoms.kind"]
        a, b = np.isin(kind, first), np.isin(kind, second)
        assert a.any()
        kind[a], kind[b] = second, first

    return change


def number(place, value):
    def change(arrays):
        arrays["geoms.ints"][place] = value

    return change


def real_ints(arrays):
    arrays["geoms.ints"] = arrays["geoms.ints"].astype(float)


def shorter(arrays):
    first = arrays["geoms.first"]
    first[np.argmax(np.diff(first)) + 1 :] -= 1


@pytest.mark.parametrize(
    "change",
    [swapped(kinds.SPHERE, kinds.DISK), swapped(kinds.SPHERE, kinds.POLYHEDRON),
     swapped(kinds.SPHERE, 77), swapped(kinds.POLYHEDRON, kinds.SURFACE), shorter, real_ints,
     number(0, 9), number(1, 5), number(2, 2**62), number(3, 1), number(4, 1), number(10, 8),
     number(10, -1), number(34, 8), number(36, 6), number(-1, 8), number(-25, 1)],
)  # fmt: skip
def test_geoms_whose_numbers_are_those_of_another_kind(solid, tmp_path, change):
    with h5py.File(solid) as old:
        arrays = packing.unpack(old["model"][()].tobytes())
    arrays = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in arrays.items()}
    change(arrays)
    path = forged(solid, tmp_path / "b.h5", model=np.frombuffer(packing.pack(arrays), np.uint8))
    with pytest.raises(ds.RecordingError, match="numbers of geom"):
        ds.export(ds.read_recording(path), tmp_path / "x.html")


def with_number(recorded, path, name, value):
    with h5py.File(recorded) as old:
        rows = old["frames/report"][()]
        table = old["frames/sums"][()]
    rows[1:, reports.PLACE[name]] = 1e-12
    rows[2, reports.PLACE[name]] = value
    table[:, 4] = checksums.row_sums(rows)
    return ds.read_recording(forged(recorded, path, frames__report=rows, frames__sums=table))


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize("name", ["contacts", "islands", "iterations", "dt", "time"])
def test_counts_and_times_that_are_no_numbers(recorded, tmp_path, name, value):
    rec = with_number(recorded, tmp_path / "b.h5", name, value)
    with pytest.raises(ds.RecordingError, match=f"{name} that is no number"):
        rec.series(name)
    if name != "time":  # plots take that of frames
        with pytest.raises(ds.RecordingError, match="no number"):
            ds.plot(rec, ["energy", "gap", "residual"])


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize("name", ["penetration", "joint_error", "residual", "friction", "kinetic"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_motions_without_bounds_are_drawn_as_far_as_they_have_them(recorded, tmp_path, name, value):
    rec = with_number(recorded, tmp_path / "b.h5", name, value)
    for axes in ds.plot(rec, ["energy", "gap", "residual"]).axes:
        assert np.isfinite(axes.get_ylim()).all()
