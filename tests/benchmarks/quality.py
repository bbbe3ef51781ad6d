"""Cost against seconds: what method 'auto' finds in how much time, beside what another tool finds."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from rich.table import Table

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import SolveRequest
from kanon_pg.reports.plots import COLOURS, write_figure
from kanon_pg.worker.solvers.registry import solve
from tests.benchmarks.columns import ADULT9, ADULT14, CENSUS8, CMC, CREDIT11, DIABETES, QI8
from tests.benchmarks.generalization import generalized_file
from tests.benchmarks.packed import packed_file
from tests.benchmarks.settings import DATA, Settings, missing, table

SECONDS = (1.0, 3.0, 10.0, 30.0, 100.0)
_QUICK = SECONDS[:3]

_TOOL, _FOUND, _BOUND = COLOURS[5], COLOURS[0], "#666666"


@dataclass(frozen=True, slots=True)
class Work:
    """A table and what to do with it.

    Parameters
    ----------
    title, file : str
        What the figure calls it; the data file.
    columns : sequence of str
        Quasi-identifiers.
    has_hierarchies : bool
        Whether cells are generalized by the shared hierarchies.
    published : float, optional
        What ARX 3.9.2 costs, by local recoding: suppressed cells; with hierarchies, the mean loss of a cell
        in per cent. Measured 2026-11-20 on a machine of the same kind, in 1.3 to 20 s of processor time.
    """

    title: str
    file: str
    columns: Sequence[str]
    k: int
    has_hierarchies: bool = False
    published: float | None = None

    def read(self) -> PackedRowTypes | None:
        """Return its row types, None where the data are not there."""
        path, folder = DATA / f"{self.file}.csv.gz", DATA / "hierarchies" / self.file
        if not path.exists() or (self.has_hierarchies and not folder.exists()):
            return None
        return (
            generalized_file(path, folder, self.columns)
            if self.has_hierarchies
            else packed_file(path, self.columns)
        )


WORKS = (
    Work("Adult, 8 columns", "adult", QI8, 5, published=37_416),
    Work("Adult, 9 columns", "adult", ADULT9, 2, published=23_596),
    Work("Adult, 14 columns", "adult", ADULT14, 5),
    Work("CMC, 9 columns", "cmc", CMC[:-1], 5, published=3_455),
    Work("Credit, 11 columns", "german_credit", CREDIT11, 10),
    Work("Hospital stays, 7 columns", "diabetes_hospitals", DIABETES, 5),
    Work("Census income, 8 columns", "census_income_kdd", CENSUS8, 5),
    *(
        Work("Adult, 8, hierarchies", "adult", QI8, k, has_hierarchies=True, published=loss)
        for k, loss in ((2, 2.39), (5, 5.38), (100, 19.33))
    ),
)
"""Ten. The census figures published for ARX are not of the same work, see `tests.benchmarks.peers`."""


@dataclass(slots=True)
class Measured:
    """What was found of a work, in cells of loss 1, by how long it was searched for."""

    work: Work
    published: float | None
    seconds: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)


def costs_by_seconds(settings: Settings) -> Iterator[Table]:
    """Cost of what 'auto' finds in 1, 3, 10, 30 and 100 s, each a call of its own, for ten tables."""
    limits = _QUICK if settings.quick else SECONDS
    found = []
    for work in WORKS:
        packed = work.read()
        if packed is None:
            yield missing(work.title)
            continue
        solve(packed, SolveRequest(100, seconds=1.0))  # loads and compiles
        found.append(_measured(work, packed, limits))
    yield _table(found, limits)
    if settings.figures is not None and found:
        write_figure(draw(found), settings.figures / "cost-by-seconds.svg")


def _measured(work: Work, packed: PackedRowTypes, limits: Sequence[float]) -> Measured:
    cells = int(np.frombuffer(packed.rows, dtype=">i8").sum()) * len(work.columns)
    published = work.published
    if published is not None and work.has_hierarchies:
        published = published / 100 * cells
    measured = Measured(work, published)
    for limit in limits:
        before = time.perf_counter()
        outcome = solve(packed, SolveRequest(work.k, seconds=limit, seed=1))
        measured.seconds.append(time.perf_counter() - before)
        measured.costs.append(float(outcome.weighted_cost))
        measured.bounds.append(float(outcome.lower_bound or 0.0))
    return measured


def _table(found: Sequence[Measured], limits: Sequence[float]) -> Table:
    rows = []
    for one in found:
        best, bound = one.costs[-1], max(one.bounds)
        rows.append(
            [
                one.work.title,
                one.work.k,
                *map(round, one.costs),
                round(bound),
                f"{100 * (best - bound) / best:.1f}",
                None if one.published is None else round(one.published),
                None if one.published is None else f"{100 * (best / one.published - 1):+.1f}",
                "/".join(f"{seconds:.1f}" for seconds in one.seconds),
            ]
        )
    names = [f"{limit:g} s" for limit in limits]
    title = f"Cost by seconds, in cells (load {os.getloadavg()[0]:.1f} at the end)"
    return table(title, ["work", "k", *names, "bound", "gap %", "ARX", "to ARX %", "seconds taken"], rows)


def draw(found: Sequence[Measured]) -> Figure:
    """Return a figure: for each work by how much found and published costs exceed the best proven bound."""
    figure = Figure(figsize=(14, 5.6), layout="constrained")
    places = figure.subplots(2, (len(found) + 1) // 2, squeeze=False).ravel().tolist()
    for axes, one in zip(places, found, strict=False):
        _draw(axes, one)
    for axes in places[len(found) :]:
        axes.set_visible(False)
    handles, labels = places[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=3, fontsize=8, frameon=False)
    figure.supxlabel("seconds (logarithmic)", fontsize=9)
    figure.supylabel("% above the highest bound proven", fontsize=9)
    return figure


def _draw(axes: Axes, one: Measured) -> None:
    bound = max(one.bounds)

    def line(costs: Sequence[float], **style: Any) -> None:
        axes.plot(one.seconds, [100 * (cost / bound - 1) for cost in costs], **style)

    line(one.costs, color=_FOUND, marker="o", markersize=4, label="found")
    line(one.bounds, color=_BOUND, linestyle=(0, (4, 2)), linewidth=1, label="proven bound")
    if one.published is not None:
        line([one.published] * len(one.costs), color=_TOOL, linewidth=1, label="ARX 3.9.2")
    axes.set_xscale("log")
    axes.set_xticks([limit for limit in SECONDS if limit <= max(one.seconds) * 1.5])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(top=1.15 * axes.get_ylim()[1])
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.set_title(f"{one.work.title}, k = {one.work.k}", fontsize=9, loc="left")
