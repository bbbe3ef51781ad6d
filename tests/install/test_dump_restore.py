from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from kanon_pg.admin.cluster.programs import newest_with_python
from kanon_pg.admin.install.installer import install
from tests.fixtures.databases import Server, role
from tests.fixtures.dividing_solver import dividing
from tests.fixtures.generalizing_solver import generalizing
from tests.install import moving
from tests.install.conftest import as_role


def _run(server: Server, program: str, *arguments: str) -> None:
    path = newest_with_python().program(program)
    done = subprocess.run(
        [path, "-h", server.host, "-p", str(server.port), "-U", server.user, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.fixture(scope="module")
def source(server: Server, installed_template: str) -> Iterator[str]:
    """Yield a database with a declaration and releases of each kind."""
    with server.database("dumped", installed_template) as name:
        with psycopg.connect(server.dsn(name), autocommit=True) as db:
            db.execute(
                'CREATE TABLE public."Wards, 2" AS SELECT i % 4 AS "Über", i AS n '
                "FROM generate_series(1, 40) AS i"
            )
            db.execute("SELECT kanon_declare('patients', '{id}', '{age,sex}', '{diagnosis}')")
            db.execute("SELECT kanon_anonymize('patients', 5)")
            db.execute("SELECT kanon_anonymize('\"Wards, 2\"', 3, '{Über}')")
            with dividing(db):
                db.execute("SELECT kanon_anonymize('patients', 2, p => 2, release => 'divided', seed => 1)")
            with generalizing(db):
                db.execute(
                    "SELECT kanon_anonymize('patients', 2, release => 'ranged', seed => 1,"
                    """ hierarchies => '{"age": {"builder": "intervals", "width": [5, 20]}}')"""
                )
            db.execute(
                "CREATE TABLE visits (ward integer, patient integer NOT NULL REFERENCES patients"
                " ON DELETE CASCADE);"
                "INSERT INTO visits SELECT id % 3, id FROM patients"
            )
            db.execute("SELECT kanon_link('visits', 'patients')")
            db.execute("SELECT kanon_declare('visits', quasi_identifiers => '{ward}')")
            db.execute("CREATE TABLE stays (id integer PRIMARY KEY, age integer)")
            db.execute("INSERT INTO stays SELECT i, i % 4 FROM generate_series(1, 40) AS i")
            options = '{"over_time": {}, "remember": 2}'
            db.execute("SELECT kanon_anonymize('stays', 3, '{age}', options => %s)", [options])
            db.execute("INSERT INTO stays VALUES (41, 1), (42, 1)")
            db.execute("DELETE FROM stays WHERE id = 1")
            db.execute("SELECT kanon_refresh('stays')")
        yield name


@pytest.fixture(scope="module", params=["custom", "plain"])
def dump(
    request: pytest.FixtureRequest, server: Server, source: str, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the file of a dump of `source`."""
    path = tmp_path_factory.mktemp("dump") / str(request.param)
    _run(server, "pg_dump", f"--format={request.param}", f"--file={path}", source)
    return path


@pytest.fixture
def restored(server: Server, dump: Path) -> Iterator[str]:
    """Yield a database restored from `dump`."""
    with server.database("restored") as name:
        if dump.name == "custom":
            _run(server, "pg_restore", "--exit-on-error", f"--dbname={name}", str(dump))
        else:
            _run(server, "psql", "-Xqo", "/dev/null", "-v", "ON_ERROR_STOP=1", "-d", name, "-f", str(dump))
        yield server.dsn(name)


def test_a_restored_database_holds_what_was_dumped(server: Server, source: str, restored: str) -> None:
    with psycopg.connect(restored) as new, psycopg.connect(server.dsn(source)) as db:
        for query in (
            "SELECT * FROM safe.patients ORDER BY 1, 2, 3",
            'SELECT * FROM safe."Wards, 2" ORDER BY 1',
            "SELECT age, sex, kanon_suppressed, count(*) FROM safe.divided GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            "TABLE kanon.divided_v1_parts ORDER BY 1, 2",
            "SELECT age, sex, kanon_suppressed, count(*) FROM safe.ranged GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            "TABLE kanon.ranged_v1_nodes_1 ORDER BY 1",
            "SELECT generalized, nodes::text, unknown::text FROM kanon.release ORDER BY name",
            "SELECT * FROM kanon.declarations ORDER BY relation::text",
            "TABLE kanon.links",
            "TABLE kanon.public_visits_row_types ORDER BY 1",
            "SELECT release, view::text, base::text, storage::text, parameters, k, p, classes, published_at "
            "FROM kanon.releases ORDER BY release",
            "TABLE kanon.series",
            "TABLE kanon.stays_v1_members ORDER BY row_id",
            "TABLE kanon.stays_v1_cohorts ORDER BY cohort",
            "TABLE kanon.stays_v1_pending ORDER BY row_id",
            "TABLE kanon.remembered ORDER BY version",
            "TABLE kanon.stays_version1 ORDER BY row_id",
            "SELECT * FROM kanon_composition('{stays@1,stays@2}')",
            "SELECT age, kanon_suppressed, count(*) FROM safe.stays GROUP BY 1, 2 ORDER BY 1, 2",
            "TABLE kanon.version",
            "TABLE kanon.release_lock ORDER BY name",
            "SELECT * FROM kanon_help()",
        ):
            assert new.execute(query).fetchall() == db.execute(query).fetchall(), query


def test_an_analyst_of_a_restored_database_reads_the_release_and_nothing_else(restored: str) -> None:
    with (
        role(restored, "analyst", "IN ROLE kanon_analyst") as analyst,
        psycopg.connect(as_role(restored, analyst), autocommit=True) as reading,
    ):
        assert reading.execute("SELECT count(*) FROM safe.patients").fetchone() == (60,)
        for closed in (
            "public.patients",
            "kanon.patients_storage",
            "kanon.patients_v1_mapping",
            "kanon.divided_v1_parts",
            "kanon.ranged_v1_nodes_1",
            "kanon.ranged_v1_unknown",
            "kanon.stays_v1_members",
            "kanon_bases.stays_v1_current",
            "kanon.stays_version1",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reading.execute(f"SELECT * FROM {closed}")


def test_releases_of_a_restored_database_can_be_refreshed_replaced_and_dropped(restored: str) -> None:
    with psycopg.connect(restored, autocommit=True) as new:
        new.execute("DELETE FROM public.patients WHERE age = 20")
        (storage,) = new.execute(
            "SELECT storage::text FROM kanon.releases WHERE release = 'patients'"
        ).fetchone()
        new.execute(f"REFRESH MATERIALIZED VIEW {storage}")
        assert new.execute("SELECT count(*) FROM safe.patients").fetchone() == (50,)
        new.execute("SELECT kanon_refresh('patients')")
        assert new.execute("SELECT k FROM kanon_anonymize('patients', 4)").fetchone() == (4,)
        new.execute("SELECT kanon_drop('Wards, 2')")
        new.execute("SELECT kanon_refresh('divided')")
        new.execute("SELECT kanon_drop('divided')")
        new.execute("SELECT kanon_refresh('ranged')")
        new.execute("SELECT kanon_drop('ranged')")
        assert new.execute("SELECT count(*) FROM safe.stays").fetchone() == (40,)
        new.execute("INSERT INTO stays VALUES (43, 1)")
        new.execute("DELETE FROM stays WHERE id IN (5, 9)")
        new.execute("SELECT kanon_refresh('stays')")
        assert new.execute(
            "SELECT version, rows, pending_people, retained_rows FROM kanon.releases WHERE release = 'stays'"
        ).fetchone() == (3, 40, 0, 0)
        assert new.execute("SELECT people_below FROM kanon_composition('{stays@2,stays@3}')").fetchone() == (
            0,
        )
        new.execute("SELECT kanon_drop('stays')")
        assert new.execute("SELECT to_regclass('kanon.stays_v1_members')").fetchone() == (None,)
        assert new.execute("SELECT to_regclass('kanon.ranged_v1_nodes_1')").fetchone() == (None,)
        assert new.execute("SELECT to_regclass('kanon.divided_v1_parts')").fetchone() == (None,)
        assert new.execute("SELECT release FROM kanon.releases").fetchall() == [("patients",)]


def test_staleness_is_unknown_or_counted_anew_after_a_restore(restored: str) -> None:
    with psycopg.connect(restored, autocommit=True) as new:
        found = new.execute("SELECT changes_since FROM kanon.releases").fetchall()
        assert found
        assert all(changes is None or changes >= 0 for (changes,) in found)


def test_the_check_says_what_a_dump_does_not_carry_and_installing_again_mends_it(restored: str) -> None:
    failing = "SELECT item, detail FROM kanon_install_check() WHERE NOT ok"
    with psycopg.connect(restored, autocommit=True) as new:
        ((item, detail),) = new.execute(failing).fetchall()
        assert (item, "TEMPORARY" in detail) == ("rights of PUBLIC", True)
        install(restored)
        assert new.execute(failing).fetchall() == []


def test_a_moved_database_is_what_it_was_and_what_is_not_is_seen(
    server: Server, kanon_template: str, tmp_path: Path
) -> None:
    with server.database("moving", kanon_template) as old, server.database("moved") as new:
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as admin:
            admin.execute(f"CREATE ROLE {moving.ANALYST} IN ROLE kanon_analyst")
        with psycopg.connect(server.dsn(old), autocommit=True) as db:
            moving.furnish(db)
        _run(server, "pg_dump", "--format=custom", f"--file={tmp_path / 'dump'}", old)
        _run(server, "pg_restore", "--exit-on-error", f"--dbname={new}", str(tmp_path / "dump"))
        install(server.dsn(new))
        with psycopg.connect(server.dsn(new), autocommit=True) as db:
            assert moving.differences(db) == []
            query = "SELECT mapping::text FROM kanon.release WHERE name = 'types'"
            ((mapping,),) = db.execute(query).fetchall()
            db.execute(f"DELETE FROM {mapping}")
            assert "refreshed: rows of types" in moving.differences(db)
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as admin:
        admin.execute(f"DROP ROLE {moving.ANALYST}")
