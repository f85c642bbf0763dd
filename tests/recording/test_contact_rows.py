"""Contacts as they lie in the file: whatever they share or not, they come back to the last bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.recording import contacts
from drystone.steppers.tables import bodies_kind, spread

DIM = 2


def noted(draw, each):
    """Frames of so many contacts as the compiled loop notes them (``note_contacts``): shared rows
    are said once a chunk, others one a contact. Returns them and what they stand for."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    n, shared, meant = sum(each), {"laws": [], "features": []}, {"laws": [], "features": []}
    ends = np.zeros((len(each), 3), np.int64)
    ends[:, 0] = np.cumsum(each)
    laws = [(a, b) for a in (0.3, 0.5) for b in (-0.0, 0.0)]
    values = {"laws": np.array(laws), "features": np.array([0, 7, 1 << 40, 5])}
    for column, (name, some) in enumerate(values.items(), 1):
        last = None
        for k, count in enumerate(each):
            own = some[rng.integers(0, 4, count) if draw(st.booleans()) else [0] * count]
            meant[name].append(own)
            equal = len({row.tobytes() for row in own}) == 1
            if equal and own[-1].tobytes() != last:
                shared[name].append(own[:1])
            elif not equal:
                shared[name].append(own)
            last = own[-1].tobytes() if count else last
            ends[k, column] = sum(map(len, shared[name]))
    rows = {name: np.concatenate([values[name][:0], *parts]) for name, parts in shared.items()}
    rows["numbers"] = rng.normal(size=(n, 4 * DIM + 1))
    rows["bodies"] = rng.integers(0, 3, (n, 4)).astype(np.uint8)
    return rows | {"noted": ends}, meant


@st.composite
def runs(draw):
    counts = draw(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), max_size=6))
    return [noted(draw, each) for each in counts]


@settings(deadline=None, derandomize=True, max_examples=120)
@given(chunks=runs())
def test_shared_rows_are_found_again(chunks):
    encoder = contacts.Encoder(DIM, 3, False)
    parts, ends = {}, {contacts.LAWS: [0], contacts.FEATURES: [0]}
    for chunk, _ in chunks:
        rows, counts = encoder.of_loop(chunk)
        for name, part in rows.items():
            parts.setdefault(name, []).append(part.copy())
        for name, each in counts.items():
            assert len(rows[name]) == each.sum()
            ends[name] += (ends[name][-1] + np.cumsum(each)).tolist()
    k = 0
    for chunk, meant in chunks:
        for frame in range(len(chunk["noted"])):
            k += 1
            for name, own in ((contacts.LAWS, "laws"), (contacts.FEATURES, "features")):
                wanted, rows = meant[own][frame], np.concatenate(parts[name])
                got = spread(rows, *ends[name][k - 1 : k + 1], len(wanted))
                assert got.tobytes() == wanted.tobytes()


def test_equal_contacts_are_said_once():
    encoder = contacts.Encoder(DIM, 300, False)
    chunk = {
        "numbers": np.ones((40, 4 * DIM + 1)), "bodies": np.zeros((40, 7), np.uint8),
        "laws": np.ones((1, 2)), "features": np.ones(1, np.int64),
        "noted": np.array([[10, 1, 1], [40, 1, 1]]),
    }  # fmt: skip
    first, _ = encoder.of_loop(chunk)
    assert [len(first[name]) for name in (contacts.LAWS, contacts.FEATURES)] == [1, 1]
    again, counts = encoder.of_loop(chunk)
    assert [len(again[name]) for name in (contacts.LAWS, contacts.FEATURES)] == [0, 0]
    assert not any(each.any() for each in counts.values())
    each = sum(part.nbytes for part in again.values()) / 40
    assert each == 8 * (4 * DIM + 1) + 3 * 2 + 1
    assert bodies_kind(255).itemsize == 4
    assert bodies_kind(1 << 16).itemsize == 13
