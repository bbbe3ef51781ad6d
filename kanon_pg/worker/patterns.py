"""Pattern masks: which combinations of columns may be suppressed in a row.

A pattern vector says which cells of a row are suppressed; a pattern mask is the set of vectors that a
release may use (Bredereck, Nichterlein and Niedermeier 2013, Definition 2). The fully suppressed
vector always belongs to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.json_numbers import is_whole
from kanon_pg.core.packed import QuasiIdentifier
from kanon_pg.errors import InputError, UnknownName

MOST_PATTERNS = 1 << 16
"""Most pattern vectors of one mask; beyond it the search takes too long to be worth waiting for."""

CONSTRAINTS = ("max_suppressed", "never", "together", "at_most_one")
_FORM = 'Write a list such as [[], ["age"]] or an object such as {"max_suppressed": 2, "never": ["age"]}.'


@dataclass(frozen=True)
class PatternMask:
    """Pattern vectors of a release."""

    vectors: NDArray[np.int64]
    """Shape (p,). Distinct bit masks, ascending; bit ``j`` is set if column ``j`` is suppressed. The last one
    suppresses everything."""
    weights: NDArray[np.float64]
    """Shape (m,). Cost of one suppressed cell per column."""
    notes: tuple[str, ...] = ()
    """What the caller must know about the mask."""
    outside: float = np.inf
    """No requested vector that was left out costs less than this; infinite if none was left out."""

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.weights.size)

    @property
    def full(self) -> int:
        """The vector that suppresses every column."""
        return (1 << self.width) - 1

    def costs(self) -> NDArray[np.float64]:
        """Return the cost of one row per vector, shape (p,)."""
        return suppression_costs(self.vectors, self.weights)


def suppression_costs(vectors: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what one row costs under each vector: the sum of the weights of its suppressed columns.

    Parameters
    ----------
    vectors : ndarray of int64, shape (p,)
    weights : ndarray of float64, shape (m,)
    """
    costs = np.zeros(vectors.size, dtype=np.float64)
    for column, weight in enumerate(weights):
        costs += np.where((vectors >> column) & 1 == 1, weight, 0.0)
    return costs


def number_of_all(columns: Sequence[QuasiIdentifier]) -> int:
    """Return how many pattern vectors there are over some columns."""
    return 1 << len(columns)


def all_patterns(columns: Sequence[QuasiIdentifier]) -> PatternMask:
    """Return the mask of all 2^m pattern vectors.

    Raises
    ------
    InputError
        There are more than `MOST_PATTERNS` of them.
    """
    if number_of_all(columns) > MOST_PATTERNS:
        raise _too_many(f"All {number_of_all(columns)} patterns")
    return _mask(np.arange(number_of_all(columns), dtype=np.int64), columns)


def bounded_patterns(
    vectors: NDArray[np.int64], columns: Sequence[QuasiIdentifier], note: str, outside: float
) -> PatternMask:
    """Return a mask of some vectors that stands for all of them.

    Parameters
    ----------
    outside : float
        No vector that is left out costs less.
    """
    return replace(_mask(vectors, columns), notes=(note,), outside=outside)


def parse_patterns(
    patterns: Sequence[Any] | Mapping[str, Any], columns: Sequence[QuasiIdentifier]
) -> PatternMask:
    """Read a pattern mask as users write it.

    Parameters
    ----------
    patterns : list or mapping
        A list of pattern vectors, each given by the columns it suppresses, or constraints:
        ``max_suppressed`` (number), ``never`` (columns that stay), ``together`` (groups suppressed
        as a whole or not at all), ``at_most_one`` (groups of which one column may be suppressed).

    Raises
    ------
    UnknownName
        A name is not a quasi-identifier of this table.
    InputError
        The text has another form, or it describes more than `MOST_PATTERNS` vectors.

    Notes
    -----
    The fully suppressed vector is added whatever the constraints say, so that every row has a place.
    """
    if isinstance(patterns, Mapping):
        return _mask(_satisfying(patterns, columns), columns)
    if isinstance(patterns, str) or not isinstance(patterns, Sequence):
        raise InputError("The patterns are neither a list nor an object of constraints.", hint=_FORM)
    if len(patterns) > MOST_PATTERNS:
        raise _too_many(f"{len(patterns)} patterns")
    names = _positions(columns)
    return _mask(
        np.array([_bits(vector, names, "A pattern") for vector in patterns], dtype=np.int64), columns
    )


def _mask(vectors: NDArray[np.int64], columns: Sequence[QuasiIdentifier]) -> PatternMask:
    full = np.array([(1 << len(columns)) - 1], dtype=np.int64)
    weights = np.array([column.weight for column in columns], dtype=np.float64)
    return PatternMask(np.unique(np.concatenate([vectors, full])), weights)


def _positions(columns: Sequence[QuasiIdentifier]) -> dict[str, int]:
    return {column.name: position for position, column in enumerate(columns)}


