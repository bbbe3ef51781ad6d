"""A table that Citus distributes against the same rows on one server: seconds per phase, bytes sent."""

import os
import statistics
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from rich.table import Table

from kanon_pg.admin.install.installer import install
from tests.benchmarks.server import Call
from tests.benchmarks.settings import Settings, missing, table
from tests.benchmarks.synthetic import COLUMNS, make, publish
from tests.fixtures.citus import citus_nodes

_ROWS = 1_000_000
_FEW_ROWS = 300_000
_WIDTHS = (3, 9)
"""Numbers of quasi-identifiers: few row types, and about a quarter as many as rows."""

_WORKERS = (1, 2)
_HEADINGS = [
    "table", "workers", "columns", "types", "count", "solve", "store", "recount", "call",
    "groups MB", "rows MB",
]  # fmt: skip


def distributed(settings: Settings) -> Iterator[Table]:
    """A synthetic table on 1 and 2 workers and on the coordinator alone."""
    rows = _FEW_ROWS if settings.quick else _ROWS
    found: list[list[Any]] = []
    try:
        for workers in _WORKERS:
            with citus_nodes(workers) as nodes, nodes.database("bench") as name:
                dsn = nodes.coordinator.dsn(name)
                install(dsn, plpython=True)
                with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as connection:
                    found += _rows(connection, workers, rows, settings.repeats)
    except pytest.skip.Exception as reason:
        yield missing(str(reason))
        return
    yield table(
        f"{rows:,} synthetic rows, k = 5, greedy, people counted, distributed by person in 4 shards; all "
        f"nodes are this machine ({os.cpu_count()} processors), so that no worker adds speed (seconds, "
        f"medians of {settings.repeats}; MB that nodes send for groups, and would for all rows; load "
        f"{os.getloadavg()[0]:.1f} at the end)",
        _HEADINGS,
        found,
    )


def _rows(connection: psycopg.Connection[Any], workers: int, rows: int, repeats: int) -> list[list[Any]]:
    connection.execute("SET client_min_messages TO notice")
    make(connection, "here", rows)
    connection.execute("CREATE TABLE spread AS TABLE here")
    connection.execute("SELECT create_distributed_table('spread', 'person')")
    connection.execute("SELECT truncate_local_data_after_distributing_table('spread')")
    connection.execute("ANALYZE spread")
    found = []
    for width in _WIDTHS:
        columns = list(COLUMNS[:width])
        calls: dict[str, list[Call]] = {"here": [], "spread": []}
        for _ in range(repeats):
            for name, measured in calls.items():
                measured.append(publish(connection, name, columns=columns, entity="person"))
        for name, measured in calls.items():
            found.append(_row(connection, name, workers, columns, measured))
    return found


def _row(
    connection: psycopg.Connection[Any], name: str, workers: int, columns: list[str], calls: list[Call]
) -> list[Any]:
    def median(*phases: str) -> float:
        return statistics.median(sum(one.phases.get(phase, 0.0) for phase in phases) for one in calls)

    sent: tuple[float | None, float | None] = (None, None)
    if name == "spread":
        keys = ", ".join(columns)
        held = f"SELECT {keys}, person, count(*) AS n FROM spread GROUP BY {keys}, person"
        numbered = (
            f"SELECT {keys}, n, hashint8(person)::bigint AS number,"
            f" count(*) OVER (PARTITION BY person) AS types FROM ({held}) AS held"
        )
        grouped = (
            f"SELECT {keys}, sum(n), count(*), array_agg(number) FILTER (WHERE types > 1)"
            f" FROM ({numbered}) AS numbered GROUP BY {keys}"
        )
        sent = _megabytes(connection, grouped), _megabytes(connection, f"SELECT {keys}, person FROM spread")
    return [
        {"here": "one server", "spread": "Citus"}[name],
        workers if name == "spread" else None,
        len(columns),
        calls[0].report["row_types"],
        median("counting"),
        median("solving", "prepare", "greedy", "improve", "bound", "verify"),
        median("writing", "building the view"),
        median("recounting"),
        statistics.median(one.seconds for one in calls),
        *sent,
    ]


def _megabytes(connection: psycopg.Connection[Any], query: str) -> float:
    """Return how much nodes send to the coordinator for a query."""
    plan = connection.execute(f"EXPLAIN (ANALYZE, TIMING off, FORMAT json) {query}".encode()).fetchone()
    return _received(plan["QUERY PLAN"]) / 1e6


def _received(node: Any) -> int:
    if isinstance(node, list):
        return sum(map(_received, node))
    if not isinstance(node, dict):
        return 0
    own = str(node.get("Tuple data received from nodes", "0 bytes")).split()
    scale = {"bytes": 1, "kB": 1 << 10, "MB": 1 << 20}[own[1]] if len(own) > 1 else 1
    return int(float(own[0]) * scale) + sum(_received(part) for key, part in node.items() if key != "Tasks")
