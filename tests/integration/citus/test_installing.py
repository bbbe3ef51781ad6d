"""Installing and removing on coordinators: what each node gets, who else may have it, what stays."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from kanon_pg.admin.install.extension import write_extension
from kanon_pg.admin.install.installer import install
from kanon_pg.admin.install.uninstaller import uninstall
from kanon_pg.db.readers import READERS, reader_role
from kanon_pg.errors import InstallError
from tests.fixtures.citus import CitusNodes, citus_nodes
from tests.fixtures.databases import Server
from tests.integration.citus.tables import classes, create_patients, create_stays, on_each, storage_of

QUASI = ("zip", "age", "sex")
K = 12

OURS = "rolname ~ '^kanon_(owner|reader|curator|analyst|base_[0-9]+)$'"

READING = sorted(["kanon_owner", *(reader_role(number) for number in range(1, READERS + 1))])
"""The roles that log in on nodes."""

LEFT = (
    "SELECT nspname::text FROM pg_namespace WHERE nspname ~ '^(kanon|safe)'"
    " UNION ALL SELECT relname FROM pg_class WHERE relname ~ 'kanon'"
    " UNION ALL SELECT proname FROM pg_proc WHERE proname ~ 'kanon'"
    " UNION ALL SELECT extname FROM pg_extension WHERE extname ~ 'kanon'"
    " UNION ALL SELECT pg_describe_object(s.classid, s.objid, s.objsubid) FROM pg_shdepend AS s"
    " JOIN pg_database AS d ON d.oid = s.dbid AND d.datname = current_database()"
    f" JOIN pg_roles AS r ON r.oid = s.refobjid WHERE {OURS}"
)
"""Finds what is left of kanon in a database, but for roles."""

ROLES = f"SELECT rolname FROM pg_roles WHERE {OURS}"


@pytest.fixture(scope="module")
def bare_nodes() -> Iterator[CitusNodes]:
    """Yield a coordinator with a worker on which nothing of kanon is."""
    with citus_nodes(1, "bare") as started:
        yield started


@contextmanager
def _superuser(server: Server, database: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect so that what is done is done on this node alone."""
    with psycopg.connect(server.dsn(database), autocommit=True) as connection:
        connection.execute("SET citus.enable_ddl_propagation TO off")
        connection.execute("SET client_min_messages TO warning")
        yield connection


def test_the_extension_is_created_on_a_coordinator_and_leaves_nothing(bare_nodes: CitusNodes) -> None:
    write_extension(bare_nodes.folders)
    with bare_nodes.database("extended") as name:
        dsn = bare_nodes.coordinator.dsn(name)
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute("SET client_min_messages TO error")
            with pytest.raises(psycopg.Error, match="belongs on the coordinator alone") as error:
                db.execute("CREATE EXTENSION kanon_pg CASCADE")
            hint = error.value.diag.message_hint
            assert hint is not None
            db.execute(hint)
            db.execute("SET citus.enable_ddl_propagation TO on")
            create_patients(db)
            db.execute(f"SELECT kanon_anonymize('patients', {K})")
            assert storage_of(db, "patients").startswith("kanon_shards.")
            assert min(classes(db, "safe.patients", QUASI)) >= K
            assert db.execute("SELECT item FROM kanon_install_check() WHERE NOT ok").fetchall() == []
            db.execute("SELECT kanon_refresh('patients')")
        extensions = "SELECT extname FROM pg_extension WHERE extname ~ 'kanon|plpython'"
        assert on_each(bare_nodes, name, extensions)[1:] == [[]]
        uninstall(dsn)
        assert on_each(bare_nodes, name, LEFT) == [[], []]
        assert on_each(bare_nodes, name, ROLES) == [[], []]


def test_roles_stay_where_another_database_uses_them_and_nowhere_else(bare_nodes: CitusNodes) -> None:
    coordinator = bare_nodes.coordinator
    with coordinator.database("alone") as alone, bare_nodes.database("spread") as spread:
        install(coordinator.dsn(alone), plpython=True)
        install(coordinator.dsn(spread), plpython=True)
        with psycopg.connect(coordinator.dsn(spread), autocommit=True) as db:
            create_patients(db)
            db.execute(f"SELECT kanon_anonymize('patients', {K})")
        schemas = "SELECT nspname FROM pg_namespace WHERE nspname ~ '^(kanon|safe)' ORDER BY 1"
        assert on_each(bare_nodes, spread, schemas)[1:] == [[("kanon_shards",)]]
        report = uninstall(coordinator.dsn(spread))
        assert all("On the workers it is gone." in note for note in report.notes)
        assert on_each(bare_nodes, spread, LEFT) == [[], []]
        assert [len(found) for found in on_each(bare_nodes, spread, ROLES)] == [4 + READERS, 0]
        install(coordinator.dsn(spread), plpython=True)
        logins = f'SELECT rolname FROM pg_roles WHERE rolcanlogin AND {OURS} ORDER BY rolname COLLATE "C"'
        on_worker = [(role,) for role in READING]
        assert on_each(bare_nodes, spread, logins) == [[], on_worker]
        with bare_nodes.database("beside") as beside:
            install(coordinator.dsn(beside), plpython=True)
            uninstall(coordinator.dsn(beside))
            assert on_each(bare_nodes, spread, logins) == [[], on_worker]
        uninstall(coordinator.dsn(alone))
        uninstall(coordinator.dsn(spread))
    assert on_each(bare_nodes, "postgres", ROLES) == [[], []]


