"""The extension: created, dumped and restored, repeated, kept apart from `kanon install`, removed."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import kanon_pg
from kanon_pg.admin.cluster.programs import newest_with_python
from kanon_pg.admin.install.extension import ServerFolders, write_extension
from kanon_pg.admin.install.installer import install
from kanon_pg.admin.install.uninstaller import uninstall
from kanon_pg.errors import InstallError
from tests.fixtures.databases import Server
from tests.fixtures.dividing_solver import dividing
from tests.fixtures.extension_servers import ExtensionServer, extension_server
from tests.install.catalog import picture
from tests.install.conftest import create_patients


@pytest.fixture(scope="module")
def own_server() -> Iterator[ExtensionServer]:
    with extension_server("extensions") as started:
        write_extension(started.folders)
        yield started


@pytest.fixture
def dsn(own_server: ExtensionServer) -> Iterator[str]:
    with own_server.server.database("extension") as name:
        yield own_server.server.dsn(name)


@pytest.fixture
def db(dsn: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def _run(server: Server, program: str, *arguments: str) -> None:
    where = ["-h", server.host, "-p", str(server.port), "-U", server.user]
    command = [newest_with_python().program(program), *where, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _installed_by(db: psycopg.Connection) -> tuple[str, str]:
    return db.execute("SELECT sql_version, installed_by FROM kanon_version()").fetchone()


def test_the_check_for_packagers_passes(own_server: ExtensionServer, tmp_path: Path) -> None:
    folder = shutil.copytree(Path(__file__).parents[2] / "packaging", tmp_path / "packaging")
    server = own_server.server
    where = {"PGHOST": server.host, "PGPORT": str(server.port), "PGUSER": server.user}
    pg_config = newest_with_python().program("pg_config")
    done = subprocess.run(
        ["make", "-C", folder, "installcheck", f"PG_CONFIG={pg_config}"],
        env=os.environ | where,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_declared_and_published_moves_to_another_database(
    own_server: ExtensionServer, db: psycopg.Connection, tmp_path: Path
) -> None:
    db.execute("CREATE EXTENSION kanon_pg CASCADE")
    create_patients(db)
    db.execute("SELECT kanon_declare('patients', '{id}', '{age,sex}', '{diagnosis}')")
    db.execute("SELECT kanon_hierarchy_define('codes', '[[\"1\"]]', '{\"shared\": true}')")
    with dividing(db):
        db.execute("SELECT kanon_anonymize('patients', 5, seed => 1)")
    db.execute("REVOKE SELECT ON safe.patients FROM kanon_analyst")
    db.execute("SELECT kanon_protect('patients', 5)")
    _run(own_server.server, "pg_dump", "--format=custom", f"--file={tmp_path}/dump", db.info.dbname)
    with own_server.server.database("restored") as name:
        _run(own_server.server, "pg_restore", "--exit-on-error", f"--dbname={name}", f"{tmp_path}/dump")
        with psycopg.connect(own_server.server.dsn(name), autocommit=True) as restored:
            for query in (
                "TABLE kanon.declarations",
                "TABLE kanon.hierarchies",
                "TABLE kanon.protections",
                "TABLE kanon.release_lock",
                "SELECT release, view::text, storage::text, parameters, k, classes FROM kanon.releases",
                "SELECT * FROM safe.patients ORDER BY 1, 2, 3, 4",
                "SELECT has_table_privilege('kanon_analyst', 'safe.patients', 'SELECT')",
                "SELECT version, revoked_temporary FROM kanon.version",
            ):
                assert restored.execute(query).fetchall() == db.execute(query).fetchall(), query
            ((problem,),) = restored.execute("SELECT problem FROM kanon.record_states").fetchall()
            assert "missing" in problem
            restored.execute("DELETE FROM patients WHERE age = 20")
            restored.execute("SELECT kanon_refresh('patients')")
            assert restored.execute("SELECT count(*) FROM safe.patients").fetchone() == (50,)
            restored.execute("SELECT kanon_drop('patients')")


def test_the_scripts_can_be_repeated_and_change_nothing(db: psycopg.Connection) -> None:
    db.execute("CREATE EXTENSION kanon_pg CASCADE")
    before = picture(db)
    db.execute("ALTER EXTENSION kanon_pg UPDATE TO 'unpackaged'")
    db.execute("ALTER EXTENSION kanon_pg UPDATE")
    assert picture(db) == before
    assert _installed_by(db) == (kanon_pg.__version__, "extension")


def test_neither_way_installs_over_the_other(dsn: str, db: psycopg.Connection) -> None:
    install(dsn)
    assert _installed_by(db) == (kanon_pg.__version__, "kanon install")
    with pytest.raises(psycopg.Error, match="has kanon already") as caught:
        db.execute("CREATE EXTENSION kanon_pg CASCADE")
    assert "VERSION 'unpackaged'" in (caught.value.diag.message_hint or "")
    uninstall(dsn)
    db.execute("CREATE EXTENSION kanon_pg CASCADE")
    with pytest.raises(InstallError, match="is an extension") as refused:
        install(dsn)
    assert "ALTER EXTENSION kanon_pg UPDATE" in (refused.value.hint or "")
    db.execute("CREATE SCHEMA anonymity")
    uninstall(dsn)
    with pytest.raises(psycopg.Error, match="no kanon that the extension could take over"):
        db.execute("CREATE EXTENSION kanon_pg VERSION 'unpackaged' CASCADE")
    db.execute("CREATE EXTENSION kanon_pg SCHEMA anonymity CASCADE")
    assert db.execute("SELECT installed_by FROM anonymity.kanon_version()").fetchone() == ("extension",)


def test_the_right_on_the_whole_server_is_granted_and_goes_with_the_last_database(
    own_server: ExtensionServer, dsn: str, db: psycopg.Connection
) -> None:
    """Granted in the extension's script itself, it would never go again, from PostgreSQL 17 on."""
    if db.info.server_version < 150000:
        pytest.skip("servers before PostgreSQL 15 have no rights on parameters")
    hides = "SELECT has_parameter_privilege('kanon_reader', 'track_counts', 'SET')"
    with db.transaction():
        db.execute("CREATE EXTENSION kanon_pg CASCADE")
        db.execute("DROP EXTENSION kanon_pg CASCADE")
    with own_server.server.database("other") as name:
        other = own_server.server.dsn(name)
        uninstall(dsn)
        with psycopg.connect(other, autocommit=True) as second:
            for connection in (db, second):
                with connection.transaction():
                    connection.execute("CREATE EXTENSION kanon_pg CASCADE")
                assert connection.execute(hides).fetchone() == (True,)
                assert not any("parameter track_counts" in line for line in picture(connection))
            uninstall(dsn)
            assert second.execute(hides).fetchone() == (True,)
        assert uninstall(other).notes == ()
        assert db.execute("SELECT to_regrole('kanon_reader')").fetchone() == (None,)


