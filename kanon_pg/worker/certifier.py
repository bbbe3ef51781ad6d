"""Writes the certificate of a release as text that a third party can check with a program of their own.

A certificate has prices (`kanon_pg.worker.verification.certificate`) and the solution: how many rows of each
row type are published with which columns suppressed. It holds no values: row types stand in random order,
and the values of each column are numbered at random, so that all it tells of cells is which of them are
equal. Prices that were stored are taken only if they are valid for the rows that are there now.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.certificate import CertificateTask, StoredMapping
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.errors import ReleaseError, SolverError
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock, Progress, no_progress
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.packed_numbers import integers
from kanon_pg.worker.patterns import PatternMask, parse_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.bounded_mask import mask_of_all
from kanon_pg.worker.solvers.bounds.prices import raise_prices
from kanon_pg.worker.verification.certificate import PRICE_UNIT, certified_bound
from kanon_pg.worker.verification.recount import recount

FORMAT = "kanon_pg certificate 1"
"""First entry of the text."""

_SAME = 1e-9
"""Costs that differ by no more than this share are the same; sums of weights are rounded."""


def certify(row_types: PackedRowTypes, task: CertificateTask, progress: Progress = no_progress) -> str:
    """Return a certificate in JSON, one line for each row type.

    Parameters
    ----------
    row_types : PackedRowTypes
        Those of the base relation as it is now; without an entity and sensitive columns.
    progress : callable, optional
        Called with the phase and the share done; whatever it raises cancels.

    Raises
    ------
    ReleaseError
        The relation has other row types, or other numbers of them, than what was published.
    SolverError
        There are no prices that prove anything.

    Notes
    -----
    As long as `kanon_pg.worker.verification.certificate.certified_bound` takes, some seconds. Where no prices
    are stored, a search for some takes the time of the task at most.
    """
    clock = Clock(task.seconds, progress)
    clock.report("prepare", None)
    table = RowTypeTable.from_packed(row_types, clock.heartbeat)
    mask = _mask(table, task, clock)
    places = _places(row_types, task.mapping)
    solution = _stored_solution(table, task.mapping, places)
    cost = _exact_cost(table, solution)
    _require_published(row_types, table, solution, task, cost)
    prices, bound = _proven(row_types, table, mask, task, places, clock)
    clock.report("writing", None)
    header = {
        "format": FORMAT,
        "release": task.release,
        "k": task.k,
        "rows": table.total_rows,
        "weights": [column.weight for column in table.columns],
        "patterns": None if task.patterns is None else [_columns(vector) for vector in mask.vectors.tolist()],
        "price_unit": PRICE_UNIT,
        "cost": float(cost),
        "lower_bound": max(0.0, min(bound, float(cost))),
    }
    lines = ",\n".join(json.dumps(line, separators=(",", ":")) for line in _lines(table, solution, prices))
    return f'{json.dumps(header)[:-1]},\n"row_types": [\n{lines}\n]}}\n'


def _mask(table: RowTypeTable, task: CertificateTask, clock: Clock) -> PatternMask:
    if task.patterns is None:
        return mask_of_all(table, task.k, clock)
    return parse_patterns(task.patterns, table.columns)


def _lines(table: RowTypeTable, solution: Solution, prices: NDArray[np.int64]) -> Iterator[list[object]]:
    """Yield price, numbers of the cells, and parts of each row type, in random order."""
    codes = np.stack([_numbered_at_random(cells) for cells in table.cells], axis=1)
    begin = np.searchsorted(solution.row_type, np.arange(len(table) + 1)).tolist()
    vectors, rows = solution.vector.tolist(), solution.rows.tolist()
    for number in _shuffled(len(table)).tolist():
        parts = [[rows[part], _columns(vectors[part])] for part in range(begin[number], begin[number + 1])]
        yield [int(prices[number]), codes[number].tolist(), parts]


def _columns(vector: int) -> list[int]:
    """Return the numbers of the suppressed columns, from 0."""
    return [column for column in range(vector.bit_length()) if vector >> column & 1]


def _numbered_at_random(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    numbers, first = number_values(cells)
    return _shuffled(first.size)[numbers]


def _shuffled(size: int) -> NDArray[np.int64]:
    """Return the numbers from 0 in an order that nobody can foresee."""
    order: NDArray[np.int64] = np.frombuffer(secrets.token_bytes(8 * size), dtype=np.int64).argsort()
    return order


def _places(row_types: PackedRowTypes, mapping: StoredMapping) -> NDArray[np.int64]:
    """Return where each row type stands in the mapping."""
    stored, keys = integers(mapping.keys), integers(row_types.keys)
    if stored.size != keys.size:
        raise _changed()
    order = np.argsort(stored)
    found: NDArray[np.int64] = order[np.searchsorted(stored[order], keys).clip(max=keys.size - 1)]
    if not np.array_equal(stored[found], keys):
        raise _changed()
    return found


def _stored_solution(table: RowTypeTable, mapping: StoredMapping, places: NDArray[np.int64]) -> Solution:
    """Return the solution that the mapping and the parts say, with the rows that there are now."""
    row_type, vector = np.arange(len(table)), integers(mapping.patterns)[places]
    if not mapping.part_keys:
        return Solution.undivided(table, vector)
    keys = integers(mapping.keys)[places]
    order = np.argsort(keys)
    owner = order[np.searchsorted(keys[order], integers(mapping.part_keys))]
    first = integers(mapping.first_rows)
    # A part ends where the next one of its row type begins, the last one with the rows.
    end = table.rows[owner]
    is_inner = owner[1:] == owner[:-1]
    end[:-1][is_inner] = first[1:][is_inner] - 1
    whole = ~np.isin(row_type, owner)
    return Solution.of_parts(
        np.concatenate([row_type[whole], owner]),
        np.concatenate([vector[whole], integers(mapping.part_patterns)]),
        np.concatenate([table.rows[whole], end - first + 1]),
    )


def _exact_cost(table: RowTypeTable, solution: Solution) -> Fraction:
    hidden = (int(solution.rows[(solution.vector >> c) & 1 == 1].sum()) for c in range(table.width))
    return sum(
        (rows * Fraction(column.weight) for rows, column in zip(hidden, table.columns, strict=True)),
        Fraction(0),
    )


def _require_published(
    row_types: PackedRowTypes, table: RowTypeTable, solution: Solution, task: CertificateTask, cost: Fraction
) -> None:
    """Refuse what is no longer what was published."""
    held = np.bincount(solution.row_type, weights=solution.rows, minlength=len(table))
    is_same = table.total_rows == task.rows and abs(float(cost) - task.cost) <= _SAME * task.cost
    if not is_same or not np.array_equal(held, table.rows):
        raise _changed()
    class_of = classes_of(solution.parts_of(table), solution.vector).class_of
    if recount(row_types, solution, class_of, table.heartbeat).smallest < task.k:
        raise _changed()


def _proven(
    row_types: PackedRowTypes,
    table: RowTypeTable,
    mask: PatternMask,
    task: CertificateTask,
    places: NDArray[np.int64],
    clock: Clock,
) -> tuple[NDArray[np.int64], float]:
    """Return prices and the bound that they prove: the stored ones if they prove something, else new ones."""
    if task.mapping.prices:
        prices = integers(task.mapping.prices)[places]
        bound = certified_bound(
            row_types, mask.vectors, task.k, prices, table.heartbeat, outside=mask.outside
        )
        if bound is not None:
            return prices, bound
    clock.report("bound", None)
    prices = raise_prices(table, mask.vectors, task.k, clock, target=task.cost, outside=mask.outside).prices
    bound = certified_bound(row_types, mask.vectors, task.k, prices, table.heartbeat, outside=mask.outside)
    if bound is None:
        raise SolverError(
            "No prices prove anything about this release.",
            hint="Its weights or numbers of rows are too large for a check in 64-bit numbers.",
        )
    return prices, bound


def _changed() -> ReleaseError:
    return ReleaseError(
        "The table or the weights of its columns have changed since the release was published.",
        hint="A certificate is about the rows that were published: publish anew with kanon_anonymize.",
    )
