"""TPC-H with customers as people: which queries are answered, and what guarding them costs."""

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
from psycopg import sql
from rich.table import Table

from tests.benchmarks.server import bench_server, cpu_seconds
from tests.benchmarks.settings import Settings, table

Connection = psycopg.Connection[Any]

MISSING = "NOT MEASURED: install duckdb and duckdb-extension-tpch, which make the tables and the queries"
WANTED = (1, 4, 5, 6, 7, 9, 12, 14, 15, 21)
"""Queries of which at least eight are to be answered as they stand."""

_KEYS = {
    "region": "r_regionkey",
    "nation": "n_nationkey",
    "supplier": "s_suppkey",
    "part": "p_partkey",
    "partsupp": "ps_partkey, ps_suppkey",
    "customer": "c_custkey",
    "orders": "o_orderkey",
    "lineitem": "l_orderkey, l_linenumber",
}
_LINKS = (("orders", "o_custkey", "customer"), ("lineitem", "l_orderkey", "orders"))
_OF_PEOPLE = ("customer", "orders", "lineitem")
_WITHHELD = ("c_name", "c_address", "c_phone", "c_comment", "o_comment", "l_comment")
_SECRET = ("c_acctbal",)
_RULES: dict[str, Any] = {"refusals": None, "seconds": 300}
_OPTIONS = json.dumps(_RULES)
_BOUNDS = {
    "customer": {"c_acctbal": [-1000, 10000]},
    "orders": {"o_totalprice": [0, 500000]},
    "lineitem": {
        "l_quantity": [0, 50],
        "l_extendedprice": [0, 105000],
        "l_discount": [0, 0.1],
        "l_tax": [0, 0.08],
    },
}
_NOISE = {"epsilon": 1, "delta": 1e-6, "rows_per_person": 60, "groups_per_person": 10, "per_query": 1}
"""Each query spends an account of its own."""


def guarded_queries(settings: Settings) -> Iterator[Table]:
    """Processor time of TPC-H's queries in a warm session, plain and guarded, and their geometric mean."""
    scale = 0.01 if settings.quick else 0.1
    try:
        import duckdb
        import duckdb_extension_tpch as extension
    except ImportError:
        yield table(f"TPC-H: {MISSING}", [""], [])
        return
    (file,) = Path(extension.__file__).parent.rglob("*.duckdb_extension")
    with duckdb.connect() as made, bench_server() as connection:
        made.execute(f"load '{file}'")
        texts = dict(made.execute("select query_nr, query from tpch_queries()").fetchall())
        schema = f"tpch_{scale}".replace(".", "_")
        _make(connection, made, schema, scale)
        with psycopg.connect(connection.info.dsn, autocommit=True) as session:
            session.execute(sql.SQL("set search_path = {}, public").format(sql.Identifier(schema)))
            # what other processes compute would not be counted
            session.execute("set max_parallel_workers_per_gather = 0")
            _protect(session, noise=False)
            rows = [_measured(session, number, text, settings) for number, text in sorted(texts.items())]
            _protect(session, noise=True)
            noisy = [_noisy(session, number, text, settings) for number, text in sorted(texts.items())]
            _protect(session, noise=False)
    answered = [row for row in rows if row[4] is not None]
    mean = statistics.geometric_mean([row[4] for row in answered]) if answered else None
    rows.append([f"{len(answered)} of {len(rows)}", "", None, None, mean])
    yield table(
        f"TPC-H at scale {scale}, k = 5, customers are people: processor time of the backend in ms, medians",
        ["query", "outcome", "plain", "guarded", "ratio (mean: geometric)"],
        rows,
    )
    ratios = [row[4] for row in noisy if row[4] is not None]
    mean = statistics.geometric_mean(ratios) if ratios else None
    noisy.append([f"{len(ratios)} of {len(noisy)}", "", None, None, mean, None, None])
    yield table(
        f"The same with noise, epsilon 1 and delta 1e-6 for each query, {_NOISE['rows_per_person']} rows and"
        f" {_NOISE['groups_per_person']} groups of each customer",
        ["query", "outcome", "plain", "noise", "ratio", "rows shown", "median relative error"],
        noisy,
    )