def test_releases_are_not_dropped_unseen_and_uninstalling_leaves_nothing(
    dsn: str, db: psycopg.Connection
) -> None:
    create_patients(db)
    db.execute("CREATE EXTENSION plpython3u")
    before = _apart_from_roles(db)
    db.execute("CREATE EXTENSION kanon_pg")
    with dividing(db):
        db.execute("SELECT kanon_anonymize('patients', 5, '{age,sex}', seed => 1)")
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        db.execute("DROP EXTENSION kanon_pg")
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        db.execute("DROP FUNCTION kanon_version()")
    assert uninstall(dsn).releases == ("patients",)
    assert _apart_from_roles(db) == before


def _apart_from_roles(db: psycopg.Connection) -> set[str]:
    return {line for line in picture(db) if not line.startswith(("role ", "member "))}


def test_a_server_without_python_and_a_closed_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="no PL/Python"):
        write_extension(ServerFolders(15, Path("/usr/share/postgresql/15"), tmp_path))
    library = tmp_path / "plpython3.so"
    library.write_bytes(b"libpython3.7.so")
    with pytest.raises(InstallError, match="is Python 3"):
        write_extension(ServerFolders(15, Path("/usr/share/postgresql/15"), tmp_path))
    library.write_bytes(b"")
    occupied = tmp_path / "occupied"
    occupied.write_text("")
    with pytest.raises(InstallError, match="cannot be written"):
        write_extension(
            ServerFolders(15, Path("/usr/share/postgresql/15"), tmp_path), python_path=["/x"], root=occupied
        )
