"""Proven gaps beyond suppression for k alone: where cells are generalized, and under privacy models."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace

from rich.table import Table

from kanon_pg.core.packed import PackedRowTypes, SensitiveColumn
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.solvers.registry import solve
from tests.benchmarks.columns import QI8
from tests.benchmarks.generalization import generalized_file
from tests.benchmarks.packed import packed_file
from tests.benchmarks.settings import DATA, Settings, missing, table

_COLUMNS = ["k", "s", "cost", "bound", "gap %", "load"]


def generalized(settings: Settings) -> Iterator[Table]:
    """Adult, 8 quasi-identifiers with hierarchies: cost, proven bound and gap of method 'auto'."""
    file, folder = DATA / "adult.csv.gz", DATA / "hierarchies" / "adult"
    if not file.exists() or not folder.exists():
        yield missing("adult with hierarchies")
        return
    packed = generalized_file(file, folder, QI8)
    solve(packed, SolveRequest(100, seconds=5.0))
    rows: list[list[object]] = []
    for limit in (30.0,) if settings.quick else (30.0, 200.0):
        for k in (2, 5, 10, 100):
            rows.append([k, *_measured(packed, SolveRequest(k, seconds=limit, seed=1))])
    yield table("Adult, 8 columns with hierarchies, proven gaps", _COLUMNS, rows)


_MODELS = {"l = 3": PrivacyModels(l=3), "p = 3": PrivacyModels(p=3), "t = 0.3": PrivacyModels(t=0.3)}


def under_models(settings: Settings) -> Iterator[Table]:
    """Adult, 7 quasi-identifiers, `occupation` sensitive, k = 5: proven gaps under privacy models."""
    file = DATA / "adult.csv.gz"
    if not file.exists():
        yield missing("adult")
        return
    packed = with_sensitive(packed_file(file, QI8), "occupation")
    rows: list[list[object]] = []
    for name, models in _MODELS.items():
        solve(packed, SolveRequest(100, models=models, seconds=3.0))
        request = SolveRequest(5, models=models, seconds=10.0 if settings.quick else 60.0, seed=1)
        rows.append([name, *_measured(packed, request)])
    yield table("Adult, 7 columns, occupation sensitive, k = 5", ["model", *_COLUMNS[1:]], rows)


def with_sensitive(packed: PackedRowTypes, name: str) -> PackedRowTypes:
    """Return row types of which a quasi-identifier is a sensitive column."""
    place = [column.name for column in packed.columns].index(name)
    kept = [number for number in range(len(packed.columns)) if number != place]
    return replace(
        packed,
        columns=tuple(packed.columns[number] for number in kept),
        cells=tuple(packed.cells[number] for number in kept),
        values=tuple(packed.values[number] for number in kept),
        sensitive_columns=(SensitiveColumn(name, "categorical"),),
        sensitive_cells=(packed.cells[place],),
        sensitive_values=(None,),
    )


def _measured(packed: PackedRowTypes, request: SolveRequest) -> list[object]:
    """Return what a row of a table says of a call, but for what it is about."""
    before = time.perf_counter()
    found = solve(packed, request)
    seconds = time.perf_counter() - before
    cost, bound = found.weighted_cost, found.lower_bound
    gap = None if bound is None else 100 * (cost - bound) / cost
    return [seconds, cost, bound, gap, os.getloadavg()[0]]
