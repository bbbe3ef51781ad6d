"""What the ledger of queries costs a query that is run through the functions in the server."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from rich.table import Table

from tests.benchmarks.server import bench_server, cpu_seconds, load
from tests.benchmarks.settings import Settings, missing, table

ADULT = (
    "quasi_identifiers => '{age,workclass,education,marital_status,occupation,race,sex,native_country}',"
    " sensitive => '{salary_class,hours_per_week}'"
)
MILLION = "identifiers => '{id}', quasi_identifiers => '{zip,sex,age}', sensitive => '{ward,cost}'"
ON_ADULT = (
    "select sex, count(*), avg(hours_per_week) from {} where age > -{} group by sex",
    "select education, count(*) from {} where age >= 30 and age > -{} group by education",
)
ON_MILLION = (
    "select ward, count(*), avg(cost) from {} where age > -{} group by ward",
    "select ward, count(*) from {} where age > 60 and age > -{} group by ward",
    "select count(*) from {} where zip = 5 and age > -{}",
)
"""With the relation, and a number that changes the text and nothing else."""
CHOICES = {
    "sex": ("Male", "Female"),
    "race": ("White", "Black"),
    "education": ("Bachelors", "HS-grad", "Masters", "Some-college"),
    "marital_status": ("Divorced", "Never-married", "Married-civ-spouse"),
    "occupation": ("Sales", "Tech-support", "Craft-repair"),
}

_ASK = "select kanon_query(%s)"

Connection = psycopg.Connection[Any]


_MODES = (
    "direct",
    "ledger off",
    "after the table changed: first of a session",
    "then new, rows collected",
    "then new, table read by columns",
    "other sessions: first",
    "then new",
    "again",
    "again, after another transaction wrote",
)


def cost_of_record(settings: Settings) -> Iterator[Table]:
    """Time of the same query run directly, without comparison, and with it."""
    with bench_server() as connection:
        relations = list(_tables(connection, settings))
        for workers in (0,) if settings.quick else (0, 2):
            for relation in relations:
                for text in _texts(relation):
                    figures = _compared(connection, relation, text, settings, workers)
                    (direct, _), *_ = figures
                    yield table(
                        f"{text.format(relation, 1)}: k = 5, at most {workers} parallel workers; medians of"
                        " wall and of processor time (backend and ledger's worker alone) in ms; 1.5 times"
                        f" direct and 20 ms are {1.5 * direct + 20:.0f}",
                        ["", "ms", "CPU", "times direct"],
                        [[mode, *pair, pair[0] / direct] for mode, pair in zip(_MODES, figures, strict=True)],
                    )


def _tables(connection: Connection, settings: Settings) -> Iterator[str]:
    if load(connection, "adult"):
        protected(connection, "adult", "select * from adult", ADULT)
        yield "adult"
    if not settings.quick:
        columns = (
            "i as id, i % 97 as zip, i % 2 as sex, i % 1000 * 31 % 90 as age, 'w' || i % 8 as ward,"
            " (i % 9973)::numeric / 100 as cost"
        )
        protected(connection, "million", f"select {columns} from generate_series(1, 1000000) as i", MILLION)
        yield "million"


def _texts(relation: str) -> tuple[str, ...]:
    return ON_ADULT if relation == "adult" else ON_MILLION


def protected(connection: Connection, name: str, query: str, roles: str) -> None:
    """Make two protected tables of a query's rows: with the ledger off, and with it."""
    for mode in ("off", "pairwise"):
        own = f"{name}_{mode}"
        connection.execute(f"drop table if exists {own} cascade")
        connection.execute(f"create table {own} as {query}")
        connection.execute(f"vacuum analyze {own}")
        connection.execute(f"select kanon_declare('{own}', {roles})")
        options = json.dumps({"ledger": mode, "refusals": None, "seconds": 300})
        connection.execute("select kanon_protect(%s::text::regclass, 5, %s::text::jsonb)", [own, options])


_SESSIONS = 3
_NEW = 3
"""New texts of a session."""

_COLLECTING = 2
"""New texts of a session before one reads the table by its columns (`kanon_pg.queries.partitions`)."""


