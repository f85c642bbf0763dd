"""Files spoilt at random, with fixed seeds: bytes, lines, numbers, words, values of the tree."""

import json
import random

NUMBERS = (
    "0", "-1", "1e308", "-1e308", "1e-308", "5e-324", "1e999", "-0.0", ".inf", "-.inf", ".nan",
    "999999999999999999999", "1_000", "0x10", "1e", "--1", "3.0.0", "''", "null", "true",
)  # fmt: skip
WORDS = (
    "null", "[]", "{}", "~", "'", '"', "*a", "&a", "!!python/object/apply:os.system", "<<", "- ",
    "world", "ground", "{i}", "../../etc/passwd", "|", ">", "\t", "\0", "é", "%", "@", "kind", "[[",
)  # fmt: skip
VALUES = (
    None, True, False, 0, -1, 1e308, -1e-308, 10**30, "", "world", "inf", [], {}, [[]], [1, 2, 3],
    [0, 0], {"kind": "sphere"}, {"kind": "sphere", "radius": 1e300}, "x" * 1000, [1e300] * 3,
    [1] * 4,
)  # fmt: skip


def spoilt_text(text: str, seed: int) -> bytes:
    """The text with one to four things done to it."""
    rng = random.Random(seed)
    data = text
    for _ in range(rng.randint(1, 4)):
        data = rng.choice((_cut, _swap, _number, _word, _line, _repeat, _bytes))(data, rng)
    raw = data.encode("utf-8", "surrogateescape")
    if rng.random() < 0.05:
        at = rng.randrange(len(raw) + 1)
        raw = raw[:at] + bytes(rng.randrange(256) for _ in range(rng.randint(1, 8))) + raw[at:]
    return raw


def _place(data, rng):
    return rng.randrange(len(data) + 1)


def _cut(data, rng):
    at = _place(data, rng)
    return data[:at] if rng.random() < 0.3 else data[:at] + data[at + rng.randint(1, 40) :]


def _swap(data, rng):
    rows = data.splitlines(keepends=True)
    if len(rows) > 1:
        i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
        rows[i], rows[j] = rows[j], rows[i]
    return "".join(rows)


def _line(data, rng):
    rows = data.splitlines(keepends=True)
    if rows:
        del rows[rng.randrange(len(rows))]
    return "".join(rows)


def _repeat(data, rng):
    a, b = sorted((_place(data, rng), _place(data, rng)))
    return data[:b] + data[a : min(b, a + 2000)] + data[b:]


def _number(data, rng):
    digits = [i for i, c in enumerate(data) if c.isdigit()]
    if not digits:
        return data
    start = end = rng.choice(digits)
    while end < len(data) and (data[end].isdigit() or data[end] in ".e-"):
        end += 1
    return data[:start] + rng.choice(NUMBERS) + data[end:]


def _word(data, rng):
    at = _place(data, rng)
    return data[:at] + rng.choice(WORDS) + data[at:]


def _bytes(data, rng):
    at = _place(data, rng)
    return data[:at] + "".join(chr(rng.randrange(1, 128)) for _ in range(3)) + data[at + 3 :]


def spoilt_tree(document: dict, seed: int) -> dict:
    """The document with one to three values changed, removed or moved elsewhere."""
    rng = random.Random(seed)
    out = json.loads(json.dumps(document))
    for _ in range(rng.randint(1, 3)):
        places = list(_places(out))
        holder, key = rng.choice(places)
        kind = rng.random()
        if kind < 0.2:
            del holder[key]
        elif kind < 0.4:
            other, at = rng.choice(places)
            holder[key] = json.loads(json.dumps(other[at]))
        elif kind < 0.6 and isinstance(holder[key], int | float):
            scale = rng.choice((-1, 0, 1e-9, 1e9, 1e200, 3, 1 + 1e-15))
            holder[key] = float(holder[key]) * scale
        elif kind < 0.7 and isinstance(holder, dict):
            holder[str(key)[::-1] + "z"] = holder.pop(key)
        else:
            holder[key] = rng.choice(VALUES)
    return out


def _places(value):
    if isinstance(value, dict):
        for key in value:
            yield value, key
            yield from _places(value[key])
    elif isinstance(value, list):
        for k in range(len(value)):
            yield value, k
            yield from _places(value[k])
