"""Row types as they leave the database: identities and numbers of cells that solvers can rely on."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import psycopg
import pytest

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.db.catalog import describe
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.relations.canonical import canonical_columns
from kanon_pg.relations.counting import count_row_types, fingerprint


def row_types(connection: psycopg.Connection, kind: str, cells: Sequence[str | None]) -> PackedRowTypes:
    connection.execute(f"create table t (x {kind})".encode())
    connection.execute(
        f"insert into t select x::{kind} from unnest(%s::text[]) as u(x)".encode(), [list(cells)]
    )
    db = PsycopgDatabase(connection)
    relation = describe(db, "t")
    columns = canonical_columns(relation.columns, {})
    counted = count_row_types(db, relation.identifier, columns, None, memory_bytes=1 << 20)
    return counted.row_types


@pytest.mark.parametrize(
    ("kind", "cells"),
    {
        "bigint": ("0", "-1", "4294967295", "4294967297", "8589934594", None),
        "integer": ("0", "-1", "1", None),
        "numeric": ("0", "1", "-1", "10000", "NaN", "Infinity", "-Infinity", None),
        "numeric(6,2)": ("0", "1", "-1", "NaN", None),
        "double precision": ("0", "1", "-1", "NaN", "Infinity", "-Infinity", None),
        "real": ("0", "1", "-1", "NaN", "Infinity", "-Infinity", None),
        "timestamp": ("2000-01-01", "2000-01-01 01:11:34.967297", "infinity", "-infinity", None),
        "timestamptz": ("2000-01-01 Z", "2000-01-01 01:11:34.967297 Z", "infinity", None),
        "time": ("00:00", "01:11:34.967297", "24:00", None),
        "date": ("2000-01-01", "infinity", "-infinity", "0001-01-01 BC", None),
        "boolean": ("t", "f", None),
        "text": ("", "a", None),
    }.items(),
)
def test_different_values_have_different_identities(
    connection: psycopg.Connection, kind: str, cells: Sequence[str | None]
) -> None:
    found = row_types(connection, kind, cells)
    assert len(set(struct.unpack(f">{len(cells)}q", found.keys))) == len(cells)
    assert len(set(struct.unpack(f">{len(cells)}q", found.cells[0]))) == len(cells)


@pytest.mark.parametrize("kind", ["integer", "numeric", "double precision", "date", "timestamptz"])
def test_null_is_no_number(connection: psycopg.Connection, kind: str) -> None:
    found = row_types(connection, kind, [None])
    assert found.values[0] is not None
    (value,) = struct.unpack(">d", found.values[0])
    assert math.isnan(value)


def test_numbers_beyond_double_precision_stay_finite(connection: psycopg.Connection) -> None:
    found = row_types(connection, "numeric", ["1e1000", "-1e1000", "Infinity", "NaN", "1e-1000"])
    assert found.values[0] is not None
    assert all(math.isfinite(value) for value in struct.unpack(">5d", found.values[0]))


def test_every_kind_of_nan_is_one_value(connection: psycopg.Connection) -> None:
    """An NaN that a processor computed has other bits than one that was written."""
    written, computed = (
        struct.unpack(">d", bytes.fromhex(bits))[0] for bits in ("7ff8000000000000", "fff8000000000000")
    )
    connection.execute("create table t (x double precision)")
    connection.execute("insert into t values (%b), (%b)", [written, computed])
    assert connection.execute("select count(distinct float8send(x)) from t").fetchone() == (2,)
    db = PsycopgDatabase(connection)
    relation = describe(db, "t")
    columns = canonical_columns(relation.columns, {})
    now = fingerprint(db, relation.identifier, columns, None)
    connection.execute("delete from t")
    connection.execute("insert into t values (%b), (%b)", [written, written])
    assert now == fingerprint(db, relation.identifier, columns, None)
