"""Whatever the table: its release has all of its rows, and every class of it has k people."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql

from kanon_pg.errors import InfeasibleError
from tests.fixtures.examples import examples
from tests.fixtures.interfaces import Interface
from tests.fixtures.releases import people_by_class, published, suppressed_cells_with_values

_PREPARE = """
create extension citext;
create collation any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create type mood as enum ('sad', 'ok', 'happy');
create type pair as (a numeric, b citext);
create domain positive as integer check (value > 0);
create domain label as citext;
create domain exact as numeric(6, 2);
create domain shouted as text collate any_case;
"""

SPELLINGS = {
    "integer": ["1", "2", "-1"],
    "bigint": ["9223372036854775807", "-9223372036854775808", "0", "4294967297"],
    "boolean": ["t", "f"],
    "text": ["a", "A", "", "b"],
    "text collate any_case": ["bob", "BOB", "Bob", "eve"],
    "varchar(3)": ["a", "a ", "b"],
    "citext": ["bob", "BOB", "Bob", "eve"],
    "char(3)": ["a", "a ", "b"],
    "bpchar": ["a", "a  ", "b"],
    '"char"': ["a", "b"],
    "name": ["a", "b"],
    "numeric": ["1.0", "1.00", "1", "-1", "NaN", "Infinity", "-Infinity", "1e-300", "1e400"],
    "numeric(6,2)": ["1.0", "1.001", "-1", "NaN"],
    "double precision": ["-0", "0", "NaN", "Infinity", "-Infinity", "1e-300"],
    "real": ["-0", "0", "NaN", "0.1", "Infinity"],
    "date": ["0044-03-15 BC", "infinity", "-infinity", "2020-02-29"],
    "timestamp": [
        "2000-01-01",
        "2000-01-01 01:11:34.967297",
        "0044-03-15 BC",
        "infinity",
        "-infinity",
        "2020-02-29 12:00",
    ],
    "timestamptz": ["2020-01-01 00:00+00", "2020-01-01 01:00+01", "infinity", "0044-03-15 BC"],
    "time": ["00:00", "01:11:34.967297", "24:00"],
    "timetz": ["00:00+00", "01:00+01", "00:00+01"],
    "interval": ["1 day", "24 hours", "1 mon", "30 days", "-1 day +24:00"],
    "jsonb": ['{"a": 1.0}', '{"a": 1}', "null", "[]"],
    "bytea": ["\\x00", "\\x", "\\xff"],
    "uuid": ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"],
    "money": ["1", "1.00", "-2.5"],
    "inet": ["10.0.0.1", "10.0.0.1/32", "10.0.0.1/8"],
    "macaddr": ["08:00:2b:01:02:03", "08002b010203"],
    "bit varying": ["1", "10", "010"],
    "numrange": ["[1.0,2)", "[1,2)", "[1.00,2.00)", "empty", "(,)"],
    "int4range": ["[1,3]", "[1,4)", "empty"],
    "nummultirange": ["{[1.0,2)}", "{[1,2)}", "{}"],
    "double precision[]": ["{-0}", "{0}", "{NaN}", "{}", "{NULL}"],
    "text[]": ["{a}", "{A}", "{}", "{NULL}"],
    "tsvector": ["a b", "b a", "a"],
    "pg_lsn": ["0/1", "00/1"],
    "mood": ["sad", "ok", "happy"],
    "pair": ["(1.0,x)", "(1,X)", "(,)"],
    "positive": ["1", "2"],
    "label": ["bob", "BOB", "eve"],
    "exact": ["1.0", "1.00", "2"],
    "shouted": ["bob", "BOB", "eve"],
}
"""Types with values of which some are equal but look different."""

ENTITY_TYPES = ("integer", "citext", "numeric", "text collate any_case", "double precision")


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    cells: tuple[str | None, ...]


@dataclass(frozen=True)
class Table:
    k: int
    columns: tuple[Column, ...]
    entity: Column | None
    weights: dict[str, float] | None

    @property
    def quasi(self) -> list[str]:
        return [column.name for column in self.columns]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    size = draw(st.integers(1, 24))

    def column(name: str, kinds: Any) -> Column:
        kind = draw(kinds)
        cell = st.one_of(st.none(), *[st.sampled_from(SPELLINGS[kind])] * 3)
        return Column(name, kind, tuple(draw(st.lists(cell, min_size=size, max_size=size))))

    kinds = st.sampled_from(list(SPELLINGS))
    columns = tuple(column(f"c{number}", kinds) for number in range(draw(st.integers(1, 3))))
    entity = column("who", st.sampled_from(ENTITY_TYPES)) if draw(st.booleans()) else None
    weight = st.sampled_from([0.5, 1, 3, 1e-6])
    weights = draw(st.none() | st.dictionaries(st.sampled_from([c.name for c in columns]), weight))
    return Table(draw(st.integers(2, 4)), columns, entity, weights)


@pytest.fixture(scope="module")
def typed_interface(lasting_interface: Interface) -> Interface:
    lasting_interface.connection.execute(_PREPARE)
    return lasting_interface


@contextmanager
def stored(interface: Interface, table: Table) -> Iterator[None]:
    columns = [*table.columns, *([table.entity] if table.entity else [])]
    definition = ", ".join(f"{column.name} {column.type}" for column in columns)
    values = ", ".join(f"{column.name}::{column.type.split(' collate')[0]}" for column in columns)
    arrays = ", ".join("%s::text[]" for _ in columns)
    names = ", ".join(column.name for column in columns)
    interface.connection.execute(f"create table t ({definition}, row_id integer)".encode())
    try:
        interface.connection.execute(
            f"insert into t select {values}, row_id "
            f"from unnest({arrays}) with ordinality as u({names}, row_id)".encode(),
            [list(column.cells) for column in columns],
        )
        interface.declare(
            "t",
            quasi_identifiers=table.quasi,
            sensitive=["row_id"],
            entity=table.entity and table.entity.name,
            weights=table.weights,
        )
        yield
    finally:
        interface.connection.execute("drop table t cascade")
        interface.connection.execute("delete from kanon.release; delete from kanon.declaration")
        for (name,) in interface.connection.execute(
            "select relname from pg_class"
            " where relnamespace = 'kanon'::regnamespace and relname ~ '_(mapping|parts)$'"
        ).fetchall():
            interface.connection.execute(sql.SQL("drop table kanon.{}").format(sql.Identifier(name)))


def persons(interface: Interface, table: Table) -> dict[Any, Any]:
    """Number the people as the type's own equality tells them apart."""
    who = "row_id" if table.entity is None else table.entity.name
    query = f"select row_id, case when {who} is not null then dense_rank() over (order by {who}) end from t"
    return dict(interface.connection.execute(query.encode()).fetchall())


