"""Who reaches what is stored on the nodes: nobody but the owner role; and what installing leaves there."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import psycopg
import pytest

from kanon_pg.admin.install.check import check_database
from kanon_pg.admin.install.installer import install
from kanon_pg.db.psycopg_adapter import PsycopgDatabase, connect
from kanon_pg.db.readers import READERS, reader_role
from kanon_pg.errors import InstallError
from tests.fixtures.citus import CitusNodes
from tests.integration.citus.tables import classes, create_patients, on_each, storage_of

REFUSED = (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedFunction)

OURS = "rolname ~ '^kanon_(owner|reader|curator|analyst|base_[0-9]+)$'"


@pytest.fixture
def people(citus: psycopg.Connection[Any]) -> Iterator[tuple[str, str]]:
    """Yield a curator, who may read the table patients, and an analyst; Citus has both on all nodes."""
    citus.execute("CREATE ROLE nodes_curator LOGIN IN ROLE kanon_curator")
    citus.execute("CREATE ROLE nodes_analyst LOGIN IN ROLE kanon_analyst")
    citus.execute("GRANT CREATE ON SCHEMA public TO nodes_curator")
    yield "nodes_curator", "nodes_analyst"
    citus.execute("RESET ROLE")
    citus.execute("DROP TABLE IF EXISTS patients CASCADE")
    citus.execute("REVOKE CREATE ON SCHEMA public FROM nodes_curator")
    citus.execute("DROP ROLE nodes_curator")
    citus.execute("DROP ROLE nodes_analyst")


def _published_by(citus: psycopg.Connection[Any], curator: str) -> str:
    create_patients(citus)
    citus.execute(f"GRANT SELECT ON patients TO {curator}")
    citus.execute(f"SET ROLE {curator}")
    citus.execute("SELECT kanon_anonymize('patients', 12)")
    citus.execute("RESET ROLE")
    return storage_of(citus, "patients")


def test_a_curator_publishes_and_an_analyst_reads(citus, people):
    curator, analyst = people
    _published_by(citus, curator)
    citus.execute(f"SET ROLE {analyst}")
    assert min(classes(citus, "safe.patients", ["zip", "age", "sex"])) >= 12
    citus.execute(f"SET ROLE {curator}")
    citus.execute("SELECT kanon_refresh('patients')")
    assert citus.execute("SELECT count(*) FROM safe.patients").fetchone() == (2000,)


def test_no_right_of_a_curator_or_analyst_reaches_the_storage(citus, nodes, citus_database, people):
    storage = _published_by(citus, people[0])
    found = on_each(
        nodes,
        citus_database,
        "SELECT c.oid::regclass::text, c.relkind::text FROM pg_class AS c"
        " WHERE c.relnamespace = 'kanon_shards'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')",
    )
    assert [len(relations) for relations in found] == [
        1,
        3,
        3,
    ]  # the table, and two shards of four on each worker
    refused = 0
    for server, relations in zip(nodes.all, found, strict=True):
        for role in people:
            with psycopg.connect(server.dsn(citus_database), autocommit=True) as connection:
                connection.execute(f"SET ROLE {role}")
                for relation, _ in relations:
                    for attempt in (
                        f"SELECT * FROM {relation}",
                        f"INSERT INTO {relation} SELECT * FROM {relation}",
                        f"UPDATE {relation} SET kanon_pattern = 0",
                        f"DELETE FROM {relation}",
                        f"TRUNCATE {relation}",
                        f"DROP TABLE {relation}",
                        f"COPY {relation} TO STDOUT",
                    ):
                        with pytest.raises(REFUSED):
                            connection.execute(attempt)
                        refused += 1
    assert refused == 2 * 7 * 7
    for role in people:
        citus.execute(f"SET ROLE {role}")
        for attempt in (
            f"SELECT * FROM {storage}_rows()",
            f"REFRESH MATERIALIZED VIEW {storage}",
            f"SELECT result FROM run_command_on_shards('{storage}', 'SELECT count(*) FROM %s')",
        ):
            with pytest.raises(psycopg.Error):
                citus.execute(attempt)
        citus.execute("RESET ROLE")


def test_what_reads_a_release_is_as_closed_as_other_functions(citus, people):
    storage = _published_by(citus, people[0])
    found = citus.execute(
        "SELECT pg_get_userbyid(proowner), prosecdef, proisstrict, provolatile::text, proparallel::text,"
        " proconfig, proacl::text[] FROM pg_proc WHERE oid = (%s || '_rows')::regproc",
        [storage],
    ).fetchone()
    assert found == (
        "kanon_owner",
        True,
        False,
        "s",
        "u",
        ["search_path=pg_catalog, pg_temp", "client_min_messages=warning"],
        ["kanon_owner=X/kanon_owner", "=X/kanon_owner"],
    )


def test_citus_tells_readers_nothing_of_its_work(citus, nodes, citus_database, people):
    _published_by(citus, people[0])
    heard: list[str] = []
    with psycopg.connect(nodes.coordinator.dsn(citus_database), autocommit=True) as reader:
        reader.add_notice_handler(
            lambda notice: heard.append(f"{notice.message_primary} {notice.message_detail}")
        )
        reader.execute(f"SET ROLE {people[1]}")
        reader.execute("SET citus.log_remote_commands TO on")
        reader.execute("SET client_min_messages TO debug4")
        for asked in ("SELECT count(*) FROM", "SELECT * FROM", "EXPLAIN ANALYZE SELECT * FROM"):
            reader.execute(f"{asked} safe.patients")
    assert [message for message in heard if "kanon_shards" in message or "citus" in message] == []


def test_rows_are_not_shown_shard_by_shard(citus, people):
    storage = _published_by(citus, people[0])
    order = (
        f"SELECT get_shard_id_for_distribution_column('{storage}', kanon_place)"
        f" FROM {storage} ORDER BY kanon_chance"
    )
    shards = [shard for (shard,) in citus.execute(order).fetchall()]
    changes = sum(one != next_ for one, next_ in pairwise(shards))
    assert changes > len(shards) / 2
    body = f"SELECT prosrc FROM pg_proc WHERE oid = '{storage}_rows'::regproc"
    (read,) = citus.execute(body).fetchone()
    assert "ORDER BY s.kanon_chance" in read


def test_workers_have_the_roles_that_read_and_a_closed_schema_and_nothing_else(citus, nodes, citus_database):
    roles = on_each(
        nodes, citus_database, f"SELECT rolname, rolcanlogin, rolsuper FROM pg_roles WHERE {OURS}"
    )
    logins = [{name for name, login, _ in found if login} for found in roles]
    reading = {"kanon_owner", *(reader_role(number) for number in range(1, READERS + 1))}
    assert logins == [set(), reading, reading]
    assert not any(superuser for found in roles for *_, superuser in found)
    passwords = f"SELECT DISTINCT rolpassword FROM pg_authid WHERE {OURS}"
    assert on_each(nodes, citus_database, passwords) == [[(None,)]] * 3
    open_to = (
        "SELECT DISTINCT a.grantee::regrole::text FROM pg_namespace, aclexplode(nspacl) AS a"
        " WHERE nspname = 'kanon_shards'"
    )
    assert on_each(nodes, citus_database, open_to) == [[("kanon_owner",)]] * 3


def _on_each_alone(nodes: CitusNodes, database: str, *statements: str) -> None:
    for server in nodes.all:
        with psycopg.connect(server.dsn(database), autocommit=True) as connection:
            connection.execute("SET citus.enable_ddl_propagation TO off")
            for statement in statements:
                connection.execute(statement)


def test_code_that_reads_on_nodes_writes_nothing_there(citus, nodes, citus_database):
    create_patients(citus)
    citus.execute(
        "CREATE FUNCTION public.written(age integer) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN"
        " BEGIN PERFORM set_config('transaction_read_only', 'off', true); EXCEPTION WHEN others THEN END;"
        " IF current_user ~ '^kanon_' THEN INSERT INTO public.open_to_all VALUES (age); END IF; RETURN age;"
        " END $$"
    )
    citus.execute("SET citus.enable_ddl_propagation TO off")
    citus.execute("CREATE VIEW writing AS SELECT zip, written(age) AS age FROM patients")
    citus.execute("SELECT kanon.grant_read('writing')")
    citus.execute("SET citus.enable_ddl_propagation TO on")
    (reader,) = citus.execute("SELECT reader FROM kanon.base WHERE relation = 'writing'::regclass").fetchone()
    citus.execute(f"GRANT SELECT ON patients TO kanon_base_{reader}")
    _on_each_alone(
        nodes, citus_database, "CREATE TABLE open_to_all (age integer)", "GRANT ALL ON open_to_all TO PUBLIC"
    )
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        citus.execute(
            f"SELECT FROM kanon.read_rows_{reader}("
            "'SELECT sum(age) FROM public.writing', '{}') AS t (n bigint)"
        )
    found = on_each(nodes, citus_database, "SELECT count(*) FROM public.open_to_all")
    assert found == [[(0,)]] * 3
    _on_each_alone(nodes, citus_database, "DROP TABLE open_to_all")
    citus.execute(f"REVOKE SELECT ON patients FROM kanon_base_{reader}")
    citus.execute("DROP VIEW writing")
    citus.execute("DROP FUNCTION written(integer)")


def test_a_check_publishes_on_the_nodes(citus, nodes, citus_database):
    with connect(nodes.coordinator.dsn(citus_database)) as connection:
        items = {item.item: item for item in check_database(PsycopgDatabase(connection), lambda *_: None)}
        connection.rollback()
    assert items["nodes"].ok
    assert items["trial release on nodes"].ok, items["trial release on nodes"].detail
    worker = nodes.workers[0].dsn(citus_database)
    for role in ("kanon_owner", "kanon_base_3"):
        with psycopg.connect(worker, autocommit=True) as connection:
            connection.execute("SET citus.enable_ddl_propagation TO off")
            connection.execute(f"ALTER ROLE {role} NOLOGIN")
            try:
                found = citus.execute(
                    "SELECT item, detail FROM kanon_install_check() WHERE NOT ok"
                ).fetchall()
            finally:
                connection.execute(f"ALTER ROLE {role} LOGIN")
        assert [item for item, _ in found] == ["nodes"]
        assert role in found[0][1]


def test_readers_that_are_added_log_in_on_the_nodes(citus, nodes, citus_database):
    citus.execute(f"SELECT kanon.add_readers({READERS + 1})")
    logins = f"SELECT rolcanlogin FROM pg_roles WHERE rolname = '{reader_role(READERS + 1)}'"
    assert on_each(nodes, citus_database, logins) == [[(False,)], [(True,)], [(True,)]]
    functions = "SELECT FROM pg_proc WHERE proname ~ '^(read|read_rows|define)_[0-9]+$'"
    assert on_each(nodes, citus_database, functions)[1:] == [[], []]
    citus.execute(f"DROP OWNED BY {reader_role(READERS + 1)}")
    citus.execute(f"DROP ROLE {reader_role(READERS + 1)}")


def test_a_worker_takes_no_installation(nodes, citus_database):
    with pytest.raises(InstallError, match="worker of Citus"):
        install(nodes.workers[0].dsn(citus_database))
