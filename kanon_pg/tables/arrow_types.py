"""Which Arrow type keeps what a PostgreSQL column holds."""

from __future__ import annotations

import re

import pyarrow as pa

from kanon_pg.db.catalog import ColumnFacts, RelationFacts
from kanon_pg.db.identifiers import Fragment
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import render, statement
from kanon_pg.tables.parquet_file import NAMES, ParquetColumn

_ARROW: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "_name": NAMES,
}
_FIXED_NUMERIC = re.compile(r"numeric\((\d+),(\d+)\)")
_MOST_DIGITS = 38
"""Of the widest decimal that Arrow reads from CSV."""


def parquet_columns(db: Database, relation: RelationFacts) -> tuple[ParquetColumn, ...]:
    """Choose the Parquet type of every column of a relation.

    What Arrow has no match for becomes a string, spelled as PostgreSQL spells it. The digits of a
    ``numeric`` without declared digits are counted in its values.

    Parameters
    ----------
    db : Database
        An open database; the relation must not change until it is read.
    relation : RelationFacts
        The relation.
    """
    return tuple(ParquetColumn(c.name, _arrow_type(db, relation, c)) for c in relation.columns)


def csv_expression(column: ColumnFacts) -> Fragment:
    """Return the select expression whose CSV spelling `write_parquet` reads."""
    if column.base_type == "_name":
        return render("export_names", column=column.identifier)
    return Fragment(str(column.identifier))


def _arrow_type(db: Database, relation: RelationFacts, column: ColumnFacts) -> pa.DataType:
    if column.base_type != "numeric":
        return _ARROW.get(column.base_type, pa.string())
    fixed = _FIXED_NUMERIC.fullmatch(column.type)
    if fixed is not None:
        precision, scale = int(fixed[1]), int(fixed[2])
    else:
        digits = db.row(
            statement("export_numeric_digits", column=column.identifier, relation=relation.identifier)
        )
        precision, scale = digits["whole"] + digits["fraction"], digits["fraction"]
    return pa.decimal128(precision, scale) if precision <= _MOST_DIGITS else pa.string()
