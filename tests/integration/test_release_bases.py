"""What may be the base of a release: every relation that has rows of its own or of others."""

from __future__ import annotations

import pytest
from psycopg.conninfo import conninfo_to_dict

from kanon_pg.errors import DatabaseError, NotPermitted, UnsuitableRelation
from tests.fixtures.doors import Door
from tests.fixtures.releases import people_by_class, published

_ROWS = "select i as id, i % 4 as a, 'x' || i % 3 as b from generate_series(1, 40) as i"

BASES = {
    "view": f"create view base as {_ROWS}",
    "view over a view": f"create view below as {_ROWS}; create view base as select * from below where id > 0",
    "materialized view": f"create materialized view base as {_ROWS}",
    "partitioned table": "create table base (id integer, a integer, b text) partition by list (a);"
    " create table base_0 partition of base for values in (0, 1);"
    " create table base_1 (b text, gone integer, a integer, id integer);"
    " alter table base_1 drop column gone; alter table base attach partition base_1 default;"
    f" insert into base {_ROWS}",
    "inherited table": "create table base (id integer, a integer, b text);"
    f" create table child (more text) inherits (base); insert into base {_ROWS} offset 20;"
    f" insert into child (id, a, b) {_ROWS} limit 20",
    "unlogged table": f"create unlogged table base as {_ROWS}",
    "table with dropped columns": "create table base (gone text, id integer, lost date, a integer, b text);"
    f" alter table base drop column gone; alter table base drop column lost; insert into base {_ROWS}",
    "table with generated columns": "create table base (id integer, a integer generated always as (id % 4)"
    " stored, b text); insert into base (id, b) select i, 'x' || i % 3 from generate_series(1, 40) as i",
}


@pytest.mark.parametrize("definition", BASES.values(), ids=BASES)
def test_a_release_of_a(door: Door, definition: str) -> None:
    door.connection.execute(definition.encode())
    check_release(door)


@pytest.fixture
def loopback(door: Door) -> None:
    """Make a server for foreign tables that is this database, without any user mapping."""
    connection = door.connection
    here = conninfo_to_dict(door.dsn)
    connection.execute(f"create schema remote; create table remote.base as {_ROWS}".encode())
    connection.execute("create extension postgres_fdw")
    connection.execute(
        f"create server itself foreign data wrapper postgres_fdw options"
        f" (host '{here['host']}', port '{here['port']}', dbname '{here['dbname']}')".encode()
    )


def test_a_release_of_a_foreign_table(door: Door, loopback: None) -> None:
    door.connection.execute(
        "create user mapping for public server itself options (user 'postgres', password_required 'false')"
    )
    door.connection.execute("import foreign schema remote limit to (base) from server itself into public")
    check_release(door)


def test_a_foreign_table_needs_a_user_mapping_with_a_password(door: Door, loopback: None) -> None:
    connection = door.connection
    connection.execute("create table base (id integer, a integer, b text) partition by list (a)")
    connection.execute(
        "create foreign table base_all partition of base default server itself"
        " options (schema_name 'remote', table_name 'base')"
    )
    with pytest.raises(NotPermitted, match="has no user mapping for its server") as without:
        door.declare("base", quasi_identifiers=["a", "b"])
    assert 'CREATE USER MAPPING FOR kanon_owner SERVER "itself" OPTIONS' in (without.value.hint or "")
    connection.execute("create user mapping for kanon_owner server itself options (user 'postgres')")
    with pytest.raises(DatabaseError, match="reached without a password") as open_to_all:
        door.anonymize("base", 5, quasi_identifiers=["a", "b"])
    assert "password_required 'false'" in (open_to_all.value.hint or "")
    connection.execute(
        "alter user mapping for kanon_owner server itself options (add password_required 'false')"
    )
    assert door.anonymize("base", 5, quasi_identifiers=["a", "b"]).rows == 40


def check_release(door: Door) -> None:
    door.declare("base", quasi_identifiers=["a", "b"], sensitive=["id"])
    report = door.anonymize("base", 5)
    rows = published(door.connection, "base", ["a", "b"], "id")
    assert sorted(row.carried for row in rows) == list(range(1, 41))
    assert min(people_by_class(rows).values()) == report.smallest_class >= 5
    door.refresh("base")
    assert len(published(door.connection, "base", ["a", "b"], "id")) == 40


def columns_of_release(door: Door) -> list[str]:
    rows = door.connection.execute(
        "select attname from pg_attribute where attrelid = 'safe.base'::regclass and attnum > 0"
        " order by attnum"
    ).fetchall()
    return [name for (name,) in rows]


def test_without_a_declaration_all_but_keys_are_quasi_identifiers(door: Door) -> None:
    door.connection.execute(f"create table base as {_ROWS}".encode())
    door.connection.execute("alter table base add primary key (id), add code text unique")
    door.connection.execute(
        "create unique index on base (b, id); create unique index on base (a) where id < 2"
    )
    door.anonymize("base", 2, sensitive=["b"])
    assert columns_of_release(door) == ["a", "b", "kanon_suppressed"]


def test_a_column_that_nobody_declared_is_withheld(door: Door) -> None:
    door.connection.execute(f"create table base as {_ROWS}".encode())
    door.declare("base", quasi_identifiers=["a"], identifiers=["id"])
    door.anonymize("base", 2)
    assert columns_of_release(door) == ["a", "kanon_suppressed"]


def test_a_release_with_other_columns_replaces_the_one_before_and_keeps_its_rights(door: Door) -> None:
    door.connection.execute(f"create table base as {_ROWS}".encode())
    door.anonymize("base", 2, quasi_identifiers=["a", "b"])
    door.connection.execute("grant select on safe.base to pg_monitor")
    door.anonymize("base", 2, quasi_identifiers=["b"])
    door.connection.execute("alter table base alter a type bigint")
    door.anonymize("base", 2, quasi_identifiers=["a"])
    rights = door.connection.execute(
        "select has_table_privilege('pg_monitor', 'safe.base', 'select'),"
        " has_table_privilege('kanon_analyst', 'safe.base', 'select')"
    ).fetchone()
    assert rights == (True, True)
    leftovers = door.connection.execute(
        "select count(*) from pg_class where relnamespace = 'kanon'::regnamespace and relname ~ '^base_'"
        " and relkind in ('r', 'm')"
    ).fetchone()
    assert leftovers == (2,), "one storage and one mapping"


def test_what_depends_on_a_release_keeps_its_columns(door: Door) -> None:
    door.connection.execute(f"create table base as {_ROWS}".encode())
    door.anonymize("base", 2, quasi_identifiers=["a", "b"])
    door.connection.execute("create view report as select a from safe.base")
    door.anonymize("base", 3, quasi_identifiers=["a", "b"])
    assert door.connection.execute("select count(*) from report").fetchone() == (40,)


@pytest.mark.parametrize("force", ["", "; alter table base force row level security"])
def test_a_refresh_is_refused_once_row_security_would_hide_rows(door: Door, force: str) -> None:
    door.connection.execute(f"create table base as {_ROWS}".encode())
    door.declare("base", quasi_identifiers=["a", "b"], sensitive=["id"])
    door.anonymize("base", 5)
    before = published(door.connection, "base", ["a", "b"], "id")
    door.connection.execute(f"alter table base enable row level security{force}".encode())
    with pytest.raises(UnsuitableRelation, match="row-level security"):
        door.refresh("base")
    assert published(door.connection, "base", ["a", "b"], "id") == before
    door.connection.execute("alter table base disable row level security")
    door.refresh("base")
