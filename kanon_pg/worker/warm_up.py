"""Compile every kernel once, so that the first real call does not wait for the compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kanon_pg.core.generalization import PackedHierarchy
from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier, SensitiveColumn
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.audit.auditor import work as audit
from kanon_pg.worker.audit.column_sets import Persons
from kanon_pg.worker.audit.projections import projections_of_suffixes
from kanon_pg.worker.audit.violating import walks
from kanon_pg.worker.clock import Clock, no_progress
from kanon_pg.worker.compiled import used_files, watched
from kanon_pg.worker.models.evaluator import evaluator_of
from kanon_pg.worker.packed_numbers import buffer_of
from kanon_pg.worker.patterns import all_patterns
from kanon_pg.worker.row_types import RowTypeTable, by_content
from kanon_pg.worker.solvers.annealing.graph import graph_around
from kanon_pg.worker.solvers.bounded_mask import bounded_mask
from kanon_pg.worker.solvers.bounds.prices import raise_prices
from kanon_pg.worker.solvers.bounds.reach import cheapest_levels
from kanon_pg.worker.solvers.exact.optimum import search_exactly
from kanon_pg.worker.solvers.graph_search import GraphSearch
from kanon_pg.worker.solvers.greedy.rest import fill_rest
from kanon_pg.worker.solvers.heuristics import repair_and_improve, search_greedily
from kanon_pg.worker.solvers.pairs import search_by_pairs
from kanon_pg.worker.solvers.recoding.methods import RECODINGS
from kanon_pg.worker.solvers.recoding.rest import assign_rest
from kanon_pg.worker.solvers.recoding.task import task_of
from kanon_pg.worker.solvers.refinement.dives import SuppressionDives
from kanon_pg.worker.solvers.refinement.recombination import SolutionPool
from kanon_pg.worker.solvers.refinement.refine import refine
from kanon_pg.worker.solvers.registry import solve
from kanon_pg.worker.verification.certificate import PRICE_UNIT, certified_bound

_SECONDS = 0.02


def warm_up(kernels: str, report: Callable[[str], None] = lambda name: None) -> tuple[str, ...]:
    """Run every kernel of a set of `KERNELS` on tiny tables, with and without an entity; return the files.

    Compiled kernels are kept on disk (see `kanon_pg.worker.compiled`), so one call per installation suffices;
    it takes up to a minute the first time and a second or two afterwards.
    """
    with watched(report):
        _SETS[kernels]()
    return used_files()


def _solve_plainly() -> None:
    for has_entity in (False, True):
        packed = _tiny_table(has_entity)
        for method in ("greedy", "mondrian"):
            solve(packed, SolveRequest(k=3, method=method))
        _search(packed)


def _solve_under_models() -> None:
    for has_entity in (False, True):
        _solve_with_models(_tiny_table(has_entity, sensitive=True))


def _search(packed: PackedRowTypes) -> None:
    """Run the stages of the long search, each with little effort."""
    table, request, clock = RowTypeTable.from_packed(packed), SolveRequest(k=3), Clock()
    mask = all_patterns(table.columns)
    found = search_greedily(table, mask, request, clock)
    raised = raise_prices(table, mask.vectors, request.k, clock)
    certified_bound(packed, mask.vectors, request.k, raised.prices)
    graph = graph_around(table, mask.vectors, found.solution, request.k, clock, prices=raised.prices)
    pool = SolutionPool(GraphSearch(table, graph, request.k, raised.prices))
    pool.add(found.solution)
    refine(pool, clock, seconds=_SECONDS)
    # nothing is proven, so that nothing is left out
    unproven = replace(found, lower_bound=None)
    for prices in (None, raised.prices):
        search_exactly(table, mask, request, clock, unproven, prices, nodes=0)
    bounded_mask(table, request.k, clock)


def _solve_with_models(packed: PackedRowTypes) -> None:
    request = SolveRequest(k=3, models=PrivacyModels(p=2), method="greedy")
    solve(packed, request)
    table = RowTypeTable.from_packed(packed)
    assigned = np.zeros(len(table), dtype=np.int64)
    assigned[0] = (1 << table.width) - 1
    repair_and_improve(table, all_patterns(table.columns), request, Clock(), assigned, "nothing")
    ordered, _ = by_content(table)
    fill_rest(ordered, assigned, request.k, evaluator_of(ordered, request.models), Clock())
    vectors = all_patterns(table.columns).vectors
    raised = raise_prices(table, vectors, request.k, Clock(), models=request.models)
    certified_bound(packed, vectors, request.k, raised.prices, models=request.models)
    if not table.has_entity:
        mask = all_patterns(table.columns)
        SuppressionDives(table, mask, request, Clock(), np.maximum(raised.prices, PRICE_UNIT)).first()


def _pair() -> None:
    """Run the method for k = 2 on two groups of three rows, which a triple serves best."""
    group, member = np.arange(6) // 3, np.arange(6) % 3
    packed = _packed([group, group, group, member])
    table = RowTypeTable.from_packed(packed)
    search_by_pairs(table, all_patterns(table.columns), SolveRequest(k=2), Clock())


def _tiny_table(has_entity: bool, sensitive: bool = False, count: int = 64) -> PackedRowTypes:
    """Return row types over four columns, of which three vary, so that every kernel has work."""
    number = np.arange(count)
    return _packed(
        [number // step % 4 for step in (1, 3, 7, 64)],
        people=number // 2 if has_entity else None,
        sensitive=number % 5 if sensitive else None,
    )


def _packed(
    columns: Sequence[NDArray[np.int64]],
    people: NDArray[np.int64] | None = None,
    sensitive: NDArray[np.int64] | None = None,
) -> PackedRowTypes:
    keys = np.arange(columns[0].size)
    ones = buffer_of(np.ones(keys.size, dtype=np.int64))
    return PackedRowTypes(
        tuple(QuasiIdentifier(f"column_{number}") for number in range(len(columns))),
        buffer_of(keys),
        ones,
        ones,
        tuple(buffer_of(column) for column in columns),
        (None,) * len(columns),
        b"" if people is None else buffer_of(keys),
        b"" if people is None else buffer_of(people),
        () if sensitive is None else (SensitiveColumn("sensitive"),),
        () if sensitive is None else (buffer_of(sensitive),),
        () if sensitive is None else (None,),
    )


def _audit() -> None:
    """Find sets among columns none of which violates alone, completely and by single walks."""
    for has_entity in (False, True):
        packed = _tiny_table(has_entity)
        asked = {"k": 3, "max_columns": None, "quasi_identifiers": [0], "details": True, "seconds": None}
        audit("violating", [packed], asked, no_progress)
        audit("identifying", [packed], {"seconds": None}, no_progress)
        at_risk = {"threshold": 0.2, "sampling_fraction": None, "uniques_seconds": None, "seconds": None}
        audit("risk", [packed], at_risk, no_progress)
    table = RowTypeTable.from_packed(packed)
    order = range(table.width)
    next(walks(projections_of_suffixes(table, Persons.of(table), order)[0], 3))


def _recode() -> None:
    """Run the methods for hierarchies, with people in one and in several row types, and with a model."""
    tables = [_tiny_table(has_entity) for has_entity in (False, True)]
    for packed in map(_with_hierarchies, tables):
        # Method exact compiles what row_assignment needs, which refuses tables with an entity or many types.
        for method in RECODINGS.keys() - {"row_assignment"}:
            solve(packed, SolveRequest(k=3, method=method))
        _assign_all(packed, SolveRequest(k=3))
    model = SolveRequest(k=2, method="exact", models=PrivacyModels(p=2))
    for has_entity in (False, True):
        solve(_with_hierarchies(_tiny_table(has_entity, sensitive=True)), model)
        # few enough for all partitions
        solve(_with_hierarchies(_tiny_table(has_entity, sensitive=True, count=8)), model)


def _assign_all(packed: PackedRowTypes, request: SolveRequest) -> None:
    """Assign row types where there is no class yet, and bound what that costs as for large tables."""
    task = task_of(packed, RowTypeTable.from_packed(packed), request, Clock())
    everyone = np.arange(len(task.table), dtype=np.int32)
    nowhere = np.full(everyone.size, -1, dtype=np.int64)
    assign_rest(task, nowhere, everyone)
    cheapest_levels(task.forest, task.table, request.k, np.ones(everyone.size), Clock())


def _with_hierarchies(packed: PackedRowTypes) -> PackedRowTypes:
    """Give the three columns that vary a hierarchy each."""
    values = np.arange(4)
    doubles = [np.full(4, loss).astype(">f8").tobytes() for loss in (0.0, 0.5, 1.0)]
    halves = PackedHierarchy(2, buffer_of(values), (buffer_of(values // 2),), tuple(doubles))
    return replace(packed, hierarchies=(halves, halves, halves, None))


_SETS = {
    "plain": _solve_plainly,
    "models": _solve_under_models,
    "pairs": _pair,
    "audit": _audit,
    "recoding": _recode,
}
