"""One attribute on real data: Figure 7 of Du et al. (2009), rectangles of zips, regions of counties."""

import csv
import gzip
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from kanon_pg.worker.clock import Clock
from kanon_pg.worker.grouping.intervals import intervals
from kanon_pg.worker.grouping.labels import exact_labels
from kanon_pg.worker.grouping.rectangles import rectangles
from kanon_pg.worker.grouping.regions import regions
from kanon_pg.worker.grouping.result import SingleAttribute, cost_of
from kanon_pg.worker.grouping.spread import fold, spread
from tests.benchmarks.settings import DATA, Settings, median_seconds, missing, table
from tests.fixtures.simplified_spread import simplified_spread

_LISTS = ("female", "male", "last")
_PER_THOUSAND = 1000
"""Frequencies are in thousandths of a percent."""


def _rows(name: str) -> list[dict[str, str]] | None:
    file = DATA / f"{name}.csv.gz"
    if not file.exists():
        return None
    with gzip.open(file, "rt", encoding="utf-8") as text:
        return list(csv.DictReader(text))


def names(settings: Settings) -> Iterator[Table]:
    """Overfull ratios (largest class / k) of Fold and Spread on lists of names; Figure 7 of the paper.

    k goes from the most frequent name to half of all, the names in random order and from frequent to rare;
    the most of each range of k is shown, as in the paper.
    "spread" is the algorithm with the guarantee, "bound" what no algorithm can be below.
    """
    for name in _LISTS:
        rows = _rows(f"names_{name}")
        if rows is None:
            yield missing(f"names_{name}")
            continue
        weights = np.array([round(float(row["frequency_pct"]) * _PER_THOUSAND) for row in rows])
        yield _names(name, weights, *((3, 2) if settings.quick else (12, 6)))


def _names(name: str, weights: NDArray[np.int64], ranges: int, each: int) -> Table:
    orders = {
        "random": np.random.default_rng(1).permutation(weights.size).tolist(),
        "sorted": np.argsort(-weights, kind="stable").tolist(),
    }
    edges = np.geomspace(weights.max(), weights.sum() // 2, ranges + 1)
    rows, measured = [], []
    for low, high in pairwise(edges.tolist()):
        ks = np.unique(np.linspace(low, high, each).astype(np.int64)).tolist()
        found = [_ratios(weights, k, orders) for k in ks]
        measured += found
        rows.append([round(low), round(high), *np.max(found, axis=0).tolist()])
    rows.append(["mean", f"{len(measured)} k", *np.mean(measured, axis=0).tolist()])
    header = ["k from", "to", "random fold", "sorted fold", "random spread", "sorted spread"]
    title = f"{name}: {weights.size:,} names, {weights.sum():,} in all; most of each range, mean of all"
    return table(title, [*header, "spread", "bound", "spread / bound", "seconds"], rows)


def _ratios(weights: NDArray[np.int64], k: int, orders: dict[str, list[int]]) -> list[float]:
    simple = [
        algorithm(weights, k, order=order).cost / k
        for algorithm in (fold, simplified_spread)
        for order in orders.values()
    ]
    seconds, found = median_seconds(lambda: spread(weights, k), 1)
    return [*simple, found.cost / k, found.lower_bound / k, found.ratio, seconds]


def exactly(settings: Settings) -> Iterator[Table]:
    """Where Spread is above the bound: what constraint programming finds and proves in 10 s."""
    rows = _rows("names_male")
    if rows is None:
        yield missing("names_male")
        return
    weights = np.array([round(float(row["frequency_pct"]) * _PER_THOUSAND) for row in rows])[:100]
    lines = []
    for k in (3_500, 7_000) if settings.quick else (3_500, 5_000, 7_000, 10_000, 20_000):
        known = spread(weights, k)
        seconds, found = median_seconds(lambda k=k: _with_limit(weights, k), 1)
        lines.append([k, known.cost, found.cost, found.lower_bound, found.ratio, found.bound_method, seconds])
    header = ["k", "spread", "exact", "bound", "ratio", "proof", "seconds"]
    yield table("The 100 most frequent names of men", header, lines)


def _with_limit(weights: NDArray[np.int64], k: int) -> SingleAttribute:
    return exact_labels(weights, k, "max", Clock(10.0))


_HEADER = [
    *("k", "classes", "largest / k", "median / k", "ratio", "beyond k", "method", "seconds"),
]


def _line(k: int, seconds: float, found: SingleAttribute) -> list[Any]:
    """Return figures; "beyond k": what the class of a person has beyond k, on average, in multiples of k."""
    sizes = found.sizes
    beyond = cost_of(sizes, k, "sum") / k / int(sizes.sum())
    return [
        *(k, int(sizes.size), found.cost / k, float(np.median(sizes)) / k, found.ratio, beyond),
        *(found.method, seconds),
    ]


def zips(settings: Settings) -> Iterator[Table]:
    """kd-rectangles around the 33,120 zip codes, weighted by population."""
    rows = _rows("zip_points")
    if rows is None:
        yield missing("zip_points")
        return
    x, y = (np.array([float(row[name]) for row in rows]) for name in ("longitude", "latitude"))
    weights = np.array([int(row["population_2010"]) for row in rows])
    lines = []
    for k in (50_000, 1_000_000) if settings.quick else (1_000, 5_000, 20_000, 50_000, 200_000, 1_000_000):
        seconds, found = median_seconds(lambda k=k: rectangles(x, y, weights, k).classes, settings.repeats)
        lines.append(_line(k, seconds, found))
    yield table(f"{len(rows):,} zip codes, {weights.sum():,} people, rectangles", _HEADER, lines)
    order = np.argsort(x)
    lines = []
    for k in (50_000,) if settings.quick else (5_000, 50_000, 1_000_000):
        seconds, found = median_seconds(lambda k=k: intervals(weights[order], k), settings.repeats)
        lines.append(_line(k, seconds, found))
    yield table("The same from west to east, intervals", _HEADER, lines)


def counties(settings: Settings) -> Iterator[Table]:
    """Regions of the 3,221 counties, weighted by population; k from 50,000 to 1,000,000."""
    people, adjacency = _rows("county_population"), _rows("county_adjacency")
    if people is None or adjacency is None:
        yield missing("county_population, county_adjacency")
        return
    place = {row["fips"]: number for number, row in enumerate(people)}
    weights = np.array([int(row["population_2010"]) for row in people])
    pairs = [(place.get(row["county_fips"]), place.get(row["neighbor_fips"])) for row in adjacency]
    edges = np.array([pair for pair in pairs if None not in pair])
    lines = []
    for k in (50_000, 1_000_000) if settings.quick else (50_000, 100_000, 200_000, 500_000, 1_000_000):
        for method in ("tree", "moves"):
            seconds, found = median_seconds(
                lambda k=k, m=method: regions(weights, edges, k, method=m), settings.repeats
            )
            lines.append([*_line(k, seconds, found), found.degree])
    title = f"{len(people):,} counties, {weights.sum():,} people, {len(edges) // 2:,} pairs of neighbours"
    yield table(title, [*_HEADER, "tree degree"], lines)
