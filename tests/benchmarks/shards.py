"""Partitions on other servers against the same rows in one table: seconds, and bytes that travel."""

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
from rich.table import Table

from tests.benchmarks.server import Call, bench_server
from tests.benchmarks.settings import Settings, table
from tests.benchmarks.synthetic import COLUMNS, make, publish

_ROWS = 600_000
_SHARDS = 2
_CARRIED = ("diagnosis", "cost")
_FETCH_SIZES = (100, 10_000)
"""Rows that postgres_fdw asks for at once: its default, and many."""

_WIDTHS = (3, 9)
"""Numbers of quasi-identifiers: few row types, and about a quarter as many as rows."""


def foreign(settings: Settings) -> Iterator[Table]:
    """600,000 rows in 2 shards over postgres_fdw and in one table, on the same machine."""
    with bench_server() as connection:
        _make_shards(connection)
        rows = []
        for width in _WIDTHS:
            columns = COLUMNS[:width]
            for name, fetch_size in (("whole", None), *(("sharded", size) for size in _FETCH_SIZES)):
                if fetch_size is not None:
                    connection.execute(f"ALTER SERVER shard OPTIONS (SET fetch_size '{fetch_size}')".encode())
                calls = [publish(connection, name, columns=list(columns)) for _ in range(settings.repeats)]
                rows.append(_row(connection, name, fetch_size, columns, calls))
        yield table(
            f"{_ROWS:,} rows in {_SHARDS} shards over postgres_fdw, k = 5, greedy; all servers are this "
            "machine, so that no shard works beside another (seconds, medians; MB that shards send)",
            [
                "table",
                "fetch_size",
                "columns",
                "types",
                "count",
                "view",
                "recount",
                "call",
                "counting MB",
                "storing MB",
            ],
            rows,
        )


def _make_shards(connection: psycopg.Connection[Any]) -> None:
    make(connection, "unsharded", _ROWS)
    here = connection.info
    connection.execute(
        "DROP TABLE IF EXISTS whole, sharded CASCADE; DROP EXTENSION IF EXISTS postgres_fdw CASCADE;"
        "CREATE EXTENSION postgres_fdw;"
        "CREATE SERVER shard FOREIGN DATA WRAPPER postgres_fdw OPTIONS"
        f" (host '{here.host}', port '{here.port}', dbname '{here.dbname}', fetch_size '100');"
        "CREATE USER MAPPING FOR PUBLIC SERVER shard OPTIONS (user 'postgres', password_required 'false');"
        f"CREATE TABLE whole AS SELECT floor(random() * {_SHARDS})::integer AS shard, * FROM unsharded;"
        "CREATE TABLE sharded (LIKE whole) PARTITION BY LIST (shard);".encode()
    )
    connection.execute("VACUUM ANALYZE whole")
    for number in range(_SHARDS):
        connection.execute(
            f"DROP TABLE IF EXISTS remote_{number};"
            f"CREATE TABLE remote_{number} AS SELECT * FROM whole WHERE shard = {number};"
            f"CREATE FOREIGN TABLE foreign_{number} PARTITION OF sharded FOR VALUES IN ({number})"
            f" SERVER shard OPTIONS (table_name 'remote_{number}')".encode()
        )
        connection.execute(f"VACUUM ANALYZE remote_{number}".encode())
        connection.execute(f"ANALYZE foreign_{number}".encode())


def _row(
    connection: psycopg.Connection[Any],
    name: str,
    fetch_size: int | None,
    columns: Sequence[str],
    calls: list[Call],
) -> list[Any]:
    last = sorted(calls, key=lambda one: one.seconds)[len(calls) // 2]
    sent: tuple[float | None, float | None] = (None, None)
    if fetch_size is not None:
        grouped = f"SELECT {', '.join(columns)}, count(*) AS n FROM remote_{{}} GROUP BY {', '.join(columns)}"
        read = f"SELECT {', '.join((*columns, *_CARRIED))} FROM remote_{{}}"
        sent = (_sent(connection, grouped, [*columns, "n"]), _sent(connection, read, [*columns, *_CARRIED]))
    return [
        name,
        fetch_size,
        len(columns),
        last.report["row_types"],
        *(last.phases[phase] for phase in ("counting", "building the view", "recounting")),
        last.seconds,
        *sent,
    ]


def _sent(connection: psycopg.Connection[Any], query: str, columns: Sequence[str]) -> float:
    """Return the megabytes of the rows of a query on all shards as the protocol sends them."""
    # a DataRow has 7 bytes, and 4 more for each column
    size = " + ".join(f"4 + coalesce(octet_length({column}::text), 0)" for column in columns)
    total = 0
    for number in range(_SHARDS):
        text = f"SELECT sum(7 + {size})::bigint AS bytes FROM ({query.format(number)}) AS sent"
        row = connection.execute(text.encode()).fetchone()
        total += row["bytes"]
    return total / 2**20
