"""Numbers of 64-bit keys, found by binary search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.uint32]

MISSING = np.uint32(2**32 - 1)
"""Stands for "no number"."""


class Index:
    """Keys with numbers. Occurrences of equal keys are told apart by their order alone."""

    def __init__(self) -> None:
        self.keys: Keys = np.zeros(0, dtype=np.uint64)
        self.numbers: Numbers = np.zeros(0, dtype=np.uint32)

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, keys: Keys, numbers: Numbers) -> None:
        """Add keys behind their equals; time linear in the size of the index.

        Parameters
        ----------
        keys : array of uint64
            In any order; equal ones are numbered in this order.
        numbers : array of uint32
            One for each.
        """
        order = np.argsort(keys, kind="stable")
        places = np.searchsorted(self.keys, keys[order], "right")
        self.keys = np.insert(self.keys, places, keys[order])
        self.numbers = np.insert(self.numbers, places, numbers[order])

    def find(self, keys: Keys) -> Numbers:
        """Return the numbers of keys, of the first, second ... occurrence where keys are equal.

        Parameters
        ----------
        keys : array of uint64
            In any order.

        Returns
        -------
        array of uint32
            In that order; `MISSING` where there is none, or not as many.
        """
        found = np.full(len(keys), MISSING, dtype=np.uint32)
        if not len(keys) or not len(self.keys):
            return found
        order = np.argsort(keys, kind="stable")
        wanted = keys[order]
        places = np.searchsorted(self.keys, wanted, "left") + occurrences(wanted)
        inside = np.minimum(places, len(self.keys) - 1)
        known = (places < len(self.keys)) & (self.keys[inside] == wanted)
        found[order[known]] = self.numbers[inside[known]]
        return found


def occurrences(ordered: Keys) -> npt.NDArray[np.int64]:
    """Return for each of some ordered keys how many equal ones stand before it."""
    if not len(ordered):
        return np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    lengths = np.diff(np.concatenate((starts, [len(ordered)])))
    found: npt.NDArray[np.int64] = np.arange(len(ordered)) - np.repeat(starts, lengths)
    return found