def test_a_schema_of_others_on_a_worker_keeps_kanon_out(bare_nodes: CitusNodes) -> None:
    coordinator, worker = bare_nodes.coordinator, bare_nodes.workers[0]
    with bare_nodes.database("taken") as name, _superuser(worker, name) as there:
        there.execute("CREATE ROLE mallory")
        there.execute("CREATE SCHEMA kanon_shards AUTHORIZATION mallory")
        with pytest.raises(Exception, match=r"may use the schema kanon_shards.*bare1"):
            install(coordinator.dsn(name), plpython=True)
        there.execute("DROP SCHEMA kanon_shards")
        install(coordinator.dsn(name), plpython=True)
        with psycopg.connect(coordinator.dsn(name), autocommit=True) as db:
            create_patients(db)
            for taken, given_back in (
                (
                    "ALTER SCHEMA kanon_shards OWNER TO mallory",
                    "ALTER SCHEMA kanon_shards OWNER TO kanon_owner",
                ),
                (
                    "GRANT CREATE ON SCHEMA kanon_shards TO mallory",
                    "REVOKE CREATE ON SCHEMA kanon_shards FROM mallory",
                ),
            ):
                there.execute(taken)
                with pytest.raises(psycopg.Error, match="not closed to others") as error:
                    db.execute(f"SELECT kanon_anonymize('patients', {K})")
                assert error.value.sqlstate == InstallError.sqlstate
                found = db.execute("SELECT item, detail FROM kanon_install_check() WHERE NOT ok").fetchall()
                assert [item for item, _ in found] == ["nodes"]
                assert "bare1" in found[0][1]
                there.execute(given_back)
            db.execute(f"SELECT kanon_anonymize('patients', {K})")
            there.execute("ALTER SCHEMA kanon_shards OWNER TO mallory")
            with pytest.raises(psycopg.Error, match="not closed to others"):
                db.execute("SELECT kanon_refresh('patients')")
            there.execute("ALTER SCHEMA kanon_shards OWNER TO kanon_owner")
        uninstall(coordinator.dsn(name))
        there.execute("DROP ROLE mallory")


def test_a_coordinator_that_holds_shards_itself(bare_nodes: CitusNodes) -> None:
    coordinator = bare_nodes.coordinator
    with coordinator.database("alone") as alone, bare_nodes.database("holding") as name:
        install(coordinator.dsn(alone), plpython=True)
        install(coordinator.dsn(name), plpython=True)
        with psycopg.connect(coordinator.dsn(name), autocommit=True) as db:
            holds = "SELECT citus_set_node_property(%s, %s, 'shouldhaveshards', true)"
            db.execute(holds, [coordinator.host, coordinator.port])
            create_patients(db)
            create_stays(db, "stay")
            with pytest.raises(psycopg.Error, match="holds shards itself"):
                db.execute(f"SELECT kanon_anonymize('patients', {K})")
            install(coordinator.dsn(name), plpython=True)
            for table, quasi in (("patients", QUASI), ("stays", ("ward", "age"))):
                db.execute(f"SELECT kanon_anonymize('{table}', {K})")
                assert min(classes(db, f"safe.{table}", quasi)) >= K
                before = storage_of(db, table)
                holders = "SELECT DISTINCT nodename FROM citus_shards WHERE table_name = %s::regclass"
                assert len(db.execute(holders, [before]).fetchall()) == 2
                db.execute(f"DELETE FROM {table} WHERE age = 25")
                db.execute(f"SELECT kanon_refresh('{table}')")
                assert min(classes(db, f"safe.{table}", quasi)) >= K
            assert db.execute("SELECT item FROM kanon_install_check() WHERE NOT ok").fetchall() == []
            logins = f'SELECT rolname FROM pg_roles WHERE rolcanlogin AND {OURS} ORDER BY rolname COLLATE "C"'
            assert db.execute(logins).fetchall() == [(role,) for role in READING]
            db.execute("CREATE ROLE of_holding IN ROLE kanon_analyst")
            db.execute("SET ROLE of_holding")
            shards = (
                "SELECT format('%I.%I', 'kanon_shards', relname) FROM pg_class"
                " WHERE relnamespace = to_regnamespace('kanon_shards') AND relkind = 'r'"
            )
            for (shard,) in db.execute(shards).fetchall():
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    db.execute(f"SELECT * FROM {shard}")
            db.execute("RESET ROLE")
            db.execute("DROP ROLE of_holding")
        uninstall(coordinator.dsn(name))
        assert on_each(bare_nodes, name, LEFT) == [[], []]
        assert on_each(bare_nodes, name, logins) == [[], []]
        uninstall(coordinator.dsn(alone))
