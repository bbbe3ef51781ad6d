"""Proven gaps where cells are generalized: how far solutions and bounds get in 30 and in 200 seconds."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from rich.table import Table

from kanon_pg.core.request import SolveRequest
from kanon_pg.worker.solvers.registry import solve
from tests.benchmarks.columns import QI8
from tests.benchmarks.generalization import generalized_file
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
            before = time.perf_counter()
            found = solve(packed, SolveRequest(k, seconds=limit, seed=1))
            seconds = time.perf_counter() - before
            cost, bound = found.weighted_cost, found.lower_bound
            gap = None if bound is None else 100 * (cost - bound) / cost
            rows.append([k, seconds, cost, bound, gap, os.getloadavg()[0]])
    yield table("Adult, 8 columns with hierarchies, proven gaps", _COLUMNS, rows)
