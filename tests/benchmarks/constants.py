"""What half and twice of a constant of the search give: cost, bound and processor time."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing import get_context
from types import SimpleNamespace
from typing import Any

from rich.table import Table

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker import clock
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.patterns import all_patterns
from kanon_pg.worker.row_types import RowTypeTable
from kanon_pg.worker.solvers import portfolio
from kanon_pg.worker.solvers.bounds import prices
from kanon_pg.worker.solvers.heuristics import search_greedily
from kanon_pg.worker.solvers.refinement.dives import SuppressionDives
from kanon_pg.worker.solvers.registry import solve
from tests.benchmarks.bounds import with_sensitive
from tests.benchmarks.columns import ADULT9, CENSUS8, CMC, QI8
from tests.benchmarks.generalization import generalized_file
from tests.benchmarks.packed import counted_file, packed_file, packed_table
from tests.benchmarks.settings import DATA, Settings, missing, table

_SOLVERS = "kanon_pg.worker.solvers."

_SECONDS = 8.0
_SEED = 1


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of a module below `kanon_pg.worker.solvers`.

    Parameters
    ----------
    values : sequence
        Half, twice, or what is nearest to that and makes sense.
    tables : sequence of str
        Names of `CASES` in which it acts.
    """

    module: str
    name: str
    values: Sequence[Any]
    tables: Sequence[str]


Figures = tuple[float, float | None, float]
"""Cost, bound and processor time."""


@dataclass(frozen=True, slots=True)
class Case:
    """A table, what is asked of it, and what does it.

    Parameters
    ----------
    read : callable
        Reads the table.
    """

    file: str
    read: Callable[[], PackedRowTypes]
    request: SolveRequest
    search: Callable[[PackedRowTypes, SolveRequest], Figures]


def _plain(file: str, columns: Sequence[str]) -> Callable[[], PackedRowTypes]:
    return lambda: packed_file(DATA / f"{file}.csv.gz", columns)


def _sensitive(file: str, columns: Sequence[str], name: str, step: int) -> Callable[[], PackedRowTypes]:
    """Return what reads every so many of the distinct rows in their order, one column being sensitive."""

    def read() -> PackedRowTypes:
        counted = counted_file(DATA / f"{file}.csv.gz", columns)
        counted = counted.sort_by([(column, "ascending") for column in columns])
        chosen = counted.take(list(range(0, counted.num_rows, step)))
        return with_sensitive(packed_table(chosen, columns), name)

    return read


def _generalized(file: str, columns: Sequence[str]) -> Callable[[], PackedRowTypes]:
    return lambda: generalized_file(DATA / f"{file}.csv.gz", DATA / "hierarchies" / file, columns)


def _request(method: str = "auto", k: int = 5, **models: Any) -> SolveRequest:
    return SolveRequest(k, method, models=PrivacyModels(**models), seconds=_SECONDS, seed=_SEED)


def _processor_seconds() -> float:
    """Return the processor time of this process and of those that it started and that have ended."""
    used = os.times()
    return time.process_time() + used.children_user + used.children_system


def _solved(packed: PackedRowTypes, request: SolveRequest) -> Figures:
    """Solve; the seconds of the search are those of this process and its own, however many others run."""
    solve(packed, replace(request, k=100, seconds=1.0))
    clock.time = prices.time = SimpleNamespace(monotonic=_processor_seconds)  # type: ignore[assignment]
    before = _processor_seconds()
    found = solve(packed, request)
    return found.weighted_cost, found.lower_bound, _processor_seconds() - before


def _dived(packed: PackedRowTypes, request: SolveRequest) -> Figures:
    """Do what 'auto' does under privacy models, without integer programs and without an end in time.

    What time ends depends on how far it came, by much more than constants matter.
    """
    types = RowTypeTable.from_packed(packed)
    context = portfolio.SearchContext(types, all_patterns(types.columns), request, Clock(), portfolio.GOAL)
    before = 0.0
    for steps in (1, _STEPS):  # the first time kernels are compiled
        before = time.process_time()
        found = search_greedily(types, context.mask, request, context.clock)
        _, found = portfolio._with_prices(context, found, steps=steps)
        if found.prices is not None:
            dives = SuppressionDives(types, context.mask, request, context.clock, found.prices)
            found = portfolio._dived(context, found, dives)
        if found.prices is not None and steps > 1:
            found = portfolio._dived_again(context, found, dives)
    return context.cost(found), found.lower_bound, time.process_time() - before


_STEPS = 1_000

_JOBS = _sensitive("adult", QI8, "occupation", 5)
_FEWER_JOBS = _sensitive("adult", QI8, "occupation", 20)
_METHODS = _sensitive("cmc", CMC, "contraceptive_method", 1)

