"""A private server for measurements, calls with phases, and the memory of the processes involved."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from kanon_pg.admin.cluster import Cluster
from kanon_pg.admin.install.installer import install
from kanon_pg.tables.csv_file import CsvFile
from kanon_pg.tables.load import load_csv
from tests.benchmarks.settings import DATA

NAME = os.environ.get("KANON_BENCH_SERVER", "bench")
_SAMPLE_SECONDS = 0.02


@dataclass
class Call:
    """One measured call of ``kanon_anonymize``.

    Parameters
    ----------
    report : dict
        The row it returned.
    seconds : float
        From sending the statement to its answer.
    phases : dict of str to float
        Seconds per phase, from the call's own notices.
    backend_bytes, worker_bytes : int
        Peak private memory of the backend, and of the solver's process.
    cpu_seconds : float
        What both computed, which other load on the machine changes less than the seconds that passed; without
        parallel workers of the server.
    """

    report: dict[str, Any]
    seconds: float
    phases: dict[str, float] = field(default_factory=dict)
    backend_bytes: int = 0
    worker_bytes: int = 0
    cpu_seconds: float = 0.0


@contextmanager
def bench_server() -> Iterator[psycopg.Connection[dict[str, Any]]]:
    """Start the private server for measurements and connect to a database with kanon."""
    # Most servers write a log that can be replicated; the private one does not unless told to.
    cluster = Cluster(NAME, settings={"wal_level": "replica"})
    status = cluster.up(prepare=install)
    assert status.dsn is not None
    connection = psycopg.connect(status.dsn, autocommit=True, row_factory=dict_row)
    try:
        yield connection
    finally:
        connection.close()
        cluster.down()


def load(connection: psycopg.Connection[Any], name: str, *, as_table: str | None = None) -> bool:
    """Load a shared data file unless its table exists; False if the file is not there."""
    file = DATA / f"{name}.csv.gz"
    found = connection.execute("SELECT to_regclass(%s) IS NOT NULL AS there", [as_table or name]).fetchone()
    if found["there"]:
        return True
    if not file.exists():
        return False
    with psycopg.connect(connection.info.dsn, autocommit=False) as loading:
        load_csv(loading, CsvFile(file), as_table or name)
    connection.execute(f'VACUUM ANALYZE "{as_table or name}"'.encode())
    return True


def call(connection: psycopg.Connection[Any], relation: str, k: int, **options: Any) -> Call:
    """Call ``kanon_anonymize`` in the server, by the fast method, watching phases and memory."""
    options = {"method": "greedy", **options}
    marks: list[tuple[float, str]] = []

    def on_notice(notice: psycopg.errors.Diagnostic) -> None:
        text = notice.message_primary or ""
        if text.startswith("kanon: "):
            marks.append((time.perf_counter(), text.removeprefix("kanon: ").rstrip("0123456789% ")))

    named = "".join(f", {name} => %({name})s" for name in options)
    text = f"SELECT * FROM kanon_anonymize(%(relation)s::regclass, %(k)s{named})"
    connection.execute("SET kanon.progress = 'on'")
    connection.add_notice_handler(on_notice)
    try:
        with memory_watch(connection.info.backend_pid) as peak:
            before, computed = time.perf_counter(), cpu_seconds(connection)
            report = connection.execute(text.encode(), {"relation": relation, "k": k, **options}).fetchone()
            after, computed = time.perf_counter(), cpu_seconds(connection) - computed
    finally:
        connection.remove_notice_handler(on_notice)
    phases: dict[str, float] = {}
    for (start, name), (end, _) in zip(marks, [*marks[1:], (after, "")], strict=True):
        phases[name] = phases.get(name, 0.0) + end - start
    return Call(report, after - before, phases, peak["backend"], peak["worker"], computed)


def cpu_seconds(connection: psycopg.Connection[Any]) -> float:
    """Return what the backend of a connection and its children have computed so far."""
    backend = connection.info.backend_pid
    return processor_seconds((backend, *children(backend)))


def processor_seconds(pids: Sequence[int]) -> float:
    """Return what the threads of some processes have computed so far; 0 of those that have ended."""
    nanoseconds = 0
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):
                nanoseconds += int(thread.read_text().split()[0])
    return nanoseconds / 1e9


@contextmanager
def memory_watch(backend: int) -> Iterator[dict[str, int]]:
    """Give the peak memory of a process, of its largest child, and of all at once, while the block runs."""
    peak = {"backend": 0, "worker": 0, "together": 0}
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_SAMPLE_SECONDS):
            own = private_bytes(backend)
            # What a child maps is what the parent handed over: nobody else's, so it counts with the child.
            sizes = [private_bytes(child, shared=True) for child in children(backend)]
            peak["backend"] = max(peak["backend"], own)
            peak["worker"] = max(peak["worker"], *sizes, 0)
            peak["together"] = max(peak["together"], own + sum(sizes))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()


def private_bytes(pid: int, *, shared: bool = False) -> int:
    """Return the private memory of a process, 0 if it has ended; with what it shares if asked for."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    found = {
        line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("RssAnon", "RssShmem"))
    }
    # The backend's shared memory is the server's buffers; the worker's is the packed input.
    return 1024 * sum(
        int(found.get(name, 0)) for name in (("RssAnon", "RssShmem") if shared else ("RssAnon",))
    )


def children(pid: int) -> list[int]:
    """Return the process ids of the children of a process, none if it has ended."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def megabytes(size: int) -> str:
    """Write a size in megabytes."""
    return f"{size / 2**20:,.0f} MB"


__all__ = [
    "Call",
    "bench_server",
    "call",
    "children",
    "cpu_seconds",
    "load",
    "megabytes",
    "memory_watch",
    "private_bytes",
    "processor_seconds",
]
