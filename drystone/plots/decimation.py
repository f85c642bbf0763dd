"""Decimation of curves for drawing: minima and maxima are kept."""

from __future__ import annotations

import numpy as np

from drystone.types import Floats, Ints


def peaks(values: Floats, columns: int) -> Ints:
    """Places, in order, of the least and the greatest of every line in each of so many columns.

    values (n,), or (lines, n) that share their points; nan where a line is broken. All places if
    there are no more than would be kept of one line. The first and the last are among them.
    """
    lines = np.atleast_2d(np.asarray(values, float))
    n = lines.shape[1]
    if n <= 2 * columns + 2:
        return np.arange(n)
    edges = np.linspace(0, n, columns + 1).astype(np.int64)
    kept = [np.array([0, n - 1])]
    for line in lines:
        low, high = np.where(np.isnan(line), [[np.inf], [-np.inf]], line)
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            kept.append(np.array([low[first:last].argmin(), high[first:last].argmax()]) + first)
    return np.unique(np.concatenate(kept))
