"""What guarding costs beside TPC-H: one large table, the first query of a session, a growing record."""

import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from rich.table import Table

from kanon_pg.queries.record.record import Record
from kanon_pg.queries.record.sketches import FigureSet
from tests.benchmarks.server import bench_server
from tests.benchmarks.settings import Settings, table
from tests.benchmarks.tpch import median_cpu

_K = 5
_GROUPS = 1000
_LARGE = """
    create table {name} as
        select i as person, i % 50 as ward, (i::bigint * 7919) % 97 as age, i % 3 = 0 as is_f,
            round(((i::bigint * 104729) % 100003) / 7.0, 2) as cost
        from generate_series(1, {rows}) as i;
    alter table {name} add primary key (person);
    select kanon_declare('{name}', insensitive => '{{ward,age,is_f}}', sensitive => '{{cost}}');
    select kanon_protect('{name}', 5, '{{"refusals": null, "seconds": 300}}');
    vacuum analyze {name};
"""
_QUERIES = (
    "select count(*) from {name}",
    "select ward, count(*) from {name} group by ward",
    "select ward, is_f, count(*), avg(cost), sum(cost) from {name} group by ward, is_f",
    "select ward, sum(cost) from {name} where age between 20 and 60 group by ward order by 2 desc limit 5",
    "select age, count(*) filter (where is_f), avg(cost) from {name} group by age having count(*) > 100",
    "select avg(cost), stddev(cost) from {name} where ward = 7",
)


def one_table(settings: Settings) -> Iterator[Table]:
    """Processor time of queries of one table in a warm session, and of the first query of a session."""
    rows = 100_000 if settings.quick else 1_000_000
    name = f"guards_{rows}"
    with bench_server() as connection:
        found = connection.execute("select to_regclass(%s) is null as missing", [name]).fetchone()
        if found is not None and found["missing"]:
            with psycopg.connect(connection.info.dsn, autocommit=True) as db:
                for one in _LARGE.format(name=name, rows=rows).split(";\n")[:-1]:
                    db.execute(one.encode())
        texts = [text.format(name=name) for text in _QUERIES]
        with psycopg.connect(connection.info.dsn, autocommit=True) as session:
            session.execute("set max_parallel_workers_per_gather = 0")
            measured = [
                (
                    text,
                    median_cpu(session, text, None, settings),
                    median_cpu(session, "select kanon_query(%s)", [text], settings),
                )
                for text in texts
            ]
        firsts = [_first(connection.info.dsn, texts[0]) for _ in range(settings.repeats)]
    ratios = [guarded / plain for _, plain, guarded in measured]
    yield table(
        f"One table of {rows:,} people, k = {_K}: processor time of the backend in ms, medians",
        ["query", "plain", "guarded", "ratio (mean: geometric)"],
        [
            *([text, plain, guarded, guarded / plain] for text, plain, guarded in measured),
            ["", None, None, statistics.geometric_mean(ratios)],
        ],
    )
    yield table(
        "The first guarded query of a session, and the second, which is the same: s, medians",
        ["first", "second"],
        [[statistics.median(one) for one in zip(*firsts, strict=True)]],
    )


def _first(dsn: str, text: str) -> tuple[float, float]:
    with psycopg.connect(dsn, autocommit=True) as session:
        seconds = []
        for _ in range(2):
            before = time.perf_counter()
            session.execute("select kanon_query(%s)", [text]).fetchall()
            seconds.append(time.perf_counter() - before)
    return seconds[0], seconds[1]


def growing_record(settings: Settings) -> Iterator[Table]:
    """How long an answer of 1,000 groups takes while a record grows, and how large that is."""
    wanted = 20_000 if settings.quick else 1_000_000
    shown = {wanted // 100, wanted // 10, wanted // 2, wanted}
    rows, draw = [], random.Random(1)
    with TemporaryDirectory() as folder:
        path = Path(folder, "record.sqlite")
        Record.create(path, _K)
        record = Record.open(path)
        sets, latest = 0, list[float]()
        while sets < wanted:
            figures = [
                FigureSet(draw.randbytes(4 * record.buckets), {"rows": draw.randbytes(4 * record.buckets)})
                for _ in range(_GROUPS)
            ]
            asked = record.ask("ada", "select", 0.0)
            before = time.perf_counter()
            with record.begin(asked.entry, 0.0) as entry:
                entry.conflicting(figures, _K)
                entry.record(figures, _K)
                entry.answered()
            latest.append(time.perf_counter() - before)
            sets += 2 * _GROUPS
            if sets in shown:
                size = sum(one.stat().st_size for one in Path(folder).iterdir())
                rows.append([sets, statistics.median(latest[-20:]), max(latest[-20:]), size / sets])
    yield table(
        f"A record that grows by answers of {_GROUPS:,} groups of two sets each",
        ["sets", "s an answer, median of 20", "greatest", "bytes a set"],
        rows,
    )