CASES: Mapping[str, Case] = {
    "Adult": Case("adult", _plain("adult", ADULT9), _request(), _solved),
    "CMC": Case("cmc", _plain("cmc", CMC), _request(), _solved),
    "census": Case("census_income_kdd", _plain("census_income_kdd", CENSUS8), _request(), _solved),
    "Adult exactly": Case("adult", _plain("adult", ADULT9), _request("exact", 25), _solved),
    "CMC exactly": Case("cmc", _plain("cmc", CMC), _request("exact", 3), _solved),
    "Adult, hierarchies": Case("adult", _generalized("adult", QI8), _request(), _solved),
    "Adult, l = 3": Case("adult", _JOBS, _request(l=3), _dived),
    "Adult, p = 4": Case("adult", _JOBS, _request(p=4), _dived),
    "Adult, t = 0.3": Case("adult", _FEWER_JOBS, _request(t=0.3), _dived),
    "CMC, l = 2": Case("cmc", _METHODS, _request(l=2), _dived),
    "CMC, t = 0.3": Case("cmc", _METHODS, _request(t=0.3), _dived),
}

_UNDER_MODELS = ("Adult, l = 3", "Adult, p = 4", "Adult, t = 0.3", "CMC, l = 2", "CMC, t = 0.3")
_IN_PRICES = ("Adult, l = 3", "CMC, l = 2", "CMC, t = 0.3")
_UNDER_DISTANCE = ("Adult, t = 0.3", "CMC, t = 0.3")
_EXACTLY = ("Adult exactly", "CMC exactly")

CONSTANTS: Sequence[Constant] = (
    Constant("bounds.lagrangian", "_WIDER", (1, 4), _IN_PRICES),
    Constant("bounds.lagrangian", "_SPARE", (4, 16), _IN_PRICES),
    Constant("bounds.repair", "_LOSS", (1.5, 6.0), _IN_PRICES),
    Constant("bounds.repair", "_MOST_LIFTS", (20, 80), _IN_PRICES),
    Constant("bounds.prices", "_UNPROVEN", (0.35, 1.0), _IN_PRICES),
    Constant("refinement.diving_under_models", "_MOST_LARGER", (20, 80), _UNDER_DISTANCE),
    Constant("refinement.diving_under_models", "_PATIENCE", (8, 32), _UNDER_DISTANCE),
    Constant("refinement.diving_under_models", "_RAREST", ((8,), (8, 7, 6, 5, 4, 2)), _UNDER_DISTANCE),
    Constant("refinement.dives", "_TAKEN", ((0.015, 0.125), (0.06, 0.5)), _UNDER_MODELS),
    Constant("refinement.dives", "_MOST_STALE_DIVES", (4, 16), _UNDER_MODELS),
    Constant("portfolio", "_SHARE_FOR_PROOFS", (0.25, 1.0), _EXACTLY),
    Constant("exact.optimum", "_LEAST_SHARE", (0.125, 0.5), _EXACTLY),
    Constant("refinement.diving", "_LEAST_SHARE", (0.15, 0.6), ("Adult", "CMC", "census")),
)


def constants(settings: Settings) -> Iterator[Table]:
    """Cost, bound and processor time with half and twice of constants, each solve in a process of its own."""
    present: dict[str, Figures] = {}
    for constant in CONSTANTS:
        rows = []
        for name in constant.tables[: 1 if settings.quick else None]:
            if not (DATA / f"{CASES[name].file}.csv.gz").exists():
                yield missing(CASES[name].file)
                continue
            present.setdefault(name, solved_with(None, None, name))
            found = [solved_with(constant.module, {constant.name: value}, name) for value in constant.values]
            rows.append([name, "now", *present[name]])
            rows += [[name, str(value), *one] for value, one in zip(constant.values, found, strict=True)]
        columns = ["table", "value", "cost", "bound", "CPU s"]
        yield table(f"{constant.module}.{constant.name}", columns, rows)


def solved_with(module: str | None, values: Mapping[str, Any] | None, case: str) -> Figures:
    """Return the figures of a search in a new process, in which constants have values.

    Kernels that use them are compiled for them: compiled code is kept by what it is made of.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_solved_with, module, values, case).result()


def _solved_with(module: str | None, values: Mapping[str, Any] | None, case: str) -> Figures:
    for name, value in (values or {}).items():
        place = import_module(_SOLVERS + (module or ""))
        if not hasattr(place, name):
            raise AttributeError(f"{module} has no constant {name}")
        setattr(place, name, value)
    return CASES[case].search(CASES[case].read(), CASES[case].request)
