"""Sets of units as short vectors over a finite field.

Every unit has a secret random coefficient, every person a column (its number modulo the width); a set
becomes the sums of its units' coefficients per column. The map is linear, so that whatever can be added and
subtracted of answers can be added and subtracted of their vectors, and a combination that depends on the
units of few people is non-zero in few columns. The length of a vector does not depend on the size of the
table.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
"""Integers from about -modulus / 2 to modulus / 2, in doubles because these multiply several times faster."""

_Whole = TypeVar("_Whole", npt.NDArray[np.uint32], npt.NDArray[np.uint64])

_LOWEST, _HIGHEST = 1 << 23, 1 << 24
_TERMS = 64
_SPAN = 1 << 24


class PrimeField:
    """A prime field and the coefficients of units in it.

    Parameters
    ----------
    key : bytes
        16 secret random bytes; who knows them could plan queries whose vectors cancel.
    width : int
        Columns, >= 1. Below this number of people everybody has a column alone.
    """

    def __init__(self, key: bytes, width: int) -> None:
        self.modulus = _prime(int.from_bytes(key[:8]))
        self.width = width
        self._salt = np.uint64(int.from_bytes(key[8:16]))

    def vector(self, units: BitMap, owners: array[int] | None) -> Vector:
        """Return the vector of a set, `width` numbers.

        Parameters
        ----------
        units : BitMap
            The set. Linear time in its size.
        owners : array, optional
            Person of each unit; None if every unit is a person.
        """
        numbers = np.frombuffer(units.to_array(), dtype=np.uint32)
        people = numbers if owners is None else np.frombuffer(owners, dtype=np.uint32)[numbers]
        total = np.zeros(self.width)
        for start in range(0, len(numbers), _SPAN):
            part = slice(start, start + _SPAN)
            # 2**24 coefficients below 2**24 add up to less than 2**52
            columns = _remainder(people[part], np.uint32(self.width))
            sums = np.bincount(columns, self._coefficients(numbers[part]), self.width)
            total += self.reduced(sums.astype(np.float64))
        return self.reduced(total)

    def vectors(self, sets: Sequence[BitMap], owners: array[int] | None) -> Matrix:
        """Return the vectors of several sets, one a row."""
        if not sets:
            return np.zeros((0, self.width))
        return np.stack([self.vector(units, owners) for units in sets])

    def product(self, left: Matrix, right: Matrix) -> Matrix:
        """Return a matrix product modulo the prime, exactly."""
        product = np.zeros((left.shape[0], right.shape[1]))
        for start in range(0, left.shape[1], _TERMS):
            part = slice(start, start + _TERMS)
            # 64 products of little more than 2**46 can be reduced, and so can the sum of the parts
            product += self.reduced(left[:, part] @ right[part])
        return self.reduced(product)

    def reduced(self, numbers: Matrix) -> Matrix:
        """Return integers up to 2**52 + 2**40, of either sign, modulo the prime, as `Matrix` holds them.

        The quotient is off by less than 2**-20 before it is rounded, which decides only between the two
        representatives at half the prime; multiples of the prime become zero, and nothing else does.
        """
        rest: Matrix = numbers * (1.0 / self.modulus)
        np.rint(rest, out=rest)
        rest *= self.modulus
        np.subtract(numbers, rest, out=rest)
        return rest

    def inverse(self, number: int) -> int:
        """Return the multiplicative inverse of a non-zero number."""
        return pow(number, -1, self.modulus)

    def _coefficients(self, numbers: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
        # SplitMix64 (Steele, Lea and Flood 2014), salted
        mixed = numbers.astype(np.uint64)
        mixed = (mixed + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + self._salt
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
        return (_remainder(mixed, np.uint64(self.modulus - 1)) + np.uint64(1)).astype(np.float64)


def _remainder(numbers: _Whole, divisor: np.uint32 | np.uint64) -> _Whole:
    """Return remainders; a division by one number for all is several times faster than NumPy's remainder."""
    rest: _Whole = numbers // divisor
    rest *= divisor
    np.subtract(numbers, rest, out=rest)
    return rest


def _prime(seed: int) -> int:
    candidate = _LOWEST + seed % (_HIGHEST - _LOWEST)
    while not _is_prime(candidate):
        candidate = candidate + 1 if candidate + 1 < _HIGHEST else _LOWEST
    return candidate


def _is_prime(number: int) -> bool:
    # Miller and Rabin with these bases is exact below 3,215,031,751 (Pomerance, Selfridge, Wagstaff 1980)
    if number % 2 == 0:
        return False
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(number, base, odd, twos) for base in (2, 3, 5, 7))


def _passes(number: int, base: int, odd: int, twos: int) -> bool:
    power = pow(base, odd, number)
    if power in {1, number - 1}:
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False
