"""What a round trip costs through the gateway, against a connection of one's own."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from rich.table import Table

from kanon_pg.admin.install.installer import install
from tests.benchmarks.settings import Settings, table
from tests.fixtures.databases import private_server

_TABLES = """
    create table patients as
        select i as patient, i % 50 as ward, i % 7 as age, (i * 7919) % 1000 as cost
        from generate_series(1, 10000) as i;
    create table public_rows as select i as number, repeat('x', 90) as filling
        from generate_series(1, 500000) as i;
    grant select on public_rows to public;
    create role bench_gateway login;
    grant usage on schema kanon to bench_gateway;
    grant select on kanon.base, kanon.declaration, kanon.protection, kanon.release to bench_gateway;
    create role bench_analyst login in role kanon_analyst;
    select kanon_declare('patients', insensitive => '{ward,age,cost}', entity => 'patient');
    select kanon_protect('patients', 5);
"""
_QUERY = "select ward, count(*) from patients group by ward"
_CALL = "select * from kanon_query_record('{}') as t (ward integer, count bigint)"
_CATALOG = (
    "select c.relname, n.nspname from pg_catalog.pg_class as c"
    " join pg_catalog.pg_namespace as n on n.oid = c.relnamespace where n.nspname = 'public'"
)

Connection = psycopg.Connection[Any]
Action = Callable[[Connection], Any]


def round_trips(settings: Settings) -> Iterator[Table]:
    """Statements of several kinds, each many times in turn on both connections: median and 95 % in ms."""
    number = count()
    repeats = 100 if settings.quick else 1000
    few = repeats // 10
    simple: dict[str, tuple[Action, Action, int]] = {
        "select 1, simple protocol": (_simple("select 1"), _simple("select 1"), repeats),
        "select $1, prepared": (_prepared, _prepared, repeats),
        "select N, a new text each time": (_new(number), _new(number), repeats),
        "begin; select 1; commit, 3 trips": (_transaction, _transaction, repeats),
        "catalog query": (_simple(_CATALOG), _simple(_CATALOG), few),
        "query, the same text": (_simple(_CALL.format(_QUERY)), _simple(_QUERY), few),
        "query, a new text each time": (_new_call(number), _new_query(number), few),
    }
    with _both() as (direct, through):
        rows = [
            [name, times, *_compared(direct, through, act_directly, act_through, times)]
            for name, (act_directly, act_through, times) in simple.items()
        ]
        yield table(
            "Round trips, ms",
            ["statement", "times", "direct", "95 %", "gateway", "95 %", "more (median)"],
            rows,
        )
        yield table(
            "500,000 public rows, s (median of three)",
            ["how", "direct", "gateway", "ratio"],
            [_transfer(direct, through, how, act) for how, act in _TRANSFERS.items()],
        )


def _simple(text: str) -> Action:
    return lambda connection: connection.execute(text.encode(), prepare=False).fetchall()


def _prepared(connection: Connection) -> Any:
    return connection.execute("select %s::int4", [1], prepare=True).fetchall()


def _new(number: Iterator[int]) -> Action:
    return lambda connection: connection.execute(f"select {next(number)}".encode()).fetchall()


def _transaction(connection: Connection) -> None:
    with connection.transaction():
        connection.execute("select 1")


def _new_query(number: Iterator[int]) -> Action:
    return lambda connection: connection.execute(
        f"{_QUERY} order by ward limit {1000 + next(number)}".encode()
    ).fetchall()


def _new_call(number: Iterator[int]) -> Action:
    return lambda connection: connection.execute(
        _CALL.format(f"{_QUERY} order by ward limit {1000 + next(number)}").encode()
    ).fetchall()


def _rows(connection: Connection) -> None:
    connection.execute("select * from public_rows").fetchall()


def _copy(connection: Connection) -> None:
    with connection.cursor().copy("copy (select * from public_rows) to stdout") as copy:
        for _ in copy:
            pass


_TRANSFERS: dict[str, Action] = {"SELECT": _rows, "COPY": _copy}


def _compared(
    direct: Connection, through: Connection, act_directly: Action, act_through: Action, times: int
) -> list[float]:
    """Measure in turn, so that the load of the machine is the same for both."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for turn in range(times + 5):
        for connection, act, found in (
            (direct, act_directly, seconds[0]),
            (through, act_through, seconds[1]),
        ):
            before = time.perf_counter()
            act(connection)
            if turn >= 5:
                found.append((time.perf_counter() - before) * 1000)
    medians = [statistics.median(found) for found in seconds]
    worst = [statistics.quantiles(found, n=20)[-1] for found in seconds]
    return [medians[0], worst[0], medians[1], worst[1], medians[1] - medians[0]]


def _transfer(direct: Connection, through: Connection, how: str, act: Action) -> list[Any]:
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(3):
        for connection, seconds in ((direct, found[0]), (through, found[1])):
            before = time.perf_counter()
            act(connection)
            seconds.append(time.perf_counter() - before)
    medians = [statistics.median(seconds) for seconds in found]
    return [how, *medians, medians[1] / medians[0]]


@contextmanager
def _both() -> Iterator[tuple[Connection, Connection]]:
    """Start a server and a gateway; yield a connection to each for the same role."""
    with private_server("bench") as server, server.database("bench") as name:
        install(server.dsn(name), plpython=True)
        with psycopg.connect(server.dsn(name), autocommit=True) as connection:
            connection.execute(_TABLES)
        where = f"host={server.host} port={server.port} dbname={name}"
        command = ["gateway", "--dsn", f"{where} user=bench_gateway", "--port", "0", "--trust", "--quiet"]
        program = Path(sys.executable).with_name("kanon")
        gateway = subprocess.Popen([program, *command], stdout=subprocess.PIPE, text=True)
        try:
            assert gateway.stdout is not None
            port = gateway.stdout.readline().split()[-1]
            analyst = {"dbname": name, "user": "bench_analyst", "autocommit": True}
            with (
                psycopg.connect(host=server.host, port=server.port, **analyst) as direct,
                psycopg.connect(host="127.0.0.1", port=port, **analyst) as through,
            ):
                yield direct, through
        finally:
            gateway.terminate()
            gateway.wait()