def _bits(names: object, positions: Mapping[str, int], what: str) -> int:
    """Return the bit mask of a list of column names."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise InputError(f"{what} is not a list of column names.", hint=_FORM)
    bits = 0
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{what} holds something that is not a column name.", hint=_FORM)
        if name not in positions:
            raise UnknownName(
                f'{what} names "{name}", which is not a quasi-identifier.',
                hint=f"The quasi-identifiers are: {', '.join(positions)}.",
            )
        bits |= 1 << positions[name]
    return bits


def _satisfying(constraints: Mapping[str, Any], columns: Sequence[QuasiIdentifier]) -> NDArray[np.int64]:
    for constraint in constraints:
        if constraint not in CONSTRAINTS:
            raise UnknownName(
                f'There is no constraint "{constraint}".', hint=f"Constraints are: {', '.join(CONSTRAINTS)}."
            )
    positions = _positions(columns)
    most = _most_suppressed(constraints.get("max_suppressed"), len(columns))
    never = _bits(constraints.get("never", ()), positions, 'The constraint "never"')
    together = _groups(constraints.get("together", ()), positions, "together")
    at_most_one = _groups(constraints.get("at_most_one", ()), positions, "at_most_one")
    units = _units(len(columns), never, together)
    vectors = [0]
    for unit in units:
        # A vector that breaks an upper limit stays outside it whatever is suppressed in addition.
        vectors += [
            vector | unit
            for vector in vectors
            if (vector | unit).bit_count() <= most
            and all(((vector | unit) & one).bit_count() <= 1 for one in at_most_one)
        ]
        if len(vectors) > MOST_PATTERNS:
            raise _too_many(f"More than {MOST_PATTERNS} patterns satisfy these constraints; they")
    return np.array(vectors, dtype=np.int64)


def _most_suppressed(most: object, width: int) -> int:
    if most is None:
        return width
    if not is_whole(most) or most < 0:
        raise InputError('The constraint "max_suppressed" is not a whole number of at least 0.', hint=_FORM)
    return min(most, width)


def _groups(groups: object, positions: Mapping[str, int], constraint: str) -> list[int]:
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        raise InputError(f'The constraint "{constraint}" is not a list of lists of column names.', hint=_FORM)
    return [_bits(group, positions, f'A group of "{constraint}"') for group in groups]


def _units(width: int, never: int, together: Sequence[int]) -> list[int]:
    """Return the sets of columns that are suppressed as a whole: overlapping groups are one unit."""
    units = [1 << column for column in range(width)]
    for group in together:
        joined = group
        for unit in units:
            if unit & group:
                joined |= unit
        units = [unit for unit in units if not unit & joined] + ([joined] if joined else [])
    return sorted(unit for unit in units if not unit & never)


def _too_many(what: str) -> InputError:
    return InputError(
        f"{what} are too many: at most {MOST_PATTERNS} can be searched.",
        hint='Restrict them, for example with {"max_suppressed": 3}, or name fewer quasi-identifiers.',
    )


def cheapest_first(
    mask: PatternMask, cardinalities: NDArray[np.int64], seed: int | None = None
) -> NDArray[np.int64]:
    """Return the vectors by cost.

    Parameters
    ----------
    cardinalities : ndarray of int64, shape (m,)
        Distinct values per column.
    seed : int, optional
        Vectors of equal cost come in a random order, the same for the same seed. Without it those come
        first that suppress the columns with the most distinct values.

    Notes
    -----
    Of the orders that were tried on Adult, Census-Income, Diabetes and CMC (lexicographic both ways,
    by number of values, entropy, and people in classes of the full table, each both ways, and
    random), falling number of values suppressed least nearly everywhere: 1 to 3 % less than the
    lexicographic order.
    """
    if seed is not None:
        shuffled = np.random.default_rng(seed).permutation(mask.vectors.size)
        return mask.vectors[np.lexsort((shuffled, mask.costs()))]
    values = suppression_costs(mask.vectors, np.log2(np.maximum(cardinalities, 1)))
    return mask.vectors[np.lexsort((_mirrored(mask), -values.round(9), mask.costs()))]


def few_changes(vectors: NDArray[np.int64], costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the vectors by cost, those of equal cost so that neighbours differ in few columns.

    Combinations of one size in the order of the binary reflected Gray code differ in two columns each
    (Tang and Liu 1973, "Distance-2 cyclic chaining of constant-weight codes"), so keys are updated fast.
    """
    rank = vectors.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        rank ^= rank >> shift
    return vectors[np.lexsort((rank, costs))]


def _mirrored(mask: PatternMask) -> NDArray[np.int64]:
    """Return the vectors as numbers whose most significant bit is column 0."""
    mirrored = np.zeros_like(mask.vectors)
    for column in range(mask.width):
        mirrored = (mirrored << 1) | ((mask.vectors >> column) & 1)
    return mirrored
