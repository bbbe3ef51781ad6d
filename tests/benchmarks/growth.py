"""How time grows with the number of columns and with k."""

from collections.abc import Iterator

from rich.table import Table

from tests.benchmarks.server import bench_server, call, megabytes
from tests.benchmarks.settings import Settings, table
from tests.benchmarks.synthetic import COLUMNS, make


def by_columns(settings: Settings) -> Iterator[Table]:
    """100,000 rows, 6 to 18 columns, k = 5."""
    widths = (6, 9, 12) if settings.quick else (6, 8, 9, 10, 12, 14, 16, 18)
    names = [*COLUMNS, *(f"extra_{number}" for number in range(1, 10))]
    with bench_server() as connection:
        make(connection, "synthetic_wide", 100_000, columns=18)
        rows = []
        for width in widths:
            chosen = {"quasi_identifiers": names[:width], "time_limit": "10 minutes"}
            last = call(connection, "synthetic_wide", 5, **chosen)
            r = last.report
            rows.append(
                [
                    width,
                    2**width,
                    r["row_types"],
                    last.seconds,
                    r["suppressed_share"],
                    r["gap"],
                    r["method"],
                    megabytes(last.worker_bytes),
                ]
            )
        yield table(
            "Growth with columns: 100,000 synthetic rows, k = 5",
            ["columns", "patterns", "row types", "s", "share", "gap", "method", "worker"],
            rows,
        )


def by_k(settings: Settings) -> Iterator[Table]:
    """100,000 rows, 9 columns, k from 2 to 1,000."""
    with bench_server() as connection:
        make(connection, "skewed_100000", 100_000)
        rows = []
        for k in (2, 5, 10, 25, 100, 1_000):
            chosen = {"quasi_identifiers": list(COLUMNS), "sensitive": ["diagnosis"]}
            r = (last := call(connection, "skewed_100000", k, **chosen)).report
            rows.append([k, last.seconds, r["suppressed_share"], r["gap"], r["classes"], r["largest_class"]])
        yield table(
            "Growth with k: 100,000 synthetic rows, 9 columns",
            ["k", "s", "share", "gap", "classes", "largest"],
            rows,
        )
