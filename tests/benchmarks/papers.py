"""The tables of Bredereck, Nichterlein, Niedermeier, "Pattern-Guided k-Anonymity" (2013), repeated."""

import csv
from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table

from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.solvers.registry import solve
from tests.benchmarks.columns import ADULT9, ADULT14, CMC, NURSERY
from tests.benchmarks.packed import packed_file
from tests.benchmarks.server import bench_server, call, load, megabytes
from tests.benchmarks.settings import DATA, PAPERS, Settings, median_seconds, missing, table


def _published(file: str) -> dict[int, dict[str, str]]:
    path = PAPERS / file
    if not path.exists():
        return {}
    with path.open() as lines:
        return {int(row["k"]): row for row in csv.DictReader(lines)}


def _number(row: dict[str, str] | None, name: str) -> float | None:
    return None if row is None else float(row[name])


def adult14_solver(settings: Settings) -> Iterator[Table]:
    """Adult, 14 columns, all 16,384 patterns: the solver alone, in one process, compiled before."""
    if not (DATA / "adult.csv.gz").exists():
        yield missing("adult")
        return
    packed = packed_file(DATA / "adult.csv.gz", ADULT14)
    paper = _published("table1_adult.csv")
    solve(packed, SolveRequest(k=100, method="greedy"))
    rows = []
    for k in settings.ks:
        plain_seconds, plain = median_seconds(
            lambda k=k: solve(packed, SolveRequest(k=k, method="greedy", rest_may_be_small=True)),
            settings.repeats,
        )
        seconds, best = median_seconds(
            lambda k=k: solve(packed, SolveRequest(k=k, method="greedy")), settings.repeats
        )
        theirs = _number(paper.get(k), "greedy_seconds")
        rows.append(
            [
                k,
                plain_seconds,
                plain.suppressed_cells,
                seconds,
                theirs,
                None if theirs is None else theirs / seconds,
                best.suppressed_cells,
                1 - best.suppressed_cells / plain.suppressed_cells,
                best.lower_bound,
                best.usefulness,
                _number(paper.get(k), "greedy_usefulness"),
            ]
        )
    yield table(
        "Adult, 14 columns, 16,384 patterns, solver: the paper's algorithm as it is, and ours, which also "
        "improves, proves a bound, allows no small rest and recounts",
        [
            "k",
            "plain s",
            "cells",
            "ours s",
            "paper s",
            "ratio",
            "cells",
            "saved",
            "bound",
            "usefulness",
            "paper",
        ],
        rows,
    )


def _in_server(
    settings: Settings, file: str, columns: Sequence[str], title: str, paper_file: str
) -> Iterator[Table]:
    paper = _published(paper_file)
    with bench_server() as connection:
        if not load(connection, file):
            yield missing(file)
            return
        chosen: dict[str, Any] = {"quasi_identifiers": list(columns), "release": f"{file}_{len(columns)}"}
        call(connection, file, 5, **chosen)
        rows = []
        for k in settings.ks:
            seconds, last = median_seconds(lambda k=k: call(connection, file, k, **chosen), settings.repeats)
            report, theirs = last.report, _number(paper.get(k), "greedy_seconds")
            rows.append(
                [
                    k,
                    seconds,
                    theirs,
                    None if theirs is None else theirs / seconds,
                    report["suppressed_cells"],
                    report["lower_bound"],
                    report["gap"],
                    report["classes"],
                    report["average_class"],
                    report["largest_class"],
                    report["usefulness"],
                    _number(paper.get(k), "greedy_usefulness"),
                    megabytes(last.backend_bytes),
                    megabytes(last.worker_bytes),
                ]
            )
        yield table(
            f"{title}: from call to published view, warm backend",
            [
                "k",
                "s",
                "paper s",
                "ratio",
                "cells",
                "bound",
                "gap",
                "classes",
                "average",
                "largest",
                "usefulness",
                "paper",
                "backend",
                "worker",
            ],
            rows,
        )


def adult14_server(settings: Settings) -> Iterator[Table]:
    """Adult, 14 columns, all 16,384 patterns: the whole call inside the server."""
    yield from _in_server(
        settings, "adult", ADULT14, "Adult, 14 columns, 16,384 patterns", "table1_adult.csv"
    )


def adult9_server(settings: Settings) -> Iterator[Table]:
    """Adult-2, 9 columns, all 512 patterns: the whole call inside the server."""
    yield from _in_server(settings, "adult", ADULT9, "Adult-2, 9 columns, 512 patterns", "table2_adult2.csv")


def nursery_server(settings: Settings) -> Iterator[Table]:
    """Nursery, 8 columns, all 256 patterns: the whole call inside the server."""
    yield from _in_server(
        settings, "nursery", NURSERY, "Nursery, 8 columns, 256 patterns", "table3_nursery.csv"
    )


def cmc_server(settings: Settings) -> Iterator[Table]:
    """CMC, 10 columns, all 1,024 patterns: the whole call inside the server."""
    yield from _in_server(settings, "cmc", CMC, "CMC, 10 columns, 1,024 patterns", "table4_cmc.csv")
