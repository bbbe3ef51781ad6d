"""Large synthetic tables: where the time goes, against writing the same table once."""

import os
import statistics
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import psycopg
from psycopg.types.json import Jsonb
from rich.table import Table

from tests.benchmarks.server import Call, bench_server, call, cpu_seconds, megabytes
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
    sizes = [*SIZES, *[8] * max(0, columns - len(SIZES))][:columns]
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


class Plain(NamedTuple):
    """What a plain CREATE TABLE AS SELECT of a table took."""

    seconds: float
    cpu_seconds: float


def yardstick(connection: psycopg.Connection[Any], name: str) -> Plain:
    """Copy a table once by CREATE TABLE AS SELECT."""
    before, computed = time.perf_counter(), cpu_seconds(connection)
    connection.execute(f"CREATE TABLE yardstick AS SELECT * FROM {name}".encode())
    found = Plain(time.perf_counter() - before, cpu_seconds(connection) - computed)
    connection.execute("DROP TABLE yardstick")
    return found


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
                f"{count:,} synthetic rows, 9 columns, k = 5, greedy: medians of {runs} (seconds; ratios to "
                "CREATE TABLE AS SELECT of the same table in the same round, both with wal_level = replica; "
                f"load {os.getloadavg()[0]:.1f} at the start)",
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


def workers(settings: Settings) -> Iterator[Table]:
    """1 million rows, without parallel workers and with as many as there are processors besides one."""
    count, allowed = 1_000_000, (0, max(1, (os.cpu_count() or 2) - 1))
    with bench_server() as connection:
        make(connection, f"skewed_{count}", count)
        calls: dict[int, list[Call]] = {number: [] for number in allowed}
        for _ in range(settings.repeats):
            for number in allowed:
                connection.execute(f"SET max_parallel_workers_per_gather = {number}".encode())
                calls[number].append(publish(connection, f"skewed_{count}"))
        yield table(
            f"{count:,} synthetic rows by parallel workers, a call of each per round (seconds, medians of "
            f"{settings.repeats}; load {os.getloadavg()[0]:.1f} at the end)",
            ["workers", "call", *_GROUPS],
            [_medians(number, measured) for number, measured in calls.items()],
        )


def _medians(number: int, calls: list[Call]) -> list[Any]:
    phases_of = [_grouped(one) for one in calls]
    return [
        number,
        statistics.median(one.seconds for one in calls),
        *(statistics.median(column) for column in zip(*phases_of, strict=True)),
    ]


_HEADINGS = [
    "table", "types", "CTAS", "call", "ratio", *_GROUPS, "view ratio",
    "CPU", "CPU ratio", "to plain", "share", "gap", "backend", "worker",
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
    # Otherwise the first variant alone would start the solver's process.
    publish(connection, name, columns=["sex"])
    plain: dict[str, list[Plain]] = {variant: [] for variant in variants}
    calls: dict[str, list[Call]] = {variant: [] for variant in variants}
    for _ in range(runs):
        for variant, options in variants.items():
            plain[variant].append(yardstick(connection, name))
            calls[variant].append(publish(connection, name, **options))
    first = statistics.median(call.cpu_seconds for call in next(iter(calls.values())))
    return [_row(variant, plain[variant], calls[variant], first) for variant in variants]


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


def _row(variant: str, plain: list[Plain], calls: list[Call], first: float) -> list[Any]:
    last = sorted(calls, key=lambda one: one.seconds)[len(calls) // 2]
    computed = statistics.median(one.cpu_seconds for one in calls)
    copied = statistics.median(one.seconds for one in plain)
    return [
        variant,
        last.report["row_types"],
        copied,
        last.seconds,
        last.seconds / copied,
        *_grouped(last),
        last.phases["building the view"] / copied,
        computed,
        computed / statistics.median(one.cpu_seconds for one in plain),
        computed / first,
        last.report["suppressed_share"],
        last.report["gap"],
        megabytes(max(one.backend_bytes for one in calls)),
        megabytes(max(one.worker_bytes for one in calls)),
    ]


def _grouped(measured: Call) -> list[float]:
    return [sum(measured.phases.get(name, 0.0) for name in names) for names in _GROUPS.values()]
