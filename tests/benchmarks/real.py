"""Larger real tables: hospital stays counted in patients, and a census file."""

from collections.abc import Iterator

from rich.table import Table

from tests.benchmarks.columns import CENSUS8, DIABETES
from tests.benchmarks.server import bench_server, call, load, megabytes
from tests.benchmarks.settings import Settings, median_seconds, missing, table

_COLUMNS = [
    "k", "s", "cells", "share", "bound", "gap", "classes", "smallest", "people", "backend", "worker",
]  # fmt: skip


def diabetes(settings: Settings) -> Iterator[Table]:
    """Hospital stays (101,766 rows of 71,518 patients), 7 columns, people counted by patient number."""
    with bench_server() as connection:
        if not load(connection, "diabetes_hospitals", as_table="stays"):
            yield missing("diabetes_hospitals")
            return
        connection.execute(
            "SELECT kanon_declare('stays', quasi_identifiers => %s, sensitive => '{diag_1}', "
            "identifiers => '{patient_nbr,encounter_id}', entity => 'patient_nbr')",
            [list(DIABETES)],
        )
        yield _by_k(connection, settings, "stays", {}, "Hospital stays, 7 columns, classes in patients")


def census(settings: Settings) -> Iterator[Table]:
    """Census income (199,523 rows), 8 columns, all 256 patterns."""
    with bench_server() as connection:
        if not load(connection, "census_income_kdd"):
            yield missing("census_income_kdd")
            return
        chosen = {"quasi_identifiers": list(CENSUS8)}
        yield _by_k(connection, settings, "census_income_kdd", chosen, "Census income, 8 columns")


def _by_k(
    connection: object, settings: Settings, relation: str, chosen: dict[str, object], title: str
) -> Table:
    rows = []
    call(connection, relation, 5, **chosen)  # type: ignore[arg-type]
    for k in (2, 5, 10, 25, 100):
        seconds, last = median_seconds(
            lambda k=k: call(connection, relation, k, **chosen),  # type: ignore[arg-type]
            settings.repeats,
        )
        r = last.report
        rows.append(
            [
                k,
                seconds,
                r["suppressed_cells"],
                r["suppressed_share"],
                r["lower_bound"],
                r["gap"],
                r["classes"],
                r["smallest_class"],
                r["people"],
                megabytes(last.backend_bytes),
                megabytes(last.worker_bytes),
            ]
        )
    return table(title, _COLUMNS, rows)