def _make(connection: Connection, made: Any, schema: str, scale: float) -> None:
    """Copy the tables, link and protect them, unless they are there."""
    found = connection.execute("select to_regnamespace(%s) is not null as there", [schema]).fetchone()
    if found is not None and found["there"]:
        return
    made.execute(f"call dbgen(sf = {scale})")
    with TemporaryDirectory() as folder, psycopg.connect(connection.info.dsn) as db:
        db.execute(sql.SQL("create schema {}").format(sql.Identifier(schema)))
        db.execute(sql.SQL("set search_path = {}, public").format(sql.Identifier(schema)))
        for name, key in _KEYS.items():
            columns = made.execute(f"describe {name}").fetchall()
            types = ", ".join(f"{column} {kind}" for column, kind, *_ in columns)
            db.execute(f"create table {name} ({types}, primary key ({key}))".encode())
            path = Path(folder, f"{name}.csv")
            made.execute(f"copy {name} to '{path}' (format csv, header false)")
            with db.cursor().copy(f"copy {name} from stdin (format csv)".encode()) as copy:
                copy.write(path.read_bytes())
        for name in _KEYS.keys() - set(_OF_PEOPLE):
            db.execute(f"grant select on {name} to public".encode())
        for child, column, parent in _LINKS:
            db.execute(f"alter table {child} alter {column} set not null".encode())
            db.execute(f"alter table {child} add foreign key ({column}) references {parent}".encode())
        for name in _OF_PEOPLE:
            columns = [column for column, *_ in made.execute(f"describe {name}").fetchall()]
            known = [column for column in columns if column not in (*_WITHHELD, *_SECRET)]
            db.execute(
                "select kanon_declare(%s::text::regclass, identifiers => %s, sensitive => %s,"
                " insensitive => %s)",
                [
                    name,
                    [column for column in columns if column in _WITHHELD],
                    [column for column in columns if column in _SECRET],
                    known,
                ],
            )
        for child, _, parent in _LINKS:
            db.execute("select kanon_link(%s::text::regclass, %s::text::regclass)", [child, parent])
        for name in _OF_PEOPLE:
            db.execute("select kanon_protect(%s::text::regclass, 5, %s::text::jsonb)", [name, _OPTIONS])
        db.execute(sql.SQL("grant usage on schema {} to public").format(sql.Identifier(schema)))
    connection.execute("vacuum analyze")


def _measured(session: Connection, number: int, text: str, settings: Settings) -> list[Any]:
    query = text.strip().rstrip(";")
    try:
        guarded = median_cpu(session, "select kanon_query(%s)", [query], settings)
    except psycopg.DatabaseError as error:
        code = (error.diag.message_detail or "").partition(":")[0] if error.sqlstate == "KA901" else ""
        return [number, f"{error.sqlstate} {code}", None, None, None]
    plain = median_cpu(session, query, None, settings)
    return [number, "answered", plain, guarded, guarded / plain]


def _protect(session: Connection, *, noise: bool) -> None:
    for name in _OF_PEOPLE:
        more = {"noise": {**_NOISE, "bounds": _BOUNDS[name]}} if noise else {}
        session.execute(
            "select kanon_protect(%s::text::regclass, 5, %s::text::jsonb)", [name, json.dumps(_RULES | more)]
        )


def _noisy(session: Connection, number: int, text: str, settings: Settings) -> list[Any]:
    query = text.strip().rstrip(";")
    found, told = [], []
    try:
        for _ in range(settings.repeats + 1):
            # an answer that was given is given again, at no cost
            session.execute("select kanon.restart_record('customer')")
            before = cpu_seconds(session)
            told = [row for (row,) in session.execute("select kanon_query(%s)", [query]).fetchall()]
            found.append(1000 * (cpu_seconds(session) - before))
    except psycopg.DatabaseError as error:
        code = (error.diag.message_detail or "").partition(":")[0] if error.sqlstate == "KA901" else ""
        return [number, f"{error.sqlstate} {code}", None, None, None, None, None]
    plain = median_cpu(session, query, None, settings)
    right = [row for (row,) in session.execute(f"select to_jsonb(t) from ({query}) as t".encode()).fetchall()]
    noisy = statistics.median(found[1:])
    shown = f"{len(told)} of {len(right)}"
    return [number, "answered", plain, noisy, noisy / plain, shown, _error(told, right)]


def _error(told: list[dict[str, Any]], right: list[dict[str, Any]]) -> float | None:
    """Return the median relative error of numbers in rows that both answers have."""

    if not told:
        return None
    # noise hits no exact value by chance, but for whole numbers that are small
    shared = [name for name in told[0] if {row[name] for row in told} <= {row[name] for row in right}]

    def key(row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in shared)

    by_key = {key(row): row for row in right}
    errors = [
        abs(value - by_key[key(row)][name]) / abs(by_key[key(row)][name])
        for row in told
        if key(row) in by_key
        for name, value in row.items()
        if name not in shared and isinstance(value, int | float) and by_key[key(row)][name]
    ]
    return statistics.median(errors) if errors else None


def median_cpu(session: Connection, query: str, values: list[str] | None, settings: Settings) -> float:
    """Return the median processor time in ms; the first one, which fills caches, is not counted."""
    found = []
    for _ in range(settings.repeats + 1):
        before = cpu_seconds(session)
        session.execute(query.encode(), values).fetchall()
        found.append(1000 * (cpu_seconds(session) - before))
    return statistics.median(found[1:])