def _compared(
    connection: Connection, relation: str, text: str, settings: Settings, workers: int
) -> list[list[float]]:
    pairwise, numbers = f"{relation}_pairwise", count(2)
    direct: list[tuple[float, float]] = []

    def first(session: Connection) -> tuple[float, float]:
        return _timed(session, _ASK, text.format(pairwise, 1))

    def new(session: Connection) -> tuple[float, float]:
        # in turn, because what else the machine does comes and goes
        direct.append(_timed(session, text.format(pairwise, 1), None))
        return _timed(session, _ASK, text.format(pairwise, next(numbers)))

    after_change, collecting, reading = [], [], []
    for _ in range(_SESSIONS):
        with _session(connection, workers) as session:
            one = f"select ctid from {pairwise} limit 1"
            connection.execute(f"update {pairwise} set age = age where ctid = ({one})")
            connection.execute(f"vacuum {pairwise}")
            after_change.append(first(session))
            collecting += [new(session) for _ in range(_COLLECTING)]
            reading.append(new(session))
            new(session)  # what was read is stored now
    # so that both are from the same minute
    direct.clear()
    firsts, news = [], []
    for _ in range(_SESSIONS):
        with _session(connection, workers) as session:
            firsts.append(first(session))
            news += [new(session) for _ in range(_NEW)]
    again = [1] * (settings.repeats + 1)
    asked = [(_ASK, text.format(pairwise, number)) for number in again]
    with _session(connection, workers) as session:
        first(session)
        off = _medians(session, [(_ASK, text.format(f"{relation}_off", number)) for number in again])
        figures = [_median(direct), off, *map(_median, (after_change, collecting, reading, firsts, news))]
        return [*figures, _medians(session, asked), _medians(session, asked, writer=connection)]


@contextmanager
def _session(connection: Connection, workers: int) -> Iterator[Connection]:
    with psycopg.connect(connection.info.dsn, autocommit=True) as session:
        session.execute(f"set max_parallel_workers_per_gather = {workers}")
        yield session


def _median(found: Sequence[tuple[float, float]]) -> list[float]:
    return [statistics.median(times) for times in zip(*found, strict=True)]


def _medians(
    session: Connection, asked: Sequence[tuple[str, str | None]], writer: Connection | None = None
) -> list[float]:
    """Return the medians of wall and processor time; the first one is not counted."""
    found = []
    for command, query in asked:
        if writer is not None:
            writer.execute("create table if not exists written (one int)")
            writer.execute("insert into written values (1)")
        found.append(_timed(session, command, query))
    return _median(found[1:])


def _timed(session: Connection, command: str, query: str | None) -> tuple[float, float]:
    """Return wall and processor time in ms."""
    before, start = cpu_seconds(session), time.perf_counter()
    session.execute(command, [query] if query is not None else None).fetchall()
    return 1000 * (time.perf_counter() - start), 1000 * (cpu_seconds(session) - before)


def many(settings: Settings) -> Iterator[Table]:
    """Time of a query after many others were recorded, on Adult."""
    count = 300 if settings.quick else 10_000
    with bench_server() as connection:
        if not load(connection, "adult"):
            yield missing("adult")
            return
        protected(connection, "adult", "select * from adult", ADULT)
        yield table(
            "Random groupings of Adult under random conditions, k = 5, pairwise: ms per query of the last"
            " tenth",
            ["queries", "answered", "median", "95 %", "worst", "CPU", "journal MB", "checkpoint MB"],
            [_measured(connection, count)],
        )


def _measured(connection: Connection, count: int) -> list[object]:
    draw = random.Random(5)
    spent: list[tuple[float, float]] = []
    answered = 0
    with psycopg.connect(connection.info.dsn, autocommit=True) as session:
        for _ in range(count):
            try:
                spent.append(_timed(session, "select kanon_query(%s)", _random_query(draw)))
                answered += 1
            except psycopg.DatabaseError as error:
                if error.sqlstate != "KA902":
                    raise
    last = spent[-max(1, len(spent) // 10) :]
    wall = sorted(one for one, _ in last)
    figures = [statistics.median(wall), wall[int(0.95 * len(wall))], wall[-1]]
    return [count, answered, *figures, statistics.mean(cpu for _, cpu in last), *_sizes(connection)]


def _random_query(draw: random.Random) -> str:
    chosen = draw.sample(sorted(CHOICES), draw.randint(0, 3))
    conditions = [f"{name} = '{draw.choice(CHOICES[name])}'" for name in chosen]
    if draw.random() < 0.5:
        conditions.append(f"age {draw.choice(('>', '<='))} {draw.randint(20, 60)}")
    by = draw.choice(("sex", "race", "education", "marital_status"))
    where = f" where {' and '.join(conditions)}" if conditions else ""
    return f"select {by}, count(*), avg(hours_per_week) from adult_pairwise{where} group by {by}"


def _sizes(connection: Connection) -> list[float]:
    row = connection.execute(
        "select current_setting('data_directory') as data, d.oid, l.name from pg_database d, kanon.ledger l"
        " where d.datname = current_database() and l.relation = 'adult_pairwise'::regclass"
    ).fetchone()
    folder = Path(row["data"], "kanon_ledger", str(row["oid"]), row["name"])
    files = (folder / "journal", folder / "checkpoint")
    return [file.stat().st_size / 1e6 if file.exists() else 0.0 for file in files]
