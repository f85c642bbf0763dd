"""Recordings as tables, in pandas and as CSV; runs in memory give the same."""

import csv

import numpy as np
import pytest

import drystone as ds
from drystone.recording.base import Replay
from drystone.recording.opening import lookup3
from drystone.recording.packing import pack, unpack
from drystone.recording.tables import write_csv
from drystone.scenes import scene


@pytest.fixture(scope="module", params=["spheres", "four-bar"])
def rec(request, tmp_path_factory):
    settings = {"n": 10} if request.param == "spheres" else {}
    sim = scene(request.param, **settings).simulation()
    path = tmp_path_factory.mktemp("tables") / "a.h5"
    with sim.run(40 * sim.method.dt, record=path, every=8) as rec:
        yield rec


def test_bodies(rec):
    pandas = pytest.importorskip("pandas")
    table = rec.to_pandas("bodies")
    assert isinstance(table, pandas.DataFrame)
    assert len(table) == len(rec) * len(rec.names)
    body = rec.names[-1]
    mine = table[table.body == body]
    assert np.array_equal(mine.time, rec.time)
    assert np.array_equal(mine[["x", "y"]], rec.position[:, -1, :2])
    assert np.array_equal(mine.vx, rec.velocity[:, -1, 0])
    assert len(rec.to_pandas("bodies", frame=-1)) == len(rec.names)


@pytest.mark.parametrize("what", ["contacts", "joints", "reports"])
def test_other_tables(rec, what):
    pytest.importorskip("pandas")
    table = rec.to_pandas(what)
    last = rec.to_pandas(what, frame=len(rec) - 1)
    if what == "reports":
        assert np.array_equal(table.residual, rec.series("residual"))
        assert np.array_equal(table.total, rec.series("total"))
        assert len(table) == len(rec) - 1
        return
    rows = getattr(rec, what)(len(rec) - 1)
    assert len(last) == len(rows)
    assert len(table) == sum(len(getattr(rec, what)(k)) for k in range(len(rec)))
    if len(rows):
        assert np.array_equal(last.force_x, rows["force"][:, 0])
        assert list(last.body_a) == list(rows["bodies"][:, 0])


def test_csv_has_all_bits(rec, tmp_path):
    path = tmp_path / "a.csv"
    assert write_csv(rec, path, "bodies") == len(rec) * len(rec.names)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    x = np.array([float(row["x"]) for row in rows]).reshape(len(rec), -1)
    assert np.array_equal(x, rec.position[:, :, 0])
    with pytest.raises(ds.OptionError, match="expected bodies"):
        write_csv(rec, path, "forces")
    with pytest.raises(ds.OptionError, match="frame = 999"):
        write_csv(rec, path, "bodies", 999)


def test_files_and_memory_are_read_alike(tmp_path):
    a, b, c = (scene("spheres", n=10).simulation() for _ in range(3))
    kept = a.run(0.2, record=True, every=4, contacts=True)
    rec = b.run(0.2, record=tmp_path / "a.h5", every=4)
    assert isinstance(kept, Replay)
    assert isinstance(rec, Replay)
    assert kept.title == rec.title
    assert kept.view.keys() == rec.view.keys()
    assert np.array_equal(kept.position, rec.position)
    assert np.array_equal(kept.series("contacts"), rec.series("contacts"))
    assert all(np.array_equal(kept.contacts(k), rec.contacts(k)) for k in range(len(rec)))
    with pytest.raises(ds.OptionError, match="contacts=True"):
        c.run(0.1, record=True).contacts(2)


def test_frames_are_counted_from_either_end(rec):
    assert np.array_equal(rec.state(-1).position, rec.state(len(rec) - 1).position)
    with pytest.raises(IndexError, match="frame 99"):
        rec.state(99)
    with pytest.raises(IndexError, match="no step led to it"):
        rec.reports(0)
    with pytest.raises(AttributeError, match="residul"):
        rec.series("residul")


def test_packed_values_come_back():
    value = {
        "a": np.arange(6.0).reshape(2, 3),
        "b": {"c": [1, 2.5, None, True, "text"], "d": np.array(["x", "yy"])},
        "big": 2**100,
        "nan": float("nan"),
    }
    data = pack(value)
    back = unpack(data)
    assert np.array_equal(back["a"], value["a"])
    assert back["b"]["c"] == value["b"]["c"]
    assert list(back["b"]["d"]) == ["x", "yy"]
    assert back["big"] == 2**100
    for k in range(0, len(data), 7):
        bad = bytearray(data)
        bad[k] ^= 0x10
        with pytest.raises(ds.RecordingError):
            unpack(bytes(bad))
    with pytest.raises(ds.RecordingError):
        unpack(data[:-1])
    with pytest.raises(TypeError, match="object"):
        pack({"x": object()})


def test_the_checksum_is_that_of_jenkins():
    assert lookup3(b"") == 0xDEADBEEF
    assert lookup3(b"Four score and seven years ago") == 0x17770551
