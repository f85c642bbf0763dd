"""The detector: every contact, once, in a fixed order; rules, caches, counters, messages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.errors import ArrayError, OptionError, SimulationError, UnsupportedPairError
from drystone.geometry import dispatch
from drystone.geometry.broad_phase import METHODS
from drystone.geometry.contact_buffer import COLUMNS, ContactBuffer
from drystone.geometry.detector import Detector
from drystone.kernels import kinds
from tests.geometry import pair_doubles
from tests.geometry.pair_doubles import geoms_of

BALLS = {2: (kinds.DISK, kinds.CAPSULE_2D), 3: (kinds.SPHERE, kinds.CAPSULE)}
PLANE = {2: kinds.HALF_PLANE, 3: kinds.HALF_SPACE}


@pytest.fixture(autouse=True)
def doubles(monkeypatch):
    monkeypatch.setattr(dispatch, "find", pair_doubles.find)


def plane_pose(normal):
    """A rotation whose last column is this direction."""
    n = np.asarray(normal, float) / np.linalg.norm(normal)
    Q, _ = np.linalg.qr(np.column_stack((n, np.eye(n.size)[:, : n.size - 1])))
    Q = np.column_stack((Q[:, 1:], n))
    if np.linalg.det(Q) < 0:
        Q[:, 0] *= -1
    return Q


class Scene:
    """Random balls of two kinds, in any order, and tilted half-spaces, of bodies with rules."""

    def __init__(self, seed, dim=3, balls=25, planes=2, bodies=None):
        rng = self.rng = np.random.default_rng(seed)
        kind = np.concatenate((rng.choice(BALLS[dim], balls), np.full(planes, PLANE[dim])))
        self.kind = rng.permutation(kind)
        ng = kind.size
        self.radius = rng.uniform(0.1, 0.6, ng)
        self.nb = bodies or ng
        flat = self.kind == PLANE[dim]
        self.body = np.where(flat, 0, rng.integers(0, self.nb, ng)) if bodies else np.arange(ng)
        self.movable = rng.random(self.nb) < 0.8
        self.movable[self.body[flat]] = False
        self.layer = rng.integers(1, 8, self.nb)
        keys = rng.choice(self.nb**2, min(self.nb, 20), replace=False)
        self.ignored = np.sort(keys[keys // self.nb < keys % self.nb])
        self.uid = np.sort(rng.choice(1000, ng, replace=False))
        side = (balls * 0.6) ** (1 / dim)
        self.x = rng.uniform(0, side, (ng, dim))
        self.R = np.array([plane_pose(rng.normal(size=dim)) for _ in range(ng)])
        self.margin = rng.uniform(0, 0.1, ng)
        self.dim = dim

    def geoms(self, kept=slice(None)):
        return geoms_of(
            self.dim, self.kind[kept], self.radius[kept], self.body[kept], self.uid[kept]
        )

    def detector(self, **options):
        return Detector(self.geoms(), self.movable, self.layer, self.ignored, **options)

    def move(self, size=0.1):
        self.x = self.x + self.rng.normal(size=self.x.shape) * size

    def allowed(self, g, h):
        a, b = sorted((self.body[g], self.body[h]))
        return (
            a != b
            and (self.movable[a] or self.movable[b])
            and self.layer[a] & self.layer[b] != 0
            and a * self.nb + b not in self.ignored
        )

    def expected(self):
        """Gap of every pair that the rules allow, straight from the definitions."""
        gaps = {}
        flat = self.kind == PLANE[self.dim]
        for g in range(self.kind.size):
            for h in range(self.kind.size):
                a_first = (self.kind[g], g) < (self.kind[h], h)
                if not a_first or flat[g] or not self.allowed(g, h):
                    continue
                if flat[h]:
                    gap = self.R[h, :, -1] @ (self.x[g] - self.x[h]) - self.radius[g]
                else:
                    gap = np.linalg.norm(self.x[g] - self.x[h]) - self.radius[g] - self.radius[h]
                if gap <= self.margin[g] + self.margin[h]:
                    gaps[g, h] = gap
        return gaps


def check(scene, contacts):
    expected = scene.expected()
    found = list(zip(contacts.geom_a.tolist(), contacts.geom_b.tolist(), strict=True))
    assert len(found) == len(set(found)) == len(expected)
    assert set(found) == set(expected)
    np.testing.assert_allclose(contacts.gap, [expected[p] for p in found], atol=1e-12)
    order = [(scene.kind[a], scene.kind[b], a, b) for a, b in found]
    assert order == sorted(order)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from((2, 3)), st.sampled_from(sorted(METHODS)))
def test_all_contacts_in_order_over_a_motion(seed, dim, broad):
    scene = Scene(seed, dim, planes=seed % 3, bodies=None if seed % 2 else 9)
    detector = scene.detector(broad=broad)
    for _ in range(4):
        check(scene, detector.contacts(scene.x, scene.R, scene.margin))
        scene.move()


def test_caches_stay_with_their_pair():
    """The double counts rows that belong to another pair; here also: that rows live on."""
    scene = Scene(3, balls=40)
    detector = scene.detector()
    visits = {}
    for _ in range(30):
        detector.contacts(scene.x, scene.R, scene.margin)
        state = detector.by_uid()
        rows = state["cache"].reshape(-1, 3)
        now = {tuple(p): row[0] for p, row in zip(state["pair"].tolist(), rows, strict=True)}
        for pair, count in now.items():
            assert count == visits.get(pair, 0) + 1
        visits = now
        scene.move(0.05)
    assert max(visits.values()) == 30
    totals = detector.totals
    counts = totals["kinds"]["sphere / sphere"]
    assert counts["strangers"] == 0
    assert counts["hits"] + counts["searches"] == counts["pairs"]
    assert counts["hit_rate"] == pytest.approx(counts["hits"] / counts["pairs"])
    assert totals["calls"] == 30


def test_state_of_another_detector_goes_on_to_the_bit():
    scene = Scene(4)
    first = scene.detector(broad="sorted-lists")
    for _ in range(3):
        first.contacts(scene.x, scene.R, scene.margin)
        scene.move()
    second = scene.detector(broad="all-pairs")
    second.restore({name: np.array(value) for name, value in first.state().items()})
    for _ in range(3):
        a = first.contacts(scene.x, scene.R, scene.margin)
        b = second.contacts(scene.x, scene.R, scene.margin)
        for name in ("geom_a", "geom_b", "point", "normal", "gap", "feature"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        for name, value in first.state().items():
            np.testing.assert_array_equal(value, second.state()[name])
        scene.move()


def test_caches_survive_geoms_that_come_and_go():
    scene = Scene(5, balls=40, planes=1)
    ng = scene.kind.size
    detector = scene.detector()
    detector.contacts(scene.x, scene.R, scene.margin)
    before = detector.by_uid()
    kept = np.flatnonzero(np.arange(ng) % 5 != 2)
    detector.remap(scene.geoms(kept), scene.movable, scene.layer, scene.ignored)
    after = detector.by_uid()
    alive = np.isin(before["pair"], scene.uid[kept]).all(axis=1)
    np.testing.assert_array_equal(after["pair"], before["pair"][alive])
    np.testing.assert_array_equal(
        after["cache"].reshape(-1, 3), before["cache"].reshape(-1, 3)[alive]
    )
    detector.remap(scene.geoms(), scene.movable, scene.layer, scene.ignored)
    np.testing.assert_array_equal(detector.by_uid()["pair"], after["pair"])


def test_a_cache_whose_geoms_changed_sides_is_dropped():
    """A and B of one kind are told apart by their index: a cache means (a, b), not (b, a)."""
    geoms = geoms_of(3, [kinds.SPHERE] * 2, [1.0, 1.0], uid=[10, 20])
    detector = Detector(geoms, np.ones(2, bool), np.ones(2, int))
    pose = np.zeros((2, 3)), np.stack([np.eye(3)] * 2), np.zeros(2)
    pose[0][1, 0] = 1.5
    detector.contacts(*pose)
    assert detector.by_uid()["pair"].tolist() == [[10, 20]]
    geoms.uid = np.array([20, 10])
    detector.remap(geoms, np.ones(2, bool), np.ones(2, int))
    assert detector.by_uid()["pair"].size == 0


def test_room_is_found_as_needed(monkeypatch):
    """Little room at first, and never much more than is asked for: a kernel that says -1 is
    called again, and counted once; nothing of the batches before it is lost."""
    scene = Scene(6, balls=200, planes=3)
    expected = scene.detector().contacts(scene.x, scene.R, scene.margin)
    detector = scene.detector()
    detector._points[:] = 0
    detector._out = _Stingy(3, room=1)
    detector.scan = detector._scan()
    contacts = detector.contacts(scene.x, scene.R, scene.margin)
    assert len(contacts) == detector._out.room
    check(scene, contacts)
    for name in COLUMNS[1:]:
        np.testing.assert_array_equal(getattr(contacts, name), getattr(expected, name))
    counts = detector.stats["kinds"]["sphere / sphere"]
    assert counts["hits"] + counts["searches"] == counts["pairs"]


class _Stingy(ContactBuffer):
    """Grows by one contact at a time, whatever is asked for."""

    def grow(self, room, used):
        old = {name: getattr(self, name)[:used] for name in COLUMNS}
        self.__init__(3, self.room + 1)
        for name in COLUMNS:
            getattr(self, name)[:used] = old[name]


def test_geoms_listed_otherwise_give_the_same_contacts():
    scene = Scene(7, balls=30)
    first = scene.detector().contacts(scene.x, scene.R, scene.margin)
    turn = np.random.default_rng(0).permutation(scene.kind.size)
    geoms = scene.geoms(turn)
    other = Detector(geoms, scene.movable, scene.layer, scene.ignored)
    second = other.contacts(scene.x[turn], scene.R[turn], scene.margin[turn])

    def table(contacts, uid):
        a, b = uid[contacts.geom_a], uid[contacts.geom_b]
        return {frozenset((i, j)): g for i, j, g in zip(a, b, contacts.gap, strict=True)}

    assert table(first, scene.uid) == pytest.approx(table(second, geoms.uid))


def test_nothing_to_collide():
    for kind in ([], [kinds.SPHERE], [kinds.HALF_SPACE], [kinds.SPHERE, kinds.HALF_SPACE]):
        geoms = geoms_of(3, kind, [1.0] * len(kind))
        ng = len(kind)
        detector = Detector(geoms, np.zeros(ng, bool), np.ones(ng, int))
        R = np.broadcast_to(np.eye(3), (ng, 3, 3))
        for _ in range(2):
            assert len(detector.contacts(np.zeros((ng, 3)), R, np.zeros(ng))) == 0
        assert detector.stats["contacts"] == 0
        detector.restore(detector.state())


def test_a_missing_pair_is_named():
    geoms = geoms_of(3, [kinds.SPHERE, kinds.CONE], [1.0, 1.0])
    geoms.first, geoms.numbers = np.array([0, 1, 3]), np.array([1.0, 1.0, 1.0])
    detector = Detector(geoms, np.ones(2, bool), np.ones(2, int), names=("ball", "hat"))
    R = np.stack([np.eye(3)] * 2)
    with pytest.raises(UnsupportedPairError, match=r"sphere \(body 'ball'\) and cone \(body 'hat'"):
        detector.contacts(np.zeros((2, 3)), R, np.zeros(2))


def test_half_spaces_that_could_meet_are_refused_at_once():
    geoms = geoms_of(2, [kinds.HALF_PLANE] * 2, [1.0, 1.0])
    Detector(geoms, np.array([False, False]), np.ones(2, int))
    with pytest.raises(UnsupportedPairError, match=r"half-plane \(body number 0\)"):
        Detector(geoms, np.array([False, True]), np.ones(2, int))


def test_wrong_input_is_named():
    scene = Scene(8)
    with pytest.raises(OptionError, match="broad='fast'"):
        scene.detector(broad="fast")
    detector = scene.detector(names=[f"body{b}" for b in range(scene.nb)])
    with pytest.raises(ArrayError, match="margin: shape"):
        detector.contacts(scene.x, scene.R, scene.margin[1:])
    with pytest.raises(ArrayError, match="cache: 1 numbers"):
        detector.restore({"pair": np.zeros((0, 2)), "width": np.zeros(0), "cache": np.zeros(1)})
    pair = scene.uid[np.flatnonzero(scene.kind == kinds.SPHERE)[:2]]
    with pytest.raises(ArrayError, match="other pair kernels"):
        detector.restore({"pair": pair[None], "width": np.array([2]), "cache": np.zeros(2)})
    with pytest.raises(ArrayError, match="layer: shape"):
        Detector(scene.geoms(), scene.movable, scene.layer[1:])
    with pytest.raises(ArrayError, match="ignored"):
        Detector(scene.geoms(), scene.movable, scene.layer, np.array([5, 3]))
    lost = int(np.flatnonzero(scene.kind == kinds.SPHERE)[0])
    scene.x[lost, 1] = np.nan
    with pytest.raises(SimulationError, match=f"body 'body{lost}': its pose is not finite"):
        detector.contacts(scene.x, scene.R, scene.margin)
