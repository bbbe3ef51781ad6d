"""Many row types or columns under a memory budget of 1 GB: published or refused, progress seen."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from rich.table import Table

from tests.benchmarks.server import bench_server, megabytes, memory_watch
from tests.benchmarks.settings import Settings, table
from tests.benchmarks.synthetic import COLUMNS, DIVERSE, SKEWED, make, publish

BUDGET = "1GB"
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Case:
    """A synthetic table: `deviation` is the share of cells that differ from those of a profile."""

    rows: int
    columns: int
    deviation: float

    @property
    def name(self) -> str:
        """The table's name."""
        return f"wide_{self.rows}_{self.columns}_{round(100 * self.deviation)}"

    @property
    def quasi_identifiers(self) -> list[str]:
        """The names of its columns, as `make` gives them."""
        return [*COLUMNS, *(f"extra_{number}" for number in range(1, self.columns - len(COLUMNS) + 1))]


_CASES = (
    Case(200_000, 40, SKEWED),
    Case(1_000_000, 40, DIVERSE),
    Case(2_000_000, 9, DIVERSE),
    Case(10_000_000, 9, DIVERSE),
)


def limited(settings: Settings) -> Iterator[Table]:
    """Up to 10 million rows nearly all different, up to 40 columns, kanon.memory_budget = 1GB."""
    cases = _CASES[:2] if settings.quick else _CASES
    with bench_server() as connection:
        connection.execute("SELECT set_config('kanon.memory_budget', %s, false)", [BUDGET])
        yield table(
            f"Under a memory budget of {BUDGET}: greedy, k = 5 (seconds; memory of backend and solver "
            "together; what another session sees as application_name, and how long the same at most)",
            ["rows", "columns", "types", "outcome", "s", "CTAS", "memory", "phases seen", "longest", "in"],
            [_row(connection, case) for case in cases],
        )


def _row(connection: psycopg.Connection[Any], case: Case) -> list[Any]:
    make(connection, case.name, case.rows, columns=case.columns, deviation=case.deviation)
    started = time.perf_counter()
    connection.execute(f"CREATE TABLE yardstick AS SELECT * FROM {case.name}".encode())
    plain = time.perf_counter() - started
    connection.execute("DROP TABLE yardstick")
    backend = connection.info.backend_pid
    types, outcome = None, "published"
    with _seen_by_others(connection.info.dsn, backend) as seen, memory_watch(backend) as peak:
        started = time.perf_counter()
        try:
            types = publish(connection, case.name, columns=case.quasi_identifiers).report["row_types"]
        except psycopg.Error as error:
            outcome = f"{error.sqlstate}: {error.diag.message_primary}"
        seconds = time.perf_counter() - started
    longest = max(seen, key=lambda phase: seen[phase])
    memory = megabytes(peak["together"])
    return [
        case.rows, case.columns, types, outcome, seconds, plain, memory, len(seen), seen[longest], longest,
    ]  # fmt: skip


@contextmanager
def _seen_by_others(dsn: str, backend: int) -> Iterator[dict[str, float]]:
    """Give for how long at a stretch another session sees each text of a session, while the block runs."""
    longest: dict[str, float] = {}
    done = threading.Event()

    def watch() -> None:
        query = "SELECT application_name FROM pg_stat_activity WHERE pid = %s"
        with psycopg.connect(dsn, autocommit=True) as other:
            last, since = "", time.perf_counter()
            while not done.wait(_POLL_SECONDS):
                (text,) = other.execute(query, [backend]).fetchone() or ("",)
                if text != last:
                    last, since = text, time.perf_counter()
                if text.startswith("kanon: "):
                    phase = text.removeprefix("kanon: ").rstrip("0123456789% ")
                    longest[phase] = max(longest.get(phase, 0.0), time.perf_counter() - since)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield longest
    finally:
        done.set()
        watcher.join()
