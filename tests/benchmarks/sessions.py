"""What many new sessions cost that ask one query each: each loads the package and opens the record."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
from rich.table import Table

from tests.benchmarks.server import bench_server, processor_seconds
from tests.benchmarks.settings import Settings, table

QUERY = "select sex, count(*) from visitors where age > 20 group by sex"
ROLES = "identifiers => '{id}', quasi_identifiers => '{age,sex}', sensitive => '{illness}'"
TABLE = (
    "select i as id, i % 80 as age, case when i % 2 = 0 then 'f' else 'm' end as sex, 'i' || i % 7 as illness"
    " from generate_series(1, 1000) as i"
)

Connection = psycopg.Connection[Any]


def at_once(settings: Settings) -> Iterator[Table]:
    """One query of each of many new sessions, all at once: time, processor time, memory of the backends."""
    with bench_server() as connection:
        connection.execute(f"drop table if exists visitors cascade; create table visitors as {TABLE}")
        connection.execute("alter table visitors add primary key (id)")
        connection.execute("vacuum analyze visitors")
        connection.execute(f"select kanon_declare('visitors', {ROLES})")
        connection.execute("""select kanon_protect('visitors', 5, '{"refusals": null, "seconds": 300}')""")
        counts = (1, 10) if settings.quick else (1, 10, 40)
        rows = [_measured(connection.info.dsn, count) for count in counts]
    yield table(
        "New sessions at once, one query of 1,000 rows each: seconds until the first and the last answer,"
        " processor seconds and memory (PSS) of each session",
        ["sessions", "first", "last", "CPU", "MB"],
        rows,
    )


def _measured(dsn: str, count: int) -> list[object]:
    barrier = threading.Barrier(count)
    with ExitStack() as stack:
        sessions = [stack.enter_context(psycopg.connect(dsn, autocommit=True)) for _ in range(count)]

        def ask(session: Connection) -> float:
            barrier.wait()
            start = time.perf_counter()
            session.execute("select kanon_query(%s)", [QUERY]).fetchall()
            return time.perf_counter() - start

        with ThreadPoolExecutor(count) as pool:
            seconds = list(pool.map(ask, sessions))
        backends = [session.info.backend_pid for session in sessions]
        spent = processor_seconds(backends) / count
        size = sum(map(_proportional_bytes, backends)) / count / 2**20
    return [count, min(seconds), max(seconds), spent, size]


def _proportional_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
