"""What PostgreSQL does not let kanon create is refused with what to do."""

import secrets
import shutil
from typing import Any

import psycopg
import pytest

from kanon_pg.db.psycopg_adapter import PsycopgDatabase
from kanon_pg.db.statements import statement
from kanon_pg.errors import KanonError
from tests.fixtures.databases import Server, open_folder
from tests.fixtures.interfaces import Interface

MOST = 1600
"""Columns of a table of PostgreSQL."""


def test_a_table_with_as_many_columns_as_there_can_be(interface: Interface) -> None:
    columns = [f"c{number}" for number in range(MOST)]
    create = f"create table wide ({', '.join(f'{name} integer' for name in columns)})"
    interface.connection.execute(create.encode())
    interface.connection.execute(
        "insert into wide (c0, c1) select i % 2, i % 3 from generate_series(1, 60) as i"
    )
    interface.declare("wide", quasi_identifiers=columns[:2], insensitive=columns[2:])
    with pytest.raises(KanonError, match="columns") as raised:
        interface.anonymize("wide", 5)
    assert "fewer" in (raised.value.hint or "")
    interface.declare("wide", quasi_identifiers=columns[:2], insensitive=columns[2:-4])
    assert interface.anonymize("wide", 5).rows == 60


def test_a_tablespace_of_others(interface: Interface, server: Server) -> None:
    name = f"elsewhere_{secrets.token_hex(4)}"
    execute = interface.connection.execute
    execute("create table few as select i % 2 as age from generate_series(1, 60) as i")
    with open_folder() as folder:
        shutil.chown(folder, server.os_user)
        execute(f"create tablespace {name} location '{folder}'".encode())
        try:
            execute(f"set default_tablespace = {name}".encode())
            with pytest.raises(KanonError, match="tablespace") as raised:
                interface.anonymize("few", 5)
            assert "GRANT CREATE ON TABLESPACE" in (raised.value.hint or "")
            execute(f"grant create on tablespace {name} to kanon_owner".encode())
            assert interface.anonymize("few", 5).rows == 60
            interface.drop("few")
        finally:
            execute("reset default_tablespace")
            execute(f"drop tablespace {name}".encode())


def test_row_assignment_takes_hierarchies_or_says_what_does(interface: Interface) -> None:
    interface.connection.execute(
        "create table few as select i % 4 as age, i % 3 as sex from generate_series(1, 60) as i;"
        "create table many as select i % 40 as age, i % 3 as sex from generate_series(1, 200) as i"
    )
    built = {"age": {"builder": "intervals", "width": 2}}
    assert interface.anonymize("few", 5, hierarchies=built, method="row_assignment").rows == 60
    with pytest.raises(KanonError, match="row_assignment") as raised:
        interface.anonymize("many", 5, hierarchies=built, method="row_assignment")
    assert "exact" in (raised.value.hint or "")


def test_tables_that_are_stored_by_columns_are_known(connection: psycopg.Connection[Any]) -> None:
    # without Citus an access method of the name stands for its own; the refusal itself needs tables of Citus
    execute = connection.execute
    execute("create access method columnar type table handler heap_tableam_handler")
    execute(
        "create table by_rows (a integer); create table by_columns (a integer) using columnar;"
        "create table mixed (a integer) partition by list (a);"
        "create table part partition of mixed for values in (1) using columnar;"
        "create view on_rows as select * from by_rows; create view on_parts as select * from mixed"
    )
    db = PsycopgDatabase(connection)
    for name, expected in {
        "by_rows": False,
        "on_rows": False,
        "by_columns": True,
        "mixed": True,
        "on_parts": True,
    }.items():
        (oid,) = execute("select %s::regclass::oid::bigint", [name]).fetchone() or (0,)
        assert db.row(statement("distributed/is_columnar"), oid)["is_columnar"] is expected
