"""Whether two models are equal to the bit."""

import dataclasses

import numpy as np


def check_same(a, b, path="model"):
    """Arrays, numbers, bound motions and forces: of the same type and to the last bit."""
    assert type(a) is type(b), path
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), path
        assert a.tobytes() == b.tobytes(), path
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            check_same(getattr(a, field.name), getattr(b, field.name), f"{path}.{field.name}")
    elif isinstance(a, tuple | list):
        assert len(a) == len(b), path
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            check_same(x, y, f"{path}[{i}]")
    elif hasattr(type(a), "__slots__") and not isinstance(a, str | int | float):
        for name in type(a).__slots__:
            check_same(getattr(a, name), getattr(b, name), f"{path}.{name}")
    else:
        assert a == b, path


def check_worlds(a, b):
    for x, y in zip(a.build(), b.build(), strict=True):
        check_same(x, y, type(x).__name__)
