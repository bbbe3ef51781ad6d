"""What a session's first call costs, which loads the package and starts a worker, and what a command does."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import psycopg
from rich.table import Table

from tests.benchmarks.server import bench_server, cpu_seconds
from tests.benchmarks.settings import Settings, table

COPY = (
    "drop table if exists {0} cascade; create table {0} as select i as id, i % 80 as age,"
    " 10000 + i % 17 as zip, case when i % 2 = 0 then 'f' else 'm' end as sex, 'i' || i % 7 as illness"
    " from generate_series(1, 1000) as i; alter table {0} add primary key (id);"
    " select kanon_declare('{0}', identifiers => '{{id}}', quasi_identifiers => '{{age,sex,zip}}',"
    " sensitive => '{{illness}}')"
)
QUERY = "select sex, count(*) from asked group by sex"
NOISE = """{"noise": {"epsilon": 1, "delta": 1e-6, "rows_per_person": 1, "groups_per_person": 1}}"""

CALLS = {
    "kanon_version": "select kanon_version()",
    "kanon_measure": "select * from kanon_measure('published')",
    "kanon_audit": "select * from kanon_audit('published', 5)",
    "kanon_anonymize": "select * from kanon_anonymize('published', 5)",
    "kanon_check_query": f"select * from kanon_check_query('{QUERY}')",
    "kanon_query, exact": f"select * from kanon_query('{QUERY}')",
    "kanon_query, noise": f"select * from kanon_query('{QUERY.replace('asked', 'noisy')}')",
}
COMMANDS = (
    ("--version",),
    ("releases",),
    ("measure", "published"),
    ("audit", "published", "--k", "5"),
    ("anonymize", "published", "--k", "5"),
    ("query", QUERY),
)


def first_call(settings: Settings) -> Iterator[Table]:
    """The first and the second call of new sessions on a table of 1,000 rows, and commands."""
    with bench_server() as connection:
        for name in ("published", "asked", "noisy"):
            connection.execute(COPY.format(name).encode())
        connection.execute("select kanon_protect('asked', 5)")
        connection.execute("select kanon_protect('noisy', 5, %s)", [NOISE])
        dsn = connection.info.dsn
        calls = [_middle(name, partial(_session, dsn, text), settings) for name, text in CALLS.items()]
        commands = [_middle(one[0], partial(_command, dsn, one), settings) for one in COMMANDS]
    yield table(
        "Calls of a new session: seconds of the first and of the second call, and what backend and worker"
        " computed for the first",
        ["call", "first", "second", "CPU"],
        calls,
    )
    yield table(
        "Commands: seconds, and what the command and its own worker computed; the server's part is not in it",
        ["kanon", "seconds", "CPU"],
        commands,
    )


def _middle(name: str, measure: Callable[[], tuple[float, ...]], settings: Settings) -> list[object]:
    runs = [measure() for _ in range(2 * settings.repeats - 1)]
    return [name, *(median(figures) for figures in zip(*runs, strict=True))]


def _session(dsn: str, text: str) -> tuple[float, float, float]:
    with psycopg.connect(dsn, autocommit=True) as session:
        session.execute("select")
        start = time.perf_counter()
        session.execute(text.encode()).fetchall()
        first, spent = time.perf_counter() - start, cpu_seconds(session)
        start = time.perf_counter()
        session.execute(text.encode()).fetchall()
        return first, time.perf_counter() - start, spent


def _command(dsn: str, arguments: tuple[str, ...]) -> tuple[float, float]:
    kanon = str(Path(sys.executable).with_name("kanon"))
    target = () if arguments == ("--version",) else ("--dsn", dsn)
    before, start = _computed(), time.perf_counter()
    subprocess.run([kanon, *arguments, *target], check=True, capture_output=True)
    return time.perf_counter() - start, _computed() - before


def _computed() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
