"""Writes the certificate of a release as text that a third party can check with a program of their own.

A certificate has prices (`kanon_pg.worker.verification.certificate`) and the solution: how many rows of each
row type are published with each column at which level. It holds no values: row types stand in random order,
and values, nodes and people are numbered at random, so that all it tells of them is which are equal, and
which nodes lie above which. Prices that were stored are taken only if they are valid for the rows that are
there now.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.certificate import CertificateTask, StoredMapping
from kanon_pg.core.generalization import PackedHierarchy
from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import SolveRequest
from kanon_pg.errors import ReleaseError, SolverError
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.clock import Clock, Progress, no_progress
from kanon_pg.worker.numbering import number_values
from kanon_pg.worker.packed_numbers import floats, integers
from kanon_pg.worker.patterns import PatternMask, parse_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.solvers.bounded_mask import mask_of_all
from kanon_pg.worker.solvers.bounds.prices import raise_prices
from kanon_pg.worker.solvers.recoding.prices import raise_level_prices
from kanon_pg.worker.solvers.recoding.task import classes_of_solution, task_of
from kanon_pg.worker.verification.certificate import PRICE_UNIT, certified_bound
from kanon_pg.worker.verification.class_demands import class_demands
from kanon_pg.worker.verification.recount import recount, require_models

FORMAT = "kanon_pg certificate 2"
"""First entry of the text."""

_SAME = 1e-9
"""Costs that differ by no more than this share are the same; sums of weights are rounded."""


def certify(row_types: PackedRowTypes, task: CertificateTask, progress: Progress = no_progress) -> str:
    """Return a certificate in JSON, one line for each row type.

    Parameters
    ----------
    row_types : PackedRowTypes
        Those of the base relation as it is now, with the entity, sensitive columns and hierarchies of the
        release.

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
    search = _Search(row_types, table, None if row_types.hierarchies else _mask(table, task, clock), task)
    places = _places(row_types, task.mapping)
    solution = _stored_solution(table, task.mapping, places)
    columns = _columns(row_types, table)
    levels = _levels(row_types, solution.vector)
    cost = _exact_cost(table, columns, solution, levels)
    _require_published(search, solution, cost)
    prices, bound = _proven(search, places, clock)
    clock.report("writing", None)
    demands = class_demands(row_types, task.models)
    allowed = None if task.patterns is None or search.mask is None else search.mask.vectors
    header = {
        "format": FORMAT,
        "release": task.release,
        "k": task.k,
        "rows": table.total_rows,
        "columns": [column.described for column in columns],
        "demands": [] if demands is None else [[least, demands.share] for least in demands.least.tolist()],
        "patterns": None if allowed is None else _levels(row_types, allowed).tolist(),
        "price_unit": PRICE_UNIT,
        "cost": float(cost),
        "lower_bound": max(0.0, min(bound, float(cost))),
        "nonce": secrets.token_hex(16),  # so that a digest of the text tells nothing of it
    }
    written = (
        json.dumps(line, separators=(",", ":")) for line in _lines(search, columns, solution, levels, prices)
    )
    lines = ",\n".join(written)
    return f'{json.dumps(header)[:-1]},\n"row_types": [\n{lines}\n]}}\n'


@dataclass(frozen=True)
class _Search:
    """Where prices are searched and checked; `mask` is None where columns have hierarchies."""

    row_types: PackedRowTypes
    table: RowTypeTable
    mask: PatternMask | None
    task: CertificateTask

    def certified(self, prices: NDArray[np.int64]) -> float | None:
        """Return the bound that prices prove, None if they prove none."""
        vectors, outside = (None, np.inf) if self.mask is None else (self.mask.vectors, self.mask.outside)
        return certified_bound(
            self.row_types, vectors, self.task.k, prices, self.table.heartbeat,
            models=self.task.models, outside=outside,
        )  # fmt: skip

    def raised(self, clock: Clock) -> NDArray[np.int64]:
        """Search for prices."""
        table, task = self.table, self.task
        if self.mask is not None:
            return raise_prices(
                table, self.mask.vectors, task.k, clock,
                models=task.models, target=task.cost, outside=self.mask.outside,
            ).prices  # fmt: skip
        recoding = task_of(self.row_types, table, SolveRequest(task.k, models=task.models), clock)
        known = np.full(len(table), table.weights.sum())
        raised = raise_level_prices(recoding, known, task.cost, clock)
        prices = np.zeros(len(table), dtype=np.int64)
        if raised is not None:
            prices[recoding.order] = raised.found.prices
        return prices


def _mask(table: RowTypeTable, task: CertificateTask, clock: Clock) -> PatternMask:
    if task.patterns is None:
        return mask_of_all(table, task.k, clock)
    return parse_patterns(task.patterns, table.columns)


class _Column(NamedTuple):
    """A column with its values numbered at random."""

    codes: NDArray[np.int64]
    """Shape (n,). Number of the value of each row type."""
    described: dict[str, object]
    """Weight and levels as the certificate has them."""
    costs: list[NDArray[np.object_]]
    """Shape (v,). Exact cost of a cell per value, level by level from the lowest."""


def _columns(row_types: PackedRowTypes, table: RowTypeTable) -> list[_Column]:
    hierarchies = row_types.hierarchies or (None,) * table.width
    return [
        _column(Fraction(column.weight), hierarchy, cells)
        for column, hierarchy, cells in zip(table.columns, hierarchies, table.cells, strict=True)
    ]


