"""Releases over time: what they lose against a release made afresh, version by version."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray
from rich.table import Table

from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.core.solving import SolveRequest
from kanon_pg.worker.solvers.registry import solve
from tests.benchmarks.columns import CENSUS8, DIABETES, QI8
from tests.benchmarks.server import bench_server, load
from tests.benchmarks.settings import DATA, Settings, missing, table
from tests.benchmarks.synthetic import COLUMNS, make
from tests.fixtures.cohorts import CohortCounts, Rules, fate

K = 5
_COLUMNS = [
    "leavers",
    "version",
    "people",
    "rows shown",
    "pending",
    "withheld",
    "retained",
    "cells",
    "fresh",
    "ratio",
    "s",
]
Codes = NDArray[np.int64]


def over_time(settings: Settings) -> Iterator[Table]:
    """Adult in 12 random batches; 20,000 rows of the census in 24, 5 % of whom leave each time; k = 5."""
    versions = 4 if settings.quick else 24
    for name, columns, most, batches, leaving, rules in (
        ("adult", QI8, None, 12, 0.0, ("retain",)),
        ("census_income_kdd", CENSUS8, 20_000, versions, 0.05, ("retain", "withhold")),
    ):
        file = DATA / f"{name}.csv.gz"
        if not file.exists():
            yield missing(name)
            continue
        codes = codes_of(file, columns)
        codes = codes[np.random.default_rng(1).permutation(len(codes))][:most]
        rows = []
        for leavers in rules:
            rows += _history(codes, batches, leaving, leavers)
        yield table(
            f"{name}: {len(codes):,} rows in {batches} random batches, {leaving:.0%} leave each, k = {K}",
            _COLUMNS,
            rows,
        )


def codes_of(file: object, columns: Sequence[str]) -> Codes:
    read = pa.csv.read_csv(file, convert_options=pa.csv.ConvertOptions(include_columns=list(columns)))
    encoded = [read[name].combine_chunks().dictionary_encode().indices for name in columns]
    return np.column_stack([np.asarray(one).astype(np.int64) for one in encoded])


def patterns_of(codes: Codes, method: str = "greedy", seconds: float | None = None) -> Codes:
    """Anonymize rows by themselves; returns the pattern of each."""
    types, type_of, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    spread = np.random.default_rng(2).integers(-(2**63), 2**63 - 1, int(codes.max()) + 1, dtype=np.int64)
    packed = PackedRowTypes(
        tuple(QuasiIdentifier(f"c{number}", "categorical") for number in range(codes.shape[1])),
        np.arange(len(types), dtype=">i8").tobytes(),
        counts.astype(">i8").tobytes(),
        counts.astype(">i8").tobytes(),
        tuple(spread[column].astype(">i8").tobytes() for column in types.T),
        (None,) * codes.shape[1],
    )
    outcome = solve(packed, SolveRequest(K, method, seconds=seconds))
    patterns = np.frombuffer(outcome.patterns, ">i8").astype(np.int64)[type_of.ravel()]
    moved = (outcome.moved_types, outcome.moved_patterns, outcome.moved_rows)
    is_moved = np.zeros(len(codes), bool)
    for one, pattern, rows in zip(*(np.frombuffer(part, ">i8") for part in moved), strict=True):
        chosen = np.flatnonzero((type_of.ravel() == one) & ~is_moved)[:rows]
        patterns[chosen], is_moved[chosen] = pattern, True
    assert int(np.bitwise_count(patterns).sum()) == outcome.suppressed_cells
    return patterns


@dataclass
class _Published:
    """What is published of each row of a table, by its number."""

    cohort: Codes
    pattern: Codes
    left_in: Codes
    shown: dict[int, bool]
    cohorts: int = 0

    def enter(self, rows: Codes, codes: Codes) -> None:
        patterns = patterns_of(codes[rows])
        kept = (patterns[:, None] >> np.arange(codes.shape[1])) & 1 == 0
        cells = np.column_stack([np.where(kept, codes[rows], -1), patterns])
        _, cohort = np.unique(cells, axis=0, return_inverse=True)
        self.cohort[rows] = cohort.ravel() + self.cohorts
        self.pattern[rows] = patterns
        self.shown.update(dict.fromkeys(range(self.cohorts, self.cohorts + int(cohort.max()) + 1), True))
        self.cohorts = len(self.shown)
        sizes = np.bincount(cohort.ravel())
        assert sizes.min() >= K

    def leave(self, version: int, rules: Rules) -> None:
        members = self.cohort >= 0
        present = np.bincount(self.cohort[members & (self.left_in == 0)], minlength=self.cohorts)
        left = np.bincount(self.cohort[members & (self.left_in > 0)], minlength=self.cohorts)
        for cohort in np.flatnonzero(left):
            rows = np.flatnonzero((self.cohort == cohort) & (self.left_in > 0))
            here, gone = int(present[cohort]), int(left[cohort])
            counts = CohortCounts(here, here, gone, gone, int(self.left_in[rows].min()), False)
            found = fate(counts, version, rules)
            self.shown[int(cohort)] = found in ("shown", "retained") or (found == "leaving" and here >= K)
            if found == "leaving":
                self.cohort[rows] = -1


def _history(codes: Codes, batches: int, leaving: float, leavers: str) -> list[list[object]]:
    chance = np.random.default_rng(3)
    n = len(codes)
    state = _Published(np.full(n, -1), np.zeros(n, np.int64), np.zeros(n, np.int64), {})
    here = np.zeros(n, bool)
    rows: list[list[object]] = []
    patterns_of(codes[:1000])  # compiles
    for version, batch in enumerate(np.array_split(np.arange(n), batches), 1):
        gone = np.flatnonzero(here & (chance.random(n) < leaving))
        here[gone] = False
        state.left_in[gone] = version
        here[batch] = True
        began = time.perf_counter()
        state.leave(version, Rules(K, leavers))
        pending = np.flatnonzero(here & (state.cohort < 0))
        if len(pending) >= K:
            state.enter(pending, codes)
        seconds = time.perf_counter() - began
        published = (state.cohort >= 0) & np.array([state.shown.get(int(c), False) for c in state.cohort])
        current = published & here
        # A row that is there and not shown loses all its cells.
        cells = int(np.bitwise_count(state.pattern[current]).sum())
        cells += int((here & ~published).sum()) * codes.shape[1]
        fresh = int(np.bitwise_count(patterns_of(codes[here])).sum())
        waits = int((here & (state.cohort < 0)).sum())
        held = int((here & (state.cohort >= 0) & ~published).sum())
        people = int(here.sum())
        rows.append(
            [
                leavers,
                version,
                people,
                int(published.sum()),
                waits / people,
                held,
                int((published & ~here).sum()),
                cells,
                fresh,
                cells / fresh,
                seconds,
            ]
        )
    return rows


_SERVER_COLUMNS = [
    "version",
    "rows",
    "people",
    "rows shown",
    "pending people",
    "share",
    "longest wait",
    "cells",
    "fresh",
    "ratio",
    "refresh s",
    "fresh s",
]


def by_functions(settings: Settings) -> Iterator[Table]:
    """Hospital stays in 24 batches by their number, Adult in 12 random ones; SQL functions, usual rules."""
    for name, columns, entity, order, batches in (
        ("diabetes_hospitals", DIABETES, "patient_nbr", "encounter_id", 24),
        ("adult", QI8, None, "hashint8extended(id, 1)", 12),
    ):
        with bench_server() as connection:
            if not load(connection, name):
                yield missing(name)
                continue
            rows = _published_history(
                connection, name, columns, entity, order, 3 if settings.quick else batches
            )
        title = f"{name}: {len(columns)} columns, {batches} batches by {order}, k = {K}, usual rules"
        yield table(title, _SERVER_COLUMNS, rows)


def _published_history(
    connection: psycopg.Connection[dict[str, Any]],
    name: str,
    columns: Sequence[str],
    entity: str | None,
    order: str,
    batches: int,
) -> list[list[object]]:
    """Let a table grow batch by batch, and publish a version, and a release made afresh, after each."""
    run = connection.execute
    run("drop table if exists growing, ordered cascade")
    run(f"create table growing as select row_number() over ()::integer as id, * from {name} limit 0".encode())
    run("alter table growing add primary key (id)")
    run(
        f"create table ordered as select ntile({batches}) over (order by {order}) as batch, * from"
        f" (select row_number() over ()::integer as id, * from {name}) as numbered".encode()
    )
    run(
        "select kanon_declare('growing', quasi_identifiers => %s::name[], entity => %s)",
        [list(columns), entity],
    )
    names = ", ".join(column.name for column in run("select * from growing").description or ())
    found: list[list[object]] = []
    for version in range(1, batches + 1):
        run(f"insert into growing select {names} from ordered where batch = {version}".encode())
        run("analyze growing")
        began = time.perf_counter()
        if version == 1:
            run(
                "select kanon_anonymize('growing', %s, method => 'greedy', options => '{\"over_time\": {}}')",
                [K],
            )
        else:
            run("select kanon_refresh('growing')")
        seconds = time.perf_counter() - began
        fresh = run(
            "select suppressed_cells, extract(epoch from elapsed)::double precision as s, rows, people"
            " from kanon_anonymize('growing', %s, method => 'greedy', release => 'afresh')",
            [K],
        ).fetchone()
        run("select kanon_drop('afresh')")
        shown = run("select * from kanon.releases where release = 'growing'").fetchone()
        assert fresh is not None
        assert shown is not None
        cells = shown["suppressed_cells"] + (fresh["rows"] - shown["rows"]) * len(columns)
        found.append(
            [
                version,
                fresh["rows"],
                fresh["people"],
                shown["rows"],
                shown["pending_people"],
                shown["pending_people"] / fresh["people"],
                shown["longest_wait"],
                cells,
                fresh["suppressed_cells"],
                cells / fresh["suppressed_cells"],
                seconds,
                fresh["s"],
            ]
        )
    run("select kanon_drop('growing')")
    run("drop table growing, ordered cascade")
    return found


def refreshes(settings: Settings) -> Iterator[Table]:
    """A version over time against publishing anew, in turn: after 1 % new rows, and after 0.1 % leavers."""
    size = 100_000 if settings.quick else 1_000_000
    rows: list[list[object]] = []
    with bench_server() as connection:
        for method in ("auto", "greedy"):
            rows += _refreshed(connection, size, method, 1 if settings.quick else 4)
    title = f"{size:,} rows of 5 columns, k = {K}: seconds of a refresh against publishing anew"
    yield table(title, ["method", "round", "change", "refresh s", "anew s", "ratio", "load"], rows)


def _refreshed(
    connection: psycopg.Connection[dict[str, Any]], size: int, method: str, rounds: int
) -> list[list[object]]:
    run = connection.execute
    run("drop table if exists moving, reserve cascade")
    make(connection, "reserve", round(size * (1 + 0.01 * (rounds + 1))), columns=5)
    run(f"create table moving as select * from reserve limit {size}".encode())
    run("alter table moving add column id bigint generated always as identity primary key")
    columns = list(_REFRESHED)
    run("select kanon_declare('moving', quasi_identifiers => %s::name[])", [columns])
    run(
        "select kanon_anonymize('moving', %s, method => %s, options => %s::jsonb)",
        [K, method, '{"over_time": {"new_series": true}}'],
    )
    named = ", ".join(row["attname"] for row in run(_INHERITED).fetchall())
    changes = {
        "1 % new rows": f"insert into moving ({named}) select {named} from reserve offset {size} + %s limit"
        f" {size // 100}",
        "0.1 % leavers": f"delete from moving where id %% {1000} = %s",
    }
    found: list[list[object]] = []
    for number in range(rounds):
        for change, text in changes.items():
            run(text.encode(), [number * (size // 100) if "new" in change else number + 1])
            run("analyze moving")
            seconds = []
            for call in (
                "select kanon_refresh('moving')",
                f"select kanon_anonymize('moving', {K}, method => '{method}', release => 'afresh')",
            ):
                began = time.perf_counter()
                run(call.encode())
                seconds.append(time.perf_counter() - began)
            run("select kanon_drop('afresh')")
            found.append([method, number + 1, change, *seconds, seconds[0] / seconds[1], os.getloadavg()[0]])
    return found


_REFRESHED = COLUMNS[:5]
_INHERITED = """
select attname from pg_attribute
where attrelid = 'reserve'::regclass and attnum > 0 and not attisdropped order by attnum
"""
