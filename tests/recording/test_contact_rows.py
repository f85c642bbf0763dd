"""Contacts as they lie in the file: whatever they share or not, they come back to the last bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.recording import contacts

DIM = 2


def noted(draw, n):
    """n contacts as the compiled loop notes them; laws and features from few values, or many."""
    few = draw(st.booleans())
    pick = st.sampled_from([0.3, -0.0, 0.0] if few else [0.3, 0.5, 1e-300])
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    whole, real = rng.integers(0, 3, (n, 5)), rng.normal(size=(n, 4 * DIM + 3))
    whole[:, 3] = draw(st.sampled_from([0, 7, 1 << 40])) if few else rng.integers(0, 1 << 40, n)
    laws = draw(pick) if few else np.array([draw(pick) for _ in range(2 * n)]).reshape(n, 2)
    real[:, -2:] = laws
    return whole, real


@st.composite
def runs(draw):
    counts = draw(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), max_size=6))
    return [(np.cumsum(each), *noted(draw, sum(each))) for each in counts]


@settings(deadline=None, derandomize=True, max_examples=120)
@given(chunks=runs())
def test_shared_rows_are_found_again(chunks):
    encoder = contacts.Encoder(DIM, 3, False)
    parts, ends = {}, {contacts.LAWS: [0], contacts.FEATURES: [0]}
    for noted_until, whole, real in chunks:
        rows, counts = encoder.of_loop(whole, real, noted_until)
        for name, part in rows.items():
            parts.setdefault(name, []).append(part.copy())
        for name, each in counts.items():
            assert len(rows[name]) == each.sum()
            ends[name] += (ends[name][-1] + np.cumsum(each)).tolist()
    k = 0
    for noted_until, whole, real in chunks:
        for first, last in zip([0, *noted_until], noted_until, strict=False):
            k += 1
            for name, wanted in (
                (contacts.LAWS, real[first:last, -2:]),
                (contacts.FEATURES, whole[first:last, 3]),
            ):
                rows, n = np.concatenate(parts[name]), last - first
                own = rows[ends[name][k - 1] : ends[name][k]]
                if len(own) != n:  # the rule of the file
                    own = np.repeat(rows[ends[name][k] - 1 : ends[name][k]], n, axis=0)
                assert own.tobytes() == np.ascontiguousarray(wanted).tobytes()


def test_equal_contacts_are_said_once():
    encoder = contacts.Encoder(DIM, 300, False)
    whole, real = np.zeros((40, 5), np.int64), np.ones((40, 4 * DIM + 3))
    first, _ = encoder.of_loop(whole, real, np.array([10, 40]))
    assert [len(first[name]) for name in (contacts.LAWS, contacts.FEATURES)] == [1, 1]
    again, _ = encoder.of_loop(whole, real, np.array([40]))
    assert [len(again[name]) for name in (contacts.LAWS, contacts.FEATURES)] == [0, 0]
    each = sum(part.nbytes for part in again.values()) / 40
    assert each == 8 * (4 * DIM + 1) + 3 * 2 + 1
    assert contacts.bodies_kind(255).itemsize == 4
    assert contacts.bodies_kind(1 << 16).itemsize == 13
