"""How the greedy method's seconds and memory grow with the number of row types, up to two millions."""

import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table

from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.core.solving import SolveRequest
from kanon_pg.reports.plots import COLOURS, write_figure
from kanon_pg.worker.solvers.registry import solve
from tests.benchmarks.server import megabytes, memory_watch, private_bytes
from tests.benchmarks.settings import Settings, table
from tests.benchmarks.synthetic import DIVERSE, SIZES

_SIZES = (125_000, 250_000, 500_000, 1_000_000, 2_000_000)
_PROFILES = 50_000
_K = 5


@dataclass(frozen=True, slots=True)
class Solved:
    """What one call of the solver took, and what it found."""

    row_types: int
    seconds: float
    peak_bytes: int
    share: float
    gap: float | None


def by_row_types(settings: Settings) -> Iterator[Table]:
    """125,000 to 2 million row types of one row each or a few, 9 columns, k = 5: the solver alone."""
    sizes = _SIZES[:3] if settings.quick else _SIZES
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        found = [pool.apply(_solved, (size,)) for size in sizes]
    rows = [
        [
            one.row_types,
            one.seconds,
            1e6 * one.seconds / one.row_types,
            megabytes(one.peak_bytes),
            one.share,
            one.gap,
        ]
        for one in found
    ]
    yield table(
        f"Growth with row types: greedy, 9 columns, k = {_K} (load {os.getloadavg()[0]:.1f} at the end)",
        ["row types", "s", "µs per type", "peak", "share", "gap"],
        rows,
    )
    if settings.figures is not None:
        write_figure(draw(found), settings.figures / "row-types.svg")


def _solved(size: int) -> Solved:
    """Solve in a process of its own; the packed row types are not counted as the solver's memory."""
    solve(_packed(1_000), SolveRequest(_K, "greedy"))  # loads and compiles
    packed = _packed(size)
    before = private_bytes(os.getpid())
    with memory_watch(os.getpid()) as peak:
        started = time.perf_counter()
        outcome = solve(packed, SolveRequest(_K, "greedy", seconds=3600.0))
        seconds = time.perf_counter() - started
    count = len(packed.rows) // 8
    cells = int(np.frombuffer(packed.rows, dtype=">i8").sum()) * len(packed.columns)
    bound, cost = outcome.lower_bound, float(outcome.weighted_cost)
    return Solved(
        count,
        seconds,
        peak["backend"] - before,
        outcome.suppressed_cells / cells,
        None if bound is None else (cost - float(bound)) / cost,
    )


def _packed(size: int) -> PackedRowTypes:
    """Draw rows as `tests.benchmarks.synthetic.make` does until there are about as many row types."""
    rng = np.random.default_rng(7)
    drawn = int(1.15 * size) + 1_000
    profile = (_PROFILES * rng.random(drawn) ** 4).astype(np.int64)
    cells = []
    for values in SIZES:
        usual = rng.integers(0, values, _PROFILES)[profile]
        own = (values * rng.random(drawn) ** 3).astype(np.int64)
        cells.append(np.where(rng.random(drawn) < DIVERSE, own, usual))
    codes, rows = np.unique(np.column_stack(cells), axis=0, return_counts=True)
    kept = rng.permutation(len(codes))[:size]
    codes, rows = codes[kept], rows[kept].astype(">i8").tobytes()
    return PackedRowTypes(
        columns=tuple(QuasiIdentifier(f"column_{number}", "categorical") for number in range(len(SIZES))),
        keys=np.arange(len(kept), dtype=">i8").tobytes(),
        rows=rows,
        people=rows,
        cells=tuple(column.astype(">i8").tobytes() for column in codes.T),
        values=(None,) * len(SIZES),
    )


def draw(found: Sequence[Solved]) -> Figure:
    """Return a figure: seconds and memory by the number of row types."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    millions = [one.row_types / 1e6 for one in found]
    measured = {
        "seconds": [one.seconds for one in found],
        "peak memory of the solver, GB": [one.peak_bytes / 2**30 for one in found],
    }
    for axes, (name, values) in zip(figure.subplots(1, 2), measured.items(), strict=True):
        axes.plot(millions, values, color=COLOURS[0], marker="o", markersize=4)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("million row types", fontsize=9)
        axes.set_title(name, fontsize=9, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    return figure
