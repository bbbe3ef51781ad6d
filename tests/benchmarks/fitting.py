"""Which rows fit the same classes: the index that annealing over versions works with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Fitting(NamedTuple):
    """Rows by the classes that they fit, under every pattern.

    Parameters
    ----------
    keys : ndarray of int32, shape (2^m, n)
        Class of each row under each pattern, from 0 on.
    start : ndarray of int64, shape (2^m + 1,)
        Number of a pattern's first class among those of all patterns.
    members : ndarray of int32, shape (2^m, n)
        Rows under each pattern by their class, and by their number in each class.
    begin : ndarray of int32
        Place of the first member of each class in the members under its pattern.
    cells, order : ndarray of int64, shape (2^m,)
        Suppressed cells of each pattern, and the patterns, those with fewer cells first.
    candidates : ndarray of int64
        Patterns that may be worth a try for each row, those with fewer cells first.
    first : ndarray of int64, shape (n, m + 2)
        Place in `candidates` from which on the patterns of a row have so many cells at least.
    """

    keys: NDArray[np.int32]
    start: Ints
    members: NDArray[np.int32]
    begin: NDArray[np.int32]
    cells: Ints
    order: Ints
    candidates: Ints
    first: Ints


def fitting(codes: Ints, weights: Floats, least: float, most: float) -> Fitting:
    """Return the index of some rows; patterns are worth a try where members of such a weight fit."""
    n, width = codes.shape
    patterns = np.arange(1 << width)
    keys = np.array([_numbered(codes, pattern) for pattern in patterns], dtype=np.int32)
    sizes = [np.bincount(own) for own in keys]
    cells = np.bitwise_count(patterns).astype(np.int64)
    order = np.argsort(cells, kind="stable")
    fits = np.array([np.bincount(own, weights)[own] for own in keys])[order]
    worth = ((fits >= least) & (fits <= most)).T
    row, place = np.nonzero(worth)
    first = np.cumsum([0, *np.bincount(row, minlength=n)])[:-1, None]
    fewer = [worth[:, cells[order] < count].sum(axis=1) for count in range(width + 2)]
    return Fitting(
        keys=keys,
        start=np.cumsum([0, *(len(own) for own in sizes)]),
        members=np.argsort(keys, axis=1, kind="stable").astype(np.int32),
        begin=np.concatenate([np.cumsum(own) - own for own in sizes]).astype(np.int32),
        cells=cells,
        order=order,
        candidates=order[place],
        first=first + np.column_stack(fewer),
    )


def _numbered(codes: Ints, pattern: int) -> Ints:
    """Return the number of the class of each row under a pattern."""
    kept = [column for column in range(codes.shape[1]) if not pattern >> column & 1]
    if not kept:
        return np.zeros(len(codes), np.int64)
    return np.unique(codes[:, kept], axis=0, return_inverse=True)[1].ravel()
