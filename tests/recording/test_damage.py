"""One damaged byte, anywhere: it is found and named with its time, or nothing that is read changes;
what is whole can be read, and nothing hangs."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.cli.main import app
from drystone.recording import layout

PARTS = ("time", "position", "orientation", "velocity")


def hanging():
    """Boxes on the ground and a pendulum: contacts, joints, reports, checkpoints."""
    world = ds.World()
    world.add_ground(friction=0.5)
    for k in range(2):
        world.add_body(
            ds.Box(0.2, 0.1, 0.06), name=f"box{k}", position=(0.01 * k, 0, 0.03 + 0.06 * k)
        )
    world.add_body(ds.Sphere(0.05), name="bob", position=(1.2, 0, 1.0))
    world.add_joint(ds.Hinge("bob", "world", anchor=(1.0, 0, 1.0), axis=(0, 1, 0), name="hinge"))
    return ds.Simulation(world)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("damage") / "a.h5"
    hanging().run(0.05, record=path, every=1).close()
    return path


def everything(rec):
    """All that can be asked of a recording, by name."""
    out = {name: getattr(rec, name).tobytes() for name in PARTS}
    for k in range(len(rec)):
        out[f"contacts {k}"] = rec.contacts(k).tobytes()
        out[f"joints {k}"] = rec.joints(k).tobytes()
        state = rec.state(k)
        out[f"state {k}"] = state.position.tobytes() + state.velocity.tobytes()
        if k:
            out[f"report {k}"] = repr(rec.reports(k))
    for name in ("residual", "total", "unexplained"):
        out[name] = rec.series(name).tobytes()
    for k in range(len(rec.checkpoints)):
        out[f"snapshot {k}"] = repr(rec.snapshot(k))
    out["facts"] = repr((rec.runs, rec.complete, rec.names, rec.document, rec.solved()))
    return out


def read(path):
    with ds.read_recording(path) as rec:
        return everything(rec)


def damaged(data, rng, path):
    at = int(rng.integers(0, len(data)))
    bad = bytearray(data)
    bad[at] ^= int(rng.integers(1, 256))
    path.write_bytes(bad)
    return at


def single_damages(recorded, folder, count, seed):
    """How many of so many changed bytes were refused; none may change what is read."""
    data, whole, path = recorded.read_bytes(), read(recorded), folder / "bad.h5"
    rng, refused = np.random.default_rng(seed), 0
    for _ in range(count):
        at = damaged(data, rng, path)
        try:
            found = read(path)
        except ds.RecordingError as error:
            said, found = str(error), None
        assert found == whole or (found is None and str(path) in said), at
        refused += found is None
    return refused


def test_single_damages(recorded, tmp_path):
    assert single_damages(recorded, tmp_path, 16, 1) > 0


@pytest.mark.fuzz
def test_a_thousand_single_damages(recorded, tmp_path):
    assert single_damages(recorded, tmp_path, 1000, 2) > 100


def rows_at(recorded, name, row):
    """Where a row of a dataset lies in the file."""
    with ds.read_recording(recorded) as rec:
        item = rec.file[name]
        if item.chunks is None:
            return item.id.get_offset()
        chunk = item.id.get_chunk_info(row // item.chunks[0])
        each = item.dtype.itemsize * int(np.prod(item.shape[1:]))
        return chunk.byte_offset + (row % item.chunks[0]) * each


FRAME = 7
PLACES = ("time", "position", "orientation", "velocity", "report", "kick", "ends", "sums")


def with_damage(recorded, path, name, row):
    bad = bytearray(recorded.read_bytes())
    bad[rows_at(recorded, name, row)] ^= 0x10
    path.write_bytes(bad)
    return path


@pytest.mark.parametrize("name", PLACES)
def test_what_is_damaged_is_named_and_the_rest_can_be_read(recorded, tmp_path, name):
    path = with_damage(recorded, tmp_path / "bad.h5", f"frames/{name}", FRAME)
    with ds.read_recording(recorded) as rec:
        when, whole, n = f"{rec.time[FRAME]:g} s", everything(rec), len(rec)
        others = np.delete(np.arange(n), [FRAME, FRAME + 1])
        position = rec.position
    with pytest.raises(ds.RecordingError, match=rf"damaged: .* of frame {FRAME} \(.*{when}\)"):
        read(path)
    with ds.read_recording(path, salvage=True) as rec:
        assert rec.damage
        assert rec.damage[0].startswith(f"frame {FRAME} (")
        assert when in rec.damage[0]
        kept = np.delete(np.arange(n), [int(line.split()[1]) for line in rec.damage])
        assert set(others) <= set(kept)
        assert np.array_equal(rec.position, position[kept])
        for k, at in enumerate(kept):
            assert rec.contacts(k).tobytes() == whole[f"contacts {at}"]
            assert k == 0 or repr(rec.reports(k)) == whole[f"report {at}"]
        assert len(rec.series("total")) == len(rec.solved()) == len(kept) - 1
        assert len(rec.to_pandas("contacts"))


@pytest.mark.parametrize("name", ["contacts/numbers", "contacts/bodies", "joints", "islands"])
def test_rows_of_frames(recorded, tmp_path, name):
    with ds.read_recording(recorded) as rec:
        row = int(rec.ends[FRAME, layout.RAGGED[name]]) - 1
        when = f"{rec.time[FRAME]:g} s"
    path = with_damage(recorded, tmp_path / "bad.h5", name, row)
    with pytest.raises(ds.RecordingError, match=rf"{name} of frame {FRAME} \({when}\)"):
        read(path)
    with ds.read_recording(path) as rec:
        rec.position, rec.contacts(FRAME - 1), rec.joints(FRAME + 1)
    with ds.read_recording(path, salvage=True) as rec:
        assert rec.damage == (f"frame {FRAME} ({when}): {name}",)
        assert len(everything(rec))


def test_what_all_contacts_share(recorded, tmp_path):
    """The friction of every contact was said once: damaged there, all frames with contacts are."""
    path = with_damage(recorded, tmp_path / "bad.h5", "contacts/laws", 0)
    with pytest.raises(ds.RecordingError, match="contacts/laws of frame 1 "):
        read(path)


def test_texts_and_checkpoints(recorded, tmp_path):
    for name, word in (
        ("notes", "text of the report"), ("note_index", "text of the report"),
        ("checkpoints/data", "checkpoint 0"), ("checkpoints/index", "checkpoint 0"),
        ("runs", "runs"), ("ended", "ended"), ("model", "model"), ("about", "damaged"),
        ("document", "damaged"), ("sum", "damaged"),
    ):  # fmt: skip
        path = with_damage(recorded, tmp_path / "bad.h5", name, 0)
        with pytest.raises(ds.RecordingError, match=word):
            read(path)


def test_a_summary_needs_no_checkpoint_that_is_damaged(recorded, tmp_path):
    with ds.read_recording(recorded) as rec:
        n, whole = len(rec.checkpoints), rec.summary
        ends = np.cumsum(rec.checkpoints[:, 2])
    assert n > 1
    assert whole.steps == len(rec) - 1
    path = with_damage(recorded, tmp_path / "bad.h5", "checkpoints/data", int(ends[-1]) - 1)
    with pytest.raises(ds.RecordingError, match=f"checkpoint {n - 1}"):
        _ = ds.read_recording(path).summary
    with ds.read_recording(path, salvage=True) as rec:
        assert rec.summary.steps == whole.steps  # from the frames: the first checkpoint has none
        assert rec.summary.residual == whole.residual


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_commands(recorded, tmp_path):
    path = with_damage(recorded, tmp_path / "bad.h5", "frames/position", FRAME)
    out = command("check", path)
    assert out.exit_code == 2
    assert f"damaged: frame {FRAME} (0.0" in out.output
    assert "of 13 frames are whole" in out.output
    told = json.loads(command("check", path, "--json").stdout)
    assert not told["ok"]
    assert "position" in told["errors"][0]
    table = tmp_path / "a.csv"
    assert command("export", path, "-o", table).exit_code == 2
    out = command("export", path, "-o", table, "--salvage")
    assert out.exit_code == 0
    assert "damaged, left out: frame 7" in out.output
    frames = {line.split(",")[1] for line in table.read_text().splitlines()[1:]}
    assert len(frames) == 12
    assert command("plot", path, "-o", tmp_path / "a.png", "--salvage").exit_code == 0
    assert command("plot", "wall", "-o", tmp_path / "a.png", "--salvage").exit_code == 2
    page = tmp_path / "a.html"
    assert command("view", path, "--html", page).exit_code == 2
    assert command("view", path, "--html", page, "--salvage").exit_code == 0
    assert command("check", recorded).exit_code == 0


def test_a_damaged_run_goes_on_from_before_the_damage(recorded, tmp_path):
    """What follows is made again, to the same bits; the damaged file stays."""
    end = hanging()
    end.run(0.1, record=tmp_path / "whole.h5", every=1)
    path = with_damage(recorded, tmp_path / "bad.h5", "frames/velocity", FRAME)
    before = path.read_bytes()
    sim = ds.resume(path, until=0.1, salvage=True)
    assert np.array_equal(sim.state.position, end.state.position)
    with ds.read_recording(path) as rec, ds.read_recording(tmp_path / "whole.h5") as whole:
        assert not rec.damage
        assert np.array_equal(rec.velocity, whole.velocity)
        assert np.array_equal(rec.contacts(-1), whole.contacts(-1))
    assert (tmp_path / "bad.damaged.h5").read_bytes() == before
    spoilt = with_damage(recorded, tmp_path / "spoilt.h5", "checkpoints/data", 40)
    with pytest.raises(ds.RecordingError, match="checkpoint 0 "):
        read(spoilt)


HEADERS = (b"EAHD", b"EAIB", b"OHDR", b"OCHK", b"FRHP", b"FHDB", b"BTHD", b"BTLF", b"EADB", b"EASB")


@pytest.mark.parametrize("most", [2, pytest.param(100, marks=pytest.mark.fuzz)])
def test_no_damaged_index_hangs_who_goes_on(recorded, tmp_path, most):
    """HDF5's own parts of the file: opened for writing, it would wait for ever for each of them."""
    data = recorded.read_bytes()
    path, places = tmp_path / "bad.h5", []
    for mark in HEADERS:
        at, found = -1, []
        while (at := data.find(mark, at + 1)) >= 0:
            found.append(at)
        places += found[:: max(len(found) // most, 1)]
    assert len(places) > 10
    code = (
        "import sys, drystone as ds\n"
        "data, path = open(sys.argv[1], 'rb').read(), sys.argv[2]\n"
        "for at in map(int, sys.argv[3:]):\n"
        "    bad = bytearray(data); bad[at + 8] ^= 1; open(path, 'wb').write(bad)\n"
        "    try: ds.resume(path, until=0.06); print('resumed', at)\n"
        "    except ds.DrystoneError as error: print('refused')\n"
    )
    args = [sys.executable, "-c", code, str(recorded), str(path), *map(str, places)]
    out = subprocess.run(args, capture_output=True, text=True, timeout=900)
    assert out.returncode == 0, out.stderr
    assert out.stdout.count("refused") > len(places) // 2