def _column(weight: Fraction, hierarchy: PackedHierarchy | None, cells: NDArray[np.int64]) -> _Column:
    codes = _numbered_at_random(cells)
    described: dict[str, object] = {"weight": float(weight), "levels": None}
    first = np.unique(codes, return_index=True)[1]
    if hierarchy is None:
        nothing = np.full(first.size, Fraction(0))
        return _Column(codes, described, [nothing, nothing + weight])
    values = cells[first].astype(np.int64)
    known = integers(hierarchy.cells)
    order = np.argsort(known)
    place = order[np.searchsorted(known[order], values)]
    shown = [values, *(integers(nodes)[place] for nodes in hierarchy.nodes), np.zeros_like(values)]
    losses = [floats(one)[place].tolist() for one in hierarchy.losses]
    nodes = [_numbered_at_random(one).tolist() for one in shown]
    described["levels"] = [
        list(both) for both in zip(nodes[hierarchy.lowest :], losses[hierarchy.lowest :], strict=True)
    ]
    costs = [np.array([weight * Fraction(loss) for loss in one]) for one in losses[hierarchy.lowest :]]
    return _Column(codes, described, costs)


def _levels(row_types: PackedRowTypes, vectors: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how far each column is above its lowest level, shape (p, m)."""
    fields = row_types.level_fields
    lowest = [
        0 if one is None else one.lowest for one in row_types.hierarchies or (None,) * len(fields.heights)
    ]
    parts = [
        (vectors >> at & (1 << width) - 1) - low
        for at, width, low in zip(fields.offsets, fields.widths, lowest, strict=True)
    ]
    return np.stack(parts, axis=1)


def _lines(
    search: _Search,
    columns: list[_Column],
    solution: Solution,
    levels: NDArray[np.int64],
    prices: NDArray[np.int64],
) -> Iterator[list[object]]:
    """Yield price, cells, people, sensitive values and parts of each row type, in random order."""
    table = search.table
    codes = np.stack([column.codes for column in columns], axis=1)
    secrets = [_numbered_at_random(values) for values in (table.sensitive if search.task.models else ())]
    people = _people(search.row_types)
    begin = np.searchsorted(solution.row_type, np.arange(len(table) + 1)).tolist()
    rows, shown = solution.rows.tolist(), levels.tolist()
    for number in _shuffled(len(table)).tolist():
        yield [
            int(prices[number]),
            codes[number].tolist(),
            None if people is None else people[number],
            [int(values[number]) for values in secrets],
            [[rows[part], shown[part]] for part in range(begin[number], begin[number + 1])],
        ]


def _people(row_types: PackedRowTypes) -> list[list[int]] | None:
    """Return the people who have rows of each row type, numbered at random; None if each row is one."""
    if not row_types.has_entity:
        return None
    keys = integers(row_types.keys)
    order = np.argsort(keys)
    owner = order[np.searchsorted(keys[order], integers(row_types.pair_keys))]
    person = _numbered_at_random(integers(row_types.pair_people))
    pairs = np.unique(np.stack([owner, person], axis=1), axis=0)
    ends = np.searchsorted(pairs[:, 0], np.arange(1, keys.size))
    return [part.tolist() for part in np.split(pairs[:, 1], ends)]


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


def _exact_cost(
    table: RowTypeTable, columns: list[_Column], solution: Solution, levels: NDArray[np.int64]
) -> Fraction:
    total = Fraction(0)
    for place, column in enumerate(columns):
        codes = column.codes[solution.row_type]
        for level, costs in enumerate(column.costs):
            here = levels[:, place] == level
            rows = np.bincount(codes[here], weights=solution.rows[here], minlength=costs.size)
            total += sum((int(n) * cost for n, cost in zip(rows, costs, strict=True) if n), Fraction(0))
    return total


def _require_published(search: _Search, solution: Solution, cost: Fraction) -> None:
    """Refuse what is no longer what was published."""
    row_types, table, task = search.row_types, search.table, search.task
    held = np.bincount(solution.row_type, weights=solution.rows, minlength=len(table))
    is_same = table.total_rows == task.rows and abs(float(cost) - task.cost) <= _SAME * task.cost
    if not is_same or not np.array_equal(held, table.rows):
        raise _changed()
    parts = solution.parts_of(table)
    if row_types.hierarchies:
        class_of = classes_of_solution(row_types, parts, solution)
    else:
        class_of = classes_of(parts, solution.vector).class_of
    if recount(row_types, solution, class_of, table.heartbeat).smallest < task.k:
        raise _changed()
    try:
        require_models(row_types, solution, class_of, task.models, table.heartbeat)
    except SolverError as error:
        raise _changed() from error


def _proven(search: _Search, places: NDArray[np.int64], clock: Clock) -> tuple[NDArray[np.int64], float]:
    """Return prices and the bound that they prove: the stored ones if they prove something, else new ones."""
    stored = search.task.mapping.prices
    if stored:
        prices = integers(stored)[places]
        bound = search.certified(prices)
        if bound is not None:
            return prices, bound
    clock.report("bound", None)
    prices = search.raised(clock)
    bound = search.certified(prices)
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
