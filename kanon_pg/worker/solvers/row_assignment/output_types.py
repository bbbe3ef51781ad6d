"""Every class that few row types can form: the output row types of Bredereck et al. (2014)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kanon_pg.worker.row_types import RowTypeTable


class OutputType(NamedTuple):
    """A pattern vector together with row types that agree on what it keeps.

    Parameters
    ----------
    cost : int
        Cost of one row in units of `whole_costs`.
    vector : int
        Bit mask of suppressed columns.
    members : tuple of int
        Positions of the row types, ascending.
    fewest : int
        Rows that it needs if it is used.
    """

    cost: int
    vector: int
    members: tuple[int, ...]
    fewest: int


def output_types(
    table: RowTypeTable,
    vectors: Iterable[tuple[int, int]],
    k: int,
    *,
    rest_may_be_small: bool = False,
    keep_equal: bool = False,
) -> list[OutputType]:
    """List the output row types of some row types.

    Parameters
    ----------
    table : RowTypeTable
    vectors : iterable of (int, int)
        Cost of one row and bit mask of each allowed vector.
    k : int
        Output row types with fewer compatible rows are left out.
    rest_may_be_small : bool
        The fully suppressed one may have any number of rows.
    keep_equal : bool
        Keep output row types with the same members. Otherwise only the cheapest of them is listed: that
        changes no optimum, but classes may then be fewer than they could be.

    Returns
    -------
    list of OutputType
        Cheapest first.

    Notes
    -----
    O(p n m) for p vectors; cells are compared, not hashes.
    """
    codes = table.codes.T.tolist()
    rows = table.rows.tolist()
    full = (1 << table.width) - 1
    found: list[OutputType] = []
    seen: set[tuple[int, tuple[int, ...]]] = set()
    for cost, vector in sorted(vectors):
        kept = [column for column in range(table.width) if not vector >> column & 1]
        groups: dict[tuple[int, ...], list[int]] = {}
        for item, code in enumerate(codes):
            groups.setdefault(tuple(code[column] for column in kept), []).append(item)
        fewest = 1 if rest_may_be_small and vector == full else k
        for group in groups.values():
            members = tuple(group)
            if sum(rows[item] for item in members) < fewest or (not keep_equal and (fewest, members) in seen):
                continue
            seen.add((fewest, members))
            found.append(OutputType(cost, vector, members, fewest))
        table.heartbeat()
    return found