@given(table=tables())
@settings(max_examples=examples(12), suppress_health_check=list(HealthCheck))
def test_a_release_hides_everybody_among_k_people_and_changes_nothing_else(
    typed_interface: Interface, table: Table
) -> None:
    with stored(typed_interface, table):
        person_of = persons(typed_interface, table)
        people = set(person_of.values()) - {None}
        if len(people) < table.k:
            with pytest.raises(InfeasibleError, match="fewer than k"):
                typed_interface.anonymize("t", table.k)
            return
        report = typed_interface.anonymize("t", table.k)
        rows = published(typed_interface.connection, "t", table.quasi, "row_id")
        classes = people_by_class(rows, person_of)
        stars = Counter(name for row in rows for name in row.suppressed)
        weights = {name: (table.weights or {}).get(name, 1.0) for name in table.quasi}
        cost = sum(stars[name] * weights[name] for name in table.quasi)

        assert min(classes.values()) >= table.k
        assert Counter(row.carried for row in rows) == Counter(list(person_of)), "every row once"
        assert set(stars) <= set(table.quasi)
        assert suppressed_cells_with_values(rows, table.quasi) == 0
        assert changed_cells(typed_interface, table) == []
        assert retyped_columns(typed_interface) == []

        assert (report.k, report.rows, report.people) == (table.k, len(rows), len(people))
        assert report.row_types == count_row_types(typed_interface, table)
        assert report.classes == len(classes)
        assert report.smallest_class == min(classes.values())
        assert report.largest_class == max(classes.values())
        assert report.average_class == pytest.approx(sum(classes.values()) / len(classes))
        assert report.suppressed_cells == stars.total()
        assert report.suppressed_share == pytest.approx(stars.total() / len(rows) / len(table.quasi))
        assert report.weighted_cost == pytest.approx(cost)
        assert report.lower_bound is not None
        assert report.lower_bound <= cost * (1 + 1e-9)
        assert report.gap == pytest.approx((cost - report.lower_bound) / cost if cost else 0, abs=1e-9)
        assert report.usefulness is not None
        assert 0 <= report.usefulness <= len(table.quasi) + 1e-9


def changed_cells(interface: Interface, table: Table) -> list[Any]:
    """Return the rows with a cell that is neither suppressed nor, as SQL compares, the base table's."""
    differs = " or ".join(
        f"('{name}' <> all (v.kanon_suppressed) and v.{name} is distinct from t.{name})"
        for name in table.quasi
    )
    return interface.connection.execute(
        f"select t.row_id from t join safe.t as v using (row_id) where {differs}".encode()
    ).fetchall()


def retyped_columns(interface: Interface) -> list[Any]:
    """Return the columns with another type in the release than in the base table.

    A domain may forbid NULL, which suppressed cells are: its base type takes its place.
    """
    return interface.connection.execute(
        "select v.attname from pg_attribute as v join pg_attribute as t using (attname)"
        " join pg_type as y on y.oid = t.atttypid"
        " where v.attrelid = 'safe.t'::regclass and t.attrelid = 't'::regclass and v.attnum > 0 and"
        " (v.atttypid, v.atttypmod)"
        " is distinct from (case when typtype = 'd' then y.typbasetype else y.oid end, t.atttypmod)"
    ).fetchall()


def count_row_types(interface: Interface, table: Table) -> int:
    groups = ", ".join(table.quasi)
    row = interface.connection.execute(
        f"select count(*) from (select 1 from t group by {groups}) as g".encode()
    ).fetchone()
    assert row is not None
    count: int = row[0]
    return count
