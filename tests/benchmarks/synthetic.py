"""Large synthetic tables: where the time goes, against writing the same table once."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

import psycopg
from rich.table import Table

from tests.benchmarks.server import Call, bench_server, call, megabytes
from tests.benchmarks.settings import Settings, table

COLUMNS = (
    "age",
    "sex",
    "zip",
    "ethnicity",
    "education",
    "marital_status",
    "occupation",
    "country",
    "employer",
)

_GROUPS = {
    "count": ("counting",),
    "solve": ("solving", "prepare", "greedy", "improve", "bound", "verify"),
    "write": ("writing",),
    "view": ("building the view",),
    "recount": ("recounting",),
    "publish": ("publishing",),
}


SKEWED = 0.02
"""Share of deviating cells at which a million rows have some 200,000 row types, as census files would."""

DIVERSE = 0.3
"""Share of deviating cells at which nearly all rows differ: the worst case."""


def make(
    connection: psycopg.Connection[Any], name: str, rows: int, *, columns: int = 9, deviation: float = SKEWED
) -> None:
    """Create a skewed table unless it exists: people cluster by profile, as in real data.

    A profile (heavy ones and a long tail, out of 50,000) fixes most columns; a share of the cells deviates
    from it at random. So there are heavy row types, many rare ones, and correlated columns.
    """
    there = connection.execute("SELECT to_regclass(%s) IS NOT NULL AS there", [name]).fetchone()
    if there["there"]:
        return
    connection.execute("SELECT setseed(0.42)")
    names = [*COLUMNS, *(f"extra_{number}" for number in range(1, columns - 8))][:columns]
    sizes = [90, 2, 900, 6, 16, 7, 15, 42, 9] + [8] * max(0, columns - 9)
    cells = []
    for position, (column, size) in enumerate(zip(names, sizes, strict=True)):
        of_profile = f"abs(hashint4extended(profile, {position}) % {size})"
        own = f"floor({size} * power(random(), 3))::bigint"
        value = f"CASE WHEN random() >= {deviation} THEN {of_profile} ELSE {own} END"
        cells.append(
            f"({value})::int AS {column}" if column == "age" else f"'{column[:3]}' || ({value}) AS {column}"
        )
    text = (
        f"CREATE TABLE {name} AS SELECT {', '.join(cells)}, 'D' || (random() * 700)::int AS diagnosis, "
        f"(random() * 10000)::numeric(10, 2) AS cost FROM (SELECT floor(50000 * power(random(), 4))::int "
        f"AS profile FROM generate_series(1, {rows})) AS person"
    )
    connection.execute(text.encode())
    connection.execute(f"VACUUM ANALYZE {name}".encode())


def yardstick(connection: psycopg.Connection[Any], name: str, repeats: int) -> float:
    """Return the median seconds of a plain CREATE TABLE AS SELECT of the same table."""
    seconds = []
    for _ in range(repeats):
        before = time.perf_counter()
        connection.execute(f"CREATE TABLE yardstick AS SELECT * FROM {name}".encode())
        seconds.append(time.perf_counter() - before)
        connection.execute("DROP TABLE yardstick")
    return statistics.median(seconds)


def phases(settings: Settings) -> Iterator[Table]:
    """Up to 10 million rows, 9 columns, 512 patterns, k = 5: seconds per phase, peak memory."""
    tables = [("skewed", 100_000, SKEWED), ("skewed", 1_000_000, SKEWED), ("diverse", 1_000_000, DIVERSE)]
    if not settings.quick:
        tables.append(("skewed", 10_000_000, SKEWED))
    with bench_server() as connection:
        rows = [
            _measure(connection, kind, count, deviation, 1 if count > 1_000_000 else settings.repeats)
            for kind, count, deviation in tables
        ]
        yield table(
            "Synthetic tables, 9 columns, k = 5 (seconds; ratio to CREATE TABLE AS SELECT of the same table, "
            "both with wal_level = replica, PostgreSQL's default)",
            [
                "table",
                "rows",
                "types",
                "CTAS",
                "call",
                "ratio",
                *_GROUPS,
                "share",
                "gap",
                "backend",
                "worker",
            ],
            rows,
        )


def _measure(
    connection: psycopg.Connection[Any], kind: str, count: int, deviation: float, repeats: int
) -> list[Any]:
    name = f"{kind}_{count}"
    make(connection, name, count, deviation=deviation)
    plain = yardstick(connection, name, repeats)
    options = {
        "quasi_identifiers": list(COLUMNS),
        "sensitive": ["diagnosis", "cost"],
        "time_limit": "20 minutes",
    }
    if repeats > 1:
        call(connection, name, 5, **options)
    calls = [call(connection, name, 5, **options) for _ in range(repeats)]
    last = sorted(calls, key=lambda one: one.seconds)[len(calls) // 2]
    return [
        kind,
        count,
        last.report["row_types"],
        plain,
        last.seconds,
        last.seconds / plain,
        *_grouped(last),
        last.report["suppressed_share"],
        last.report["gap"],
        megabytes(last.backend_bytes),
        megabytes(last.worker_bytes),
    ]


def _grouped(measured: Call) -> list[float]:
    return [sum(measured.phases.get(name, 0.0) for name in names) for names in _GROUPS.values()]
