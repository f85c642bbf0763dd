"""Contacts as rows of a structured array: what kernels noted, with the names of bodies in letters.

A row is a whole number of words of 8 bytes; ``steppers.tables`` says which field lies where.
"""

import numpy as np

from drystone.kernels._jit import stage
from drystone.kernels.step.contacts import note_contacts


@stage
def read_contacts(s, t, kick, words, out):
    """Rows of the last step's contacts, of so many words each; returns how many there are. t: room
    for what ``note_contacts`` notes of them, and `names` and `states` as below."""
    for k in range(3):
        t.ends[k] = 0
    note_contacts(s, t.numbers, t.bodies, t.laws, t.features, t.ends)
    n, laws, features = t.ends[0], t.laws, t.features
    if n > 0:
        shared = laws[: max(t.ends[1], 1)], features[: max(t.ends[2], 1)]
        dim = s.point.shape[1]
        write_rows(dim, t.numbers[:n], t.bodies, *shared, t.names, t.states, kick, out[: n * words])
    return n


@stage
def write_rows(dim, numbers, bodies, laws, features, names, states, kick, out):
    """Fill out, n rows of w words, as flat words.

    numbers (n, m), bodies (n, ...) bytes, laws (n or 1, 2), features (n or 1,): as
    ``note_contacts`` notes them, one row for all if they share it; numbers may have forces after
    the velocities, else these are impulses over `kick` [s].
    names (nb, letters), states (3, letters): characters by their codes, zeros at the end.
    """
    n, wide, letters = numbers.shape[0], (bodies.shape[1] - 1) // 3, names.shape[1]
    words, given = out.size // n, numbers.shape[1] > 4 * dim + 1
    ints, codes = out.view(np.int64), out.view(np.uint32)
    for i in range(n):
        row = numbers[i]
        law = laws[i if laws.shape[0] == n else 0]
        at = words * i
        for side in range(2):
            body = 0
            for b in range(wide):
                body |= np.int64(bodies[i, side * wide + b]) << 8 * b
            for c in range(letters):
                codes[2 * at + side * letters + c] = names[body, c]
        at += letters
        for c in range(2 * dim + 1):  # point, normal, gap
            out[at + c] = row[c]
        at += 2 * dim + 1
        for c in range(dim):  # force, impulse
            impulse = row[2 * dim + 1 + c]
            out[at + c] = row[4 * dim + 1 + c] if given else impulse / kick
            out[at + dim + c] = impulse
        at += 2 * dim
        out[at] = law[1]
        for c in range(dim):  # velocity
            out[at + 1 + c] = row[3 * dim + 1 + c]
        at += dim + 1
        out[at] = law[0]
        island = 0
        for b in range(wide):
            island |= np.int64(bodies[i, 2 * wide + b]) << 8 * b
        ints[at + 1] = island
        ints[at + 2] = features[i if features.shape[0] == n else 0]
        for c in range(states.shape[1]):
            codes[2 * (at + 3) + c] = states[bodies[i, 3 * wide], c]
