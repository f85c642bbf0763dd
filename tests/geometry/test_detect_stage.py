"""The compiled stage of detection: whatever it stops for, contacts are the same to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.errors import SimulationError
from drystone.geometry import dispatch, shapes
from drystone.geometry.broad_phase import BRUTE_FORCE_BOXES
from drystone.geometry.contact_buffer import COLUMNS
from drystone.geometry.detector import Detector
from drystone.kernels import detect as stage
from drystone.kernels._calls import address, call
from drystone.kernels._jit import kernel
from tests.geometry import pair_doubles
from tests.geometry.test_detector import Scene
from tests.geometry.test_detector_kinds import geoms_of, turns

BITS = COLUMNS[1:]


@pytest.fixture
def doubles(monkeypatch):
    monkeypatch.setattr(dispatch, "find", pair_doubles.find)


def same(a, b):
    for name in BITS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def same_state(a, b):
    for name, value in a.state().items():
        np.testing.assert_array_equal(value, b.state()[name])


class Gas:
    """Balls that fly about in a box which shrinks: more pairs and contacts with every step."""

    def __init__(self, seed, dim, balls):
        self.scene = Scene(seed, dim, balls=balls, planes=1, bodies=None)
        self.scene.movable[:] = self.scene.kind != self.scene.kind.max()
        self.side = 6.0 * balls ** (1 / dim) * 0.5
        self.scene.x = self.scene.rng.uniform(0, self.side, self.scene.x.shape)
        speed = 10.0 ** self.scene.rng.uniform(-4, -0.5, (len(self.scene.x), 1))
        self.v = self.scene.rng.normal(size=self.scene.x.shape) * speed

    def poses(self):
        return self.scene.x, self.scene.R, self.scene.margin

    def step(self, shrink=0.97):
        """Fast ones leave their enlarged boxes at once, slow ones stay for long."""
        self.scene.x = (self.scene.x + self.v) * shrink
        self.side *= shrink
        out = (self.scene.x < 0) | (self.scene.x > self.side)
        self.v[out] *= -1.0


@settings(deadline=None, derandomize=True, max_examples=12)
@given(
    st.integers(0, 10**6),
    st.sampled_from((2, 3)),
    st.sampled_from((20, BRUTE_FORCE_BOXES + 1, 150)),
)
def test_long_motions_give_what_all_pairs_give(seed, dim, balls):
    gas = Gas(seed, dim, balls)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatch, "find", pair_doubles.find)
        kept, plain = gas.scene.detector(), gas.scene.detector(broad="all-pairs")
        most = 0
        for step in range(40):
            a, b = kept.contacts(*gas.poses()), plain.contacts(*gas.poses())
            same(a, b)
            same_state(kept, plain)
            most = max(most, len(a))
            gas.step(0.97 if step < 30 else 1.05)
    assert most > 10


def test_one_ball_jumps_about_in_a_crowd_at_rest(doubles):
    """It leaves its enlarged box at once, however fast it was; the others keep theirs."""
    gas = Gas(2, 3, 400)
    kept, plain = gas.scene.detector(), gas.scene.detector(broad="all-pairs")
    gas.scene.x *= 0.4
    met = set()
    for step in range(60):
        fast = 7 + step % 3
        if step % 2:
            gas.scene.x[fast] = gas.scene.x[20 + step] + 0.1
        a = kept.contacts(*gas.poses())
        same(a, plain.contacts(*gas.poses()))
        met |= set(a.geom_a[a.geom_b == fast]) | set(a.geom_b[a.geom_a == fast])
    assert len(met) > 10
    assert kept.stats["broad"]["rebuilds"] < 12


@pytest.mark.kernels
def test_bodies_come_and_go_and_states_travel_while_candidates_are_kept(doubles):
    gas = Gas(3, 3, 120)
    scene, ng = gas.scene, gas.scene.kind.size
    kept = scene.detector()
    for step in range(24):
        here = np.flatnonzero(np.arange(ng) % 7 != step // 4)
        if step % 4 == 0:
            rules = scene.movable, scene.layer, scene.ignored
            kept.remap(scene.geoms(here), *rules)
            plain = Detector(scene.geoms(here), *rules, broad="all-pairs")
            plain.restore(kept.state())
        if step % 4 == 2:
            kept.restore(plain.state())
        poses = [a[here] for a in gas.poses()]
        same(kept.contacts(*poses), plain.contacts(*poses))
        same_state(kept, plain)
        gas.step(0.93)
    assert kept.stats["broad"]["method"] == "auto"


@kernel
def many(at, scan, xs, R, margin, begin, sizes):
    """Detections of poses begin.. of xs without a way back to Python; -> code, or 0 at the end."""
    for i in range(begin, xs.shape[0]):
        sizes[1] = i
        code = call(at, (scan, xs[i], R, margin))
        if code != 0:
            return code
        sizes[0] += scan.n_contacts
    return 0


@pytest.mark.kernels
def test_a_compiled_loop_goes_on_where_it_stopped(doubles):
    gas = Gas(5, 3, 90)
    xs, expected = [], []
    plain = gas.scene.detector(broad="all-pairs")
    for _ in range(40):
        xs.append(gas.scene.x.copy())
        expected.append(len(plain.contacts(*gas.poses())))
        gas.step(0.95)
    xs = np.array(xs)
    detector = gas.scene.detector()
    sizes, codes = np.zeros(2, np.int64), set()
    R, margin = np.ascontiguousarray(gas.scene.R), gas.scene.margin
    at = address(stage.detect, detector.scan, xs[0], R, margin)
    while code := many(at, detector.scan, xs, R, margin, sizes[1], sizes):
        codes.add(code)
        detector.serve(code)
    assert sizes[0] == sum(expected)
    assert codes >= {stage.BROAD, stage.NO_KERNEL, stage.ROOM_CONTACTS, stage.ROOM_PAIRS}
    same_state(detector, plain)
    assert detector.totals["calls"] == 40
    assert detector.totals["contacts"] == sum(expected)


def test_a_detection_that_was_given_up_leaves_no_trace(doubles):
    gas = Gas(6, 3, 80)
    detector, other = gas.scene.detector(), gas.scene.detector()
    for _ in range(6):
        x, R, margin = gas.poses()
        bad = x.copy()
        bad[np.flatnonzero(np.isfinite(gas.scene.geoms().radius))[3]] = np.inf
        with pytest.raises(SimulationError, match="its pose is not finite"):
            detector.contacts(bad, R, margin)
        same(detector.contacts(x, R, margin), other.contacts(x, R, margin))
        gas.step(0.9)
    detector._out.room = 0
    detector._out.__init__(3, room=1)
    detector.scan = detector._scan()
    assert stage.detect(detector.scan, *gas.poses()) != stage.DONE  # and nobody helps
    same(detector.contacts(*gas.poses()), other.contacts(*gas.poses()))


@pytest.mark.parametrize("dim", [2, 3])
def test_real_kinds_tumble(dim):
    """Witnesses, extremal points and directions of support maps all live in the cache."""
    rng = np.random.default_rng(9)
    kinds_here = {
        2: (shapes.Disk(0.4), shapes.Ellipse(0.6, 0.3), shapes.RegularPolygon(5, 0.5)),
        3: (shapes.Sphere(0.4), shapes.Cylinder(0.6, 0.3), shapes.Box(0.8, 0.5, 0.6)),
    }[dim]
    chosen = [kinds_here[i % 3] for i in range(75)]
    chosen.append(shapes.HalfPlane() if dim == 2 else shapes.HalfSpace())
    count = len(chosen)
    geoms, movable = geoms_of(dim, chosen), np.arange(count) < count - 1
    kept = Detector(geoms, movable, np.ones(count, int))
    plain = Detector(geoms, movable, np.ones(count, int), broad="all-pairs")
    x, v = rng.uniform(0, 6.0, (count, dim)), rng.normal(size=(count, dim)) * 0.02
    x[-1], v[-1] = 0.0, 0.0
    R, margin = turns(rng, count, dim), np.full(count, 0.05)
    R[-1] = np.eye(dim)
    for _ in range(12):
        same(kept.contacts(x, R, margin), plain.contacts(x, R, margin))
        same_state(kept, plain)
        x, v = x + v, np.where((x < 0) | (x > 6), -v, v)
        R[:-1] = R[:-1] @ turns_by(0.03, dim)
    assert kept.stats["contacts"] > 50


def turns_by(angle, dim):
    c, s = np.cos(angle), np.sin(angle)
    turn = np.eye(dim)
    turn[:2, :2] = [[c, -s], [s, c]]
    return turn
