"""Shared data files as packed row types, for measuring solvers without a server."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier


def packed_file(file: Path, columns: Sequence[str]) -> PackedRowTypes:
    """Read columns of a CSV file and group them into row types; integers are numeric columns."""
    return packed_table(counted_file(file, columns), columns)


def counted_file(file: Path, columns: Sequence[str]) -> pa.Table:
    """Read columns of a CSV file; return their distinct rows and how often each occurs."""
    read = pa.csv.read_csv(file, convert_options=pa.csv.ConvertOptions(include_columns=list(columns)))
    return read.group_by(list(columns)).aggregate([([], "count_all")])


def packed_table(counted: pa.Table, columns: Sequence[str]) -> PackedRowTypes:
    """Return what `counted_file` read as row types, in the same order."""
    count = counted.num_rows
    cells, values, described = [], [], []
    for name in columns:
        column = counted[name].combine_chunks()
        numeric = pa.types.is_integer(column.type)
        codes = np.asarray(column) if numeric else np.asarray(column.dictionary_encode().indices)
        rng = np.random.default_rng(len(described))
        spread = rng.integers(-(2**63), 2**63 - 1, int(codes.max()) + 1, dtype=np.int64)
        cells.append(spread[codes].astype(">i8").tobytes())
        values.append(codes.astype(">f8").tobytes() if numeric else None)
        described.append(QuasiIdentifier(name, "numeric" if numeric else "categorical"))
    rows = np.asarray(counted["count_all"]).astype(">i8").tobytes()
    keys = np.arange(count, dtype=">i8").tobytes()
    return PackedRowTypes(tuple(described), keys, rows, rows, tuple(cells), tuple(values))
