"""Audits: all minimal violating sets of real and large tables, smallest identifying sets."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray
from rich.table import Table

from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.worker.audit.auditor import figures_of
from kanon_pg.worker.audit.identifying import smallest_identifying_set
from kanon_pg.worker.audit.violating import find_violating_sets
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.row_types import RowTypeTable
from tests.benchmarks.settings import DATA, Settings, median_seconds, missing, table

Columns = Mapping[str, NDArray[np.int64]]

_FILES = ("adult", "diabetes_hospitals", "census_income_kdd")
_LIMIT = 60.0


def _columns(file: Path) -> tuple[Columns, NDArray[np.int64]]:
    """Return the distinct rows of a CSV file, each column numbered, and their multiplicities."""
    names = pa.csv.open_csv(file).schema.names
    text = pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    counted = pa.csv.read_csv(file, convert_options=text).group_by(names).aggregate([([], "count_all")])
    codes = {
        name: np.asarray(counted[name].combine_chunks().dictionary_encode().indices, dtype=np.int64)
        for name in names
    }
    return codes, np.asarray(counted["count_all"], dtype=np.int64)


def _packed(columns: Columns, rows: NDArray[np.int64]) -> PackedRowTypes:
    def packed(numbers: NDArray[np.int64]) -> bytes:
        return numbers.astype(">i8").tobytes()

    return PackedRowTypes(
        tuple(QuasiIdentifier(name) for name in columns),
        packed(np.arange(rows.size)),
        packed(rows),
        packed(rows),
        tuple(packed(codes) for codes in columns.values()),
        (None,) * len(columns),
    )


def _read(packed: PackedRowTypes) -> RowTypeTable:
    read = RowTypeTable.from_packed(packed)
    read.cardinalities  # noqa: B018 - numbers the values, which every search shares
    return read


def _violating_row(read: RowTypeTable, k: int, most: int | None, repeats: int) -> list[Any]:
    """Measure one search and the figures of what it found."""
    seconds, found = median_seconds(
        lambda: find_violating_sets(read, k, Clock(_LIMIT), max_columns=most), repeats
    )
    figures, _ = median_seconds(lambda: list(figures_of(read, found.sets, k)), 1)
    sizes = Counter(map(len, found.sets))
    return [
        *(k, most or "all", len(found.sets), " ".join(f"{size}:{sizes[size]}" for size in sorted(sizes))),
        *(found.minimum, found.complete_columns, str(found.is_complete), seconds, figures),
    ]


_HEADER = [
    *("k", "columns", "sets", "size: sets", "minimum", "complete to", "complete", "search s", "figures s")
]


def violating(settings: Settings) -> Iterator[Table]:
    """All minimal violating sets: up to 4 columns and of any size, at most 60 s each."""
    for name in _FILES:
        file = DATA / f"{name}.csv.gz"
        if not file.exists():
            yield missing(name)
            continue
        reading, read = median_seconds(lambda f=file: _read(_packed(*_columns(f))), 1)
        find_violating_sets(read, 2, max_columns=2)  # warms up
        rows = [
            _violating_row(read, k, most, settings.repeats)
            for k in (2, 5, 10)
            for most in ((None,) if name == "adult" else (4, None))
        ]
        yield table(
            f"{name}: {read.width} columns, {read.total_rows:,} rows (read in {reading:.1f} s)", _HEADER, rows
        )


def identifying(settings: Settings) -> Iterator[Table]:
    """A smallest set of columns that identifies the distinct rows of real tables, and the proof."""
    rows = []
    for name in _FILES:
        file = DATA / f"{name}.csv.gz"
        if not file.exists():
            yield missing(name)
            continue
        packed = _packed(*_columns(file))
        reading, read = median_seconds(lambda p=packed: _read(p), settings.repeats)
        seconds, smallest = median_seconds(lambda r=read: smallest_identifying_set(r), 1)
        rows.append([name, reading, len(smallest.columns), smallest.lower_bound, seconds])
    yield table("Smallest identifying sets", ["table", "read s", "smallest", "bound", "search s"], rows)


def large(settings: Settings) -> Iterator[Table]:
    """A million synthetic rows with 30 columns; ten million with 8."""
    for size, width in ((100_000, 30),) if settings.quick else ((1_000_000, 30), (10_000_000, 8)):
        columns = dict(list(_synthetic(size).items())[-width:])
        read = _read(_packed(columns, np.ones(size, dtype=np.int64)))
        rows = [_violating_row(read, k, most, 1) for k in (2, 5) for most in (3, 4)]
        yield table(f"Synthetic: {width} columns, {size:,} rows", _HEADER, rows)


def _synthetic(size: int) -> dict[str, NDArray[np.int64]]:
    """Return skewed, partly determined columns, those of many values first."""
    generator = np.random.default_rng(1)
    place = generator.zipf(1.3, size) % 4000
    education = np.minimum(generator.geometric(0.25, size), 16)
    columns = {
        "zip": place,
        "day": generator.integers(0, 366, size),
        "county": place // 7,
        "occupation": np.minimum(generator.geometric(0.1, size), 30),
    }
    columns |= {
        f"flag_{number}": (generator.random(size) < 0.02 * number).astype(np.int64) for number in range(1, 15)
    }
    columns |= {
        f"score_{number}": np.minimum(generator.geometric(0.5, size), 5).astype(np.int64)
        for number in range(1, 5)
    }
    return columns | {
        "constant": np.zeros(size, dtype=np.int64),
        "weekend": columns["day"] % 7 // 5,
        "education": education,
        "school": education // 3,
        "age": np.clip(generator.normal(45, 20, size), 0, 100).astype(np.int64),
        "sex": generator.integers(0, 2, size),
        "state": place // 200,
        "region": place // 1000,
    }
