"""Tables on the nodes, and what is to be seen of them there."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import psycopg

from tests.fixtures.citus import CitusNodes


def create_patients(db: psycopg.Connection[Any], distribution: str | None = "id") -> None:
    """Create a table of 2,000 people of a few hundred kinds, and let kanon read it."""
    db.execute("SET client_min_messages TO warning")
    db.execute(
        "CREATE TABLE patients (id bigint, zip text, age integer, sex text, diagnosis text);"
        "INSERT INTO patients SELECT i, 'z' || (hashint4(i) & 7), 20 + abs(hashint4(i + 7)) % 30,"
        " CASE WHEN hashint4(i + 3) % 2 = 0 THEN 'f' ELSE 'm' END, 'd' || abs(hashint4(i + 5)) % 9"
        " FROM generate_series(1, 2000) AS i"
    )
    if distribution is not None:
        db.execute("SELECT create_distributed_table('patients', %s)", [distribution])
    declare_patients(db)


def declare_patients(db: psycopg.Connection[Any]) -> None:
    """Declare the roles of that table's columns."""
    db.execute(
        "SELECT kanon_declare('patients', identifiers => '{id}', quasi_identifiers => '{zip,age,sex}',"
        " sensitive => '{diagnosis}')"
    )


def create_stays(db: psycopg.Connection[Any], distribution: str) -> None:
    """Create a table of stays, several for most people and some of nobody known, distributed by a column."""
    db.execute("SET client_min_messages TO warning")
    db.execute(
        "CREATE TABLE stays (stay bigint, person integer, ward text, age integer, cost numeric(10, 2));"
        "INSERT INTO stays SELECT i, i / 3, 'w' || (hashint4(i) & 3), 20 + abs(hashint4(i / 3)) % 12, i"
        " FROM generate_series(1, 3000) AS i"
    )
    if distribution != "person":
        db.execute("UPDATE stays SET person = NULL WHERE stay % 50 = 0")
    db.execute("SELECT create_distributed_table('stays', %s)", [distribution])
    declare_stays(db)


def declare_stays(db: psycopg.Connection[Any]) -> None:
    """Declare the roles of that table's columns."""
    db.execute(
        "SELECT kanon_declare('stays', identifiers => '{stay}', quasi_identifiers => '{ward,age}',"
        " sensitive => '{cost}', entity => 'person')"
    )


def classes(db: psycopg.Connection[Any], view: str, columns: Sequence[str]) -> list[int]:
    """Return the sizes of the classes of a release in rows."""
    keys = ", ".join([*columns, "kanon_suppressed"])
    return [n for (n,) in db.execute(f"SELECT count(*) FROM {view} GROUP BY {keys}").fetchall()]


def storage_of(db: psycopg.Connection[Any], release: str) -> str:
    """Return where the rows of a release are."""
    found = db.execute("SELECT storage::text FROM kanon.releases WHERE release = %s", [release]).fetchone()
    assert found is not None
    storage: str = found[0]
    return storage


def on_each(nodes: CitusNodes, database: str, query: str) -> list[list[Any]]:
    """Return what a query finds on the coordinator and each worker, seen by a superuser."""
    answers = []
    for server in nodes.all:
        with psycopg.connect(server.dsn(database), autocommit=True) as connection:
            connection.execute("SET citus.override_table_visibility TO off")
            answers.append(connection.execute(query).fetchall())
    return answers


def settle(nodes: CitusNodes, database: str) -> None:
    """Wait until Citus has completed every prepared transaction."""
    deadline = time.monotonic() + 20
    prepared = "SELECT gid FROM pg_prepared_xacts WHERE database = current_database()"
    while any(on_each(nodes, database, prepared)):
        assert time.monotonic() < deadline, "a prepared transaction stays"
        with suppress(psycopg.Error), psycopg.connect(nodes.coordinator.dsn(database)) as db:
            db.execute("SELECT recover_prepared_transactions()")
        time.sleep(0.05)
