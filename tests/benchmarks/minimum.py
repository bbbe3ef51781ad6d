"""Minimum suppression: proven optima of the papers' tables, certified gaps, what searching is worth."""

import csv
from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.core.solving import SolveOutcome, SolveRequest
from kanon_pg.worker.solvers.registry import solve
from tests.benchmarks.columns import ADULT9, ADULT14, CENSUS8, CMC, DIABETES, NURSERY
from tests.benchmarks.packed import packed_file
from tests.benchmarks.settings import DATA, PAPERS, Settings, median_seconds, missing, table

ADULT_2_CONSTRAINTS = {
    "max_suppressed": 2,
    "never": ["education", "salary_class"],
    "together": [["workclass", "occupation"]],
    "at_most_one": [["age", "sex", "race"]],
}
"""The patterns of section 3.6 of the paper."""

_GAP_KS = (2, 3, 5, 10, 25, 100)
_GAP_SECONDS = (30.0, 60.0, 200.0, 600.0)


def _packed(file: str, columns: Sequence[str]) -> PackedRowTypes | None:
    path = DATA / f"{file}.csv.gz"
    return packed_file(path, columns) if path.exists() else None


def _warm_up(packed: PackedRowTypes) -> None:
    for method in ("greedy", "auto", "exact"):
        solve(packed, SolveRequest(k=100, method=method, seconds=5.0))


def _share(cost: float, bound: float | None) -> float | None:
    return None if bound is None else (cost - bound) / cost if cost else 0.0


def _exact_table(settings: Settings, file: str, columns: Sequence[str], number: str, patterns: Any) -> Table:
    packed, path = _packed(file, columns), PAPERS / f"{number}.csv"
    if packed is None or not path.exists():
        return missing(f"{file} or {number}")
    with path.open() as lines:
        published = {int(row["k"]): row for row in csv.DictReader(lines)}
    _warm_up(packed)
    rows, total, theirs = [], 0.0, 0.0
    for k in settings.ks:
        # The paper lets fewer than k rows remain in the fully suppressed class.
        strict = SolveRequest(k, "exact", patterns, seconds=120.0)
        paper = SolveRequest(k, "exact", patterns, seconds=120.0, rest_may_be_small=True)
        seconds, best = median_seconds(lambda r=strict: solve(packed, r), settings.repeats)
        same_rule = solve(packed, paper)
        total, theirs = total + seconds, theirs + float(published[k]["ilp_seconds"])
        rows.append(_exact_row(k, published[k], best, same_rule, seconds))
    rows.append(["all", None, None, None, None, None, None, None, total, theirs])
    return table(
        f"{number}: proven optima, strict rule and the paper's rule for the rest",
        ["k", "greedy", "paper ILP", "ours", "bound", "optimal", "paper's rule", "optimal", "s", "paper s"],
        rows,
    )


def _exact_row(
    k: int, published: dict[str, str], best: SolveOutcome, same_rule: SolveOutcome, seconds: float
) -> list[Any]:
    return [
        k,
        int(published["greedy_suppressions"]),
        int(published["ilp_suppressions"]),
        best.suppressed_cells,
        best.lower_bound,
        str(best.optimal),
        same_rule.suppressed_cells,
        str(same_rule.optimal),
        seconds,
        float(published["ilp_seconds"]),
    ]


def exact_tables(settings: Settings) -> Iterator[Table]:
    """Tables 6, 7 and 8 of the paper: every optimum, proven."""
    yield _exact_table(settings, "adult", ADULT9, "table8_adult2_exact", ADULT_2_CONSTRAINTS)
    yield _exact_table(settings, "cmc", CMC, "table7_cmc_exact", {"max_suppressed": 2})
    yield _exact_table(settings, "nursery", NURSERY, "table6_nursery_exact", None)


def certified_gaps(settings: Settings) -> Iterator[Table]:
    """All patterns of CMC and Adult-2, out of reach of the paper's ILP: solution, bound and gap by time."""
    for file, columns, title in (
        ("cmc", CMC, "CMC, 1,024 patterns"),
        ("adult", ADULT9, "Adult-2, 512 patterns"),
    ):
        packed = _packed(file, columns)
        if packed is None:
            yield missing(file)
            continue
        _warm_up(packed)
        rows = []
        for k in (3, 5, 100) if settings.quick else _GAP_KS:
            greedy = solve(packed, SolveRequest(k, "greedy"))
            for limit in _GAP_SECONDS[:2] if settings.quick else _GAP_SECONDS:
                request = SolveRequest(k, "exact", seconds=limit)
                seconds, best = median_seconds(lambda p=packed, r=request: solve(p, r), 1)
                gap = _share(best.weighted_cost, best.lower_bound)
                rows.append(
                    [
                        *(k, limit, seconds, greedy.suppressed_cells, best.suppressed_cells),
                        *(best.lower_bound, gap, best.classes, best.method),
                    ]
                )
        yield table(
            f"{title}: certified gap within a time limit",
            ["k", "limit s", "s", "greedy", "cells", "bound", "gap", "classes", "method"],
            rows,
        )


def worth_of_searching(settings: Settings) -> Iterator[Table]:
    """Suppressed cells of the plain greedy heuristic and of 'auto' within the default time, k = 5."""
    rows = []
    for file, columns, title in (
        ("adult", ADULT9, "Adult, 9 columns"),
        ("adult", ADULT14, "Adult, 14 columns"),
        ("diabetes_hospitals", DIABETES, "Hospital stays (as rows)"),
        ("census_income_kdd", CENSUS8, "Census income, 8 columns"),
    ):
        packed = _packed(file, columns)
        if packed is None:
            rows.append([f"{title}: NOT MEASURED, no data file", *([None] * 8)])
            continue
        _warm_up(packed)
        plain = solve(packed, SolveRequest(5, "greedy", rest_may_be_small=True))
        fast_seconds, fast = median_seconds(lambda p=packed: solve(p, SolveRequest(5, "greedy")), 1)
        seconds, best = median_seconds(lambda p=packed: solve(p, SolveRequest(5, seconds=30.0)), 1)
        saved = 1 - best.suppressed_cells / plain.suppressed_cells
        rows.append(
            [
                *(title, plain.suppressed_cells, fast.suppressed_cells, fast_seconds, best.suppressed_cells),
                *(seconds, saved, best.lower_bound, _share(best.weighted_cost, best.lower_bound)),
            ]
        )
    yield table(
        "Plain greedy (paper's rule for the rest), method 'greedy' (improved, strict), method 'auto' (30 s)",
        ["table", "plain", "greedy", "s", "auto", "s", "saved", "bound", "gap"],
        rows,
    )
