"""Row types as they leave the database: identities and numbers of cells that solvers can rely on."""

import math
import struct
from collections.abc import Sequence

import psycopg
import pytest

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.db.catalog import describe
from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.db.readers import reading
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
    with reading(db, relation):
        return count_row_types(db, relation.identifier, columns, None, memory_bytes=1 << 20).row_types


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


NUMBERS = ["NaN", "Infinity", "-Infinity", "0", "1", "-1", "1e30", "-1e30", None]
MOMENTS = ["infinity", "-infinity", "0001-01-01 BC", "2000-01-01", "5000-01-01", None]


@pytest.mark.parametrize(
    ("kind", "cells"),
    {
        "smallint": ["-32768", "32767", "0", None],
        "integer": ["-2147483648", "2147483647", "0", None],
        "bigint": [
            "9007199254740993",
            "9007199254740992",
            "9223372036854775807",
            "9223372036854775806",
            None,
        ],
        "numeric": [*NUMBERS, "1e400", "1e401", "-1e400", "1e-400", "2e-400", "1.00000000000000000001"],
        "numeric(30, 20)": ["NaN", "1.00000000000000000001", "1", "-1", None],
        "real": [*NUMBERS, "1e-45", "-0"],
        "double precision": [*NUMBERS, "1e308", "1e301", "-1e308", "-1e301", "5e-324", "-0"],
        "date": [*MOMENTS, "5874897-12-31"],
        "timestamp": [*MOMENTS, "294276-12-31 23:59:59.999999", "294276-12-31 23:59:59.999998"],
        "timestamptz": [*MOMENTS, "294276-12-31 23:59:59.999999 Z", "294276-12-31 23:59:59.999998 Z"],
    }.items(),
)
def test_sensitive_values_have_the_order_of_the_server(
    connection: psycopg.Connection, kind: str, cells: list[str | None]
) -> None:
    """Equal places for equal values, and for no others."""
    connection.execute(f"create table t (x {kind}, y {kind})".encode())
    insert = f"insert into t select x::{kind}, x::{kind} from unnest(%s::text[]) as u(x)"
    connection.execute(insert.encode(), [cells])
    db = PsycopgDatabase(connection)
    relation = describe(db, "t")
    quasi, sensitive = ((column,) for column in canonical_columns(relation.columns, {}))
    with reading(db, relation):
        found = count_row_types(
            db, relation.identifier, quasi, None, sensitive=sensitive, memory_bytes=1 << 20
        ).row_types
    (numbers,) = found.sensitive_values
    assert numbers is not None
    places = [None if math.isnan(one) else int(one) for (one,) in struct.iter_unpack(">d", numbers)]
    of_cell = dict(zip((one for (one,) in struct.iter_unpack(">q", found.cells[0])), places, strict=True))
    assert sorted(filter(None, places)) == list(range(1, len(places) + 1 - places.count(None)))
    assert len(of_cell) == len(places)
    column = sensitive[0]
    one = f"select distinct {column.expression} as {column.alias} from t"
    order = f"select {column.identity('t')} from ({one}) as t order by {column.alias}"
    by_server = [of_cell[one] for (one,) in connection.execute(order.encode())]
    assert by_server == sorted(by_server, key=lambda place: place or math.inf)


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
    with reading(db, relation):
        now = fingerprint(db, relation.identifier, columns, None)
    connection.execute("delete from t")
    connection.execute("insert into t values (%b), (%b)", [written, written])
    with reading(db, relation):
        assert now == fingerprint(db, relation.identifier, columns, None)
