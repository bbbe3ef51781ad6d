"""Large synthetic tables: where the time goes, against writing the same table once."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg.types.json import Jsonb
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

SIZES = (90, 2, 900, 6, 16, 7, 15, 42, 9)
"""How many values each of these columns has."""

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
    connection: psycopg.Connection[Any],
    name: str,
    rows: int,
    *,
    columns: int = 9,
    deviation: float = SKEWED,
    rows_per_person: int = 2,
) -> None:
    """Create a skewed table unless it exists: people cluster by profile, as in real data.

    A profile (heavy ones and a long tail, out of 50,000) fixes most columns; a share of the cells deviates
    from it at random. So there are heavy row types, many rare ones, and correlated columns. Each row belongs
    to a person drawn at random, whatever its profile.
    """
    there = connection.execute("SELECT to_regclass(%s) IS NOT NULL AS there", [name]).fetchone()
    if there["there"]:
        return
    connection.execute("SELECT setseed(0.42)")
    names = [*COLUMNS, *(f"extra_{number}" for number in range(1, columns - 8))][:columns]
    sizes = [*SIZES, *[8] * max(0, columns - len(SIZES))]
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
        f"(random() * 10000)::numeric(10, 2) AS cost, "
        f"floor(random() * {rows // rows_per_person})::bigint AS person "
        f"FROM (SELECT floor(50000 * power(random(), 4))::int AS profile "
        f"FROM generate_series(1, {rows})) AS drawn"
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


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "people": {"entity": "person"},
    "ranges": {"hierarchies": Jsonb({"age": {"builder": "intervals", "width": [5, 10, 20, 40]}})},
}
"""The same table published three ways: rows are people; a column says who is meant; ages become ranges."""


def phases(settings: Settings) -> Iterator[Table]:
    """1 and 10 million rows, 9 columns, k = 5: seconds per phase, memory; also by people, with ranges."""
    sizes = (1_000_000,) if settings.quick else (1_000_000, 10_000_000)
    with bench_server() as connection:
        for count in sizes:
            runs = settings.repeats if count == sizes[0] else 1
            yield table(
                f"{count:,} synthetic rows, 9 columns, k = 5, greedy: medians of {runs} (seconds; ratio to "
                "CREATE TABLE AS SELECT of the same table in the same round, both with wal_level = replica)",
                _HEADINGS,
                _rounds(connection, f"skewed_{count}", count, SKEWED, VARIANTS, runs),
            )


def diverse(settings: Settings) -> Iterator[Table]:
    """1 million rows nearly all of which differ, 9 columns, k = 5."""
    count = 1_000_000
    with bench_server() as connection:
        yield table(
            f"{count:,} synthetic rows, nearly all different, 9 columns, k = 5, greedy",
            _HEADINGS,
            _rounds(connection, f"diverse_{count}", count, DIVERSE, {"plain": {}}, settings.repeats),
        )


_HEADINGS = [
    "table", "types", "CTAS", "call", "ratio", "to plain", *_GROUPS,
    "view ratio", "share", "gap", "backend", "worker",
]  # fmt: skip


def _rounds(
    connection: psycopg.Connection[Any],
    name: str,
    count: int,
    deviation: float,
    variants: dict[str, dict[str, Any]],
    runs: int,
) -> list[list[Any]]:
    """Measure each variant once per round, with the yardstick before it, so that all see the same load."""
    make(connection, name, count, deviation=deviation)
    plain: dict[str, list[float]] = {variant: [] for variant in variants}
    calls: dict[str, list[Call]] = {variant: [] for variant in variants}
    for _ in range(runs):
        for variant, options in variants.items():
            plain[variant].append(yardstick(connection, name, 1))
            calls[variant].append(publish(connection, name, **options))
    first = statistics.median(call.seconds for call in next(iter(calls.values())))
    return [_row(variant, statistics.median(plain[variant]), calls[variant], first) for variant in variants]


def publish(
    connection: psycopg.Connection[Any], name: str, *, entity: str | None = None, **options: Any
) -> Call:
    """Publish a synthetic table by the fast method, declared anew."""
    columns = options.pop("columns", list(COLUMNS))
    connection.execute(
        "SELECT kanon_declare(%s, quasi_identifiers => %s, sensitive => '{diagnosis,cost}', entity => %s)",
        [name, columns, entity],
    )
    return call(connection, name, 5, time_limit="20 minutes", **options)


def _row(variant: str, plain: float, calls: list[Call], first: float) -> list[Any]:
    last = sorted(calls, key=lambda one: one.seconds)[len(calls) // 2]
    grouped = _grouped(last)
    return [
        variant,
        last.report["row_types"],
        plain,
        last.seconds,
        last.seconds / plain,
        last.seconds / first,
        *grouped,
        last.phases["building the view"] / plain,
        last.report["suppressed_share"],
        last.report["gap"],
        megabytes(max(one.backend_bytes for one in calls)),
        megabytes(max(one.worker_bytes for one in calls)),
    ]


def _grouped(measured: Call) -> list[float]:
    return [sum(measured.phases.get(name, 0.0) for name in names) for names in _GROUPS.values()]
