"""Any state of the schema is mended by installing, or removed by uninstalling, and the check names it."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

import kanon_pg
from kanon_pg.admin.install import check
from kanon_pg.admin.install.installer import install
from kanon_pg.admin.install.uninstaller import uninstall
from tests.fixtures.databases import Server, role
from tests.fixtures.dividing_solver import dividing
from tests.install.catalog import picture
from tests.install.conftest import as_role, create_patients
from tests.install.test_dump_restore import _run

pytestmark = pytest.mark.usefixtures("probed_once")


@pytest.fixture
def dsn(lonely_server: Server) -> Iterator[str]:
    with lonely_server.database("states") as name:
        yield lonely_server.dsn(name)


@pytest.fixture
def db(dsn: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def quick_check(monkeypatch: pytest.MonkeyPatch, db: psycopg.Connection) -> None:
    """Leave out what solves: here only what is found in the catalogs matters."""
    monkeypatch.setattr(check, "_solve", lambda db: None)
    monkeypatch.setattr(check, "_release", lambda db, trial: None)


_SKIPPED = """
do language plpython3u $$
plpy.execute("select kanon.boot()")
from kanon_pg.admin.install import check
check._solve = lambda db: None
check._release = lambda db, trial: None
$$
"""


def failing(db: psycopg.Connection) -> dict[str, tuple[str, str]]:
    """Return detail and hint of the items of the check that fail; solvers are left out."""
    db.execute(_SKIPPED)
    rows = db.execute("SELECT item, detail, hint FROM kanon_install_check() WHERE NOT ok").fetchall()
    return {item: (detail, hint) for item, detail, hint in rows}


_DAMAGE = {
    "no row": "DELETE FROM kanon.version",
    "no version": "UPDATE kanon.version SET version = 'abc'",
    "another version": "UPDATE kanon.version SET version = '0.0.1'",
    "no version table": "DROP TABLE kanon.version",
    "no columns": "ALTER TABLE kanon.version DROP COLUMN api_schema, DROP COLUMN revoked_create_schemas",
    "no table": "DROP TABLE kanon.release CASCADE",
    "no functions": "DROP FUNCTION kanon.grant_read_to CASCADE",
    "no rights": "REVOKE ALL ON SCHEMA kanon, safe FROM kanon_curator, kanon_analyst;"
    " REVOKE kanon_reader FROM kanon_owner",
    "no type": "DROP TYPE kanon.measures CASCADE",
}


@pytest.mark.parametrize("damage", [name for name in _DAMAGE if name != "no columns"])
def test_installing_mends_what_is_missing(dsn: str, db: psycopg.Connection, damage: str) -> None:
    install(dsn)
    before = picture(db)
    db.execute(_DAMAGE[damage])
    install(dsn)
    assert picture(db) == before
    version = db.execute("SELECT version, api_schema FROM kanon.version").fetchall()
    assert version == [(kanon_pg.__version__, "public")]
    assert failing(db) == {}


@pytest.mark.parametrize("damage", ["no row", "no version table", "no columns", "no table"])
def test_uninstalling_removes_what_is_left(dsn: str, db: psycopg.Connection, damage: str) -> None:
    before = _apart_from_roles(db)
    install(dsn)
    db.execute(_DAMAGE[damage])
    report = uninstall(dsn)
    assert report.was_installed
    left = _apart_from_roles(db) - before
    if any("Nothing recorded" in note for note in report.notes):
        # whether PUBLIC had rights, and plpython3u was there, only the lost row knew
        left = {line for line in left if "plpython3" not in line and "database" not in line}
    assert left == set()
    assert db.execute("SELECT count(*) FROM pg_roles WHERE rolname ~ '^kanon_'").fetchone() == (0,)


def _apart_from_roles(db: psycopg.Connection) -> set[str]:
    return {line for line in picture(db) if not line.startswith(("role ", "member "))}


def test_a_version_that_is_none_is_mended_aloud(dsn: str, db: psycopg.Connection) -> None:
    install(dsn)
    db.execute("UPDATE kanon.version SET version = 'abc'")
    report = install(dsn)
    assert any("'abc'" in note for note in report.notes)


def test_a_lost_table_is_named(dsn: str, db: psycopg.Connection) -> None:
    install(dsn)
    db.execute("DROP TABLE kanon.hierarchy CASCADE; DROP TABLE kanon.request CASCADE")
    assert "hierarchy, request" in failing(db)["tables"][0]
    report = install(dsn)
    assert any("made anew, empty: hierarchy, request" in note for note in report.notes)


def test_every_function_checks_the_version_alike(dsn: str, db: psycopg.Connection) -> None:
    install(dsn)
    create_patients(db)
    db.execute("UPDATE kanon.version SET version = '0.0.1'")
    assert db.execute("SELECT sql_version FROM kanon_version()").fetchone() == (kanon_pg.__version__,)
    assert db.execute("SELECT kanon_is_anonymous('patients', 2, '{age}')").fetchone() == (True,)
    assert "0.0.1" in failing(db)["versions"][0]


def test_a_copy_of_the_schema_alone_is_mended_and_goes_on(
    lonely_server: Server, dsn: str, db: psycopg.Connection, tmp_path: Path
) -> None:
    install(dsn)
    create_patients(db)
    db.execute("SELECT kanon_declare('patients', '{id}', '{age,sex}', '{diagnosis}')")
    with dividing(db):
        db.execute("SELECT kanon_anonymize('patients', 5, seed => 1)")
    _run(
        lonely_server,
        "pg_dump",
        "--schema-only",
        "--format=custom",
        f"--file={tmp_path}/dump",
        db.info.dbname,
    )
    with lonely_server.database("copy") as name:
        _run(lonely_server, "pg_restore", "--exit-on-error", f"--dbname={name}", f"{tmp_path}/dump")
        with psycopg.connect(lonely_server.dsn(name), autocommit=True) as copy:
            assert {"versions", "releases"} <= failing(copy).keys()
            report = install(lonely_server.dsn(name))
            assert any("safe.patients was dropped" in note for note in report.notes)
            assert failing(copy) == {}
            copy.execute("INSERT INTO patients SELECT i, 20, 'f', 'd' FROM generate_series(1, 9) AS i")
            copy.execute("SELECT kanon_declare('patients', '{id}', '{age,sex}', '{diagnosis}')")
            with dividing(copy):
                copy.execute("SELECT kanon_anonymize('patients', 5, seed => 1)")
            assert copy.execute("SELECT count(*) FROM safe.patients").fetchone() == (9,)
        assert uninstall(lonely_server.dsn(name)).was_installed


def test_a_release_that_lost_its_record_stays_readable_and_is_named(dsn: str, db: psycopg.Connection) -> None:
    install(dsn)
    create_patients(db)
    with dividing(db):
        db.execute("SELECT kanon_anonymize('patients', 5, '{age,sex}', seed => 1)")
    db.execute("DELETE FROM kanon.release")
    assert "DROP VIEW safe.patients" in failing(db)["releases"][0]
    assert any("DROP VIEW safe.patients" in note for note in install(dsn).notes)
    assert db.execute("SELECT count(*) FROM safe.patients").fetchone() == (60,)


def _record(db: psycopg.Connection) -> Path:
    (path,) = db.execute(
        "SELECT current_setting('data_directory') || '/kanon_ledger/' || d.oid || '/' || r.name || '.sqlite'"
        " FROM pg_database AS d, kanon.record AS r WHERE d.datname = current_database()"
    ).fetchone()
    return Path(path)


def _of_a_new_session(dsn: str, query: str) -> list[tuple[object, ...]]:
    """Return what a session sees that has opened no record before."""
    with psycopg.connect(dsn, autocommit=True) as session:
        return session.execute(query).fetchall()


def _gather(path: Path) -> None:
    """Move what SQLite keeps beside a record into the file itself."""
    with closing(sqlite3.connect(path)) as record:
        record.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_a_record_of_answers_that_cannot_be_used_is_told_to_curators(
    dsn: str, db: psycopg.Connection
) -> None:
    install(dsn)
    create_patients(db)
    db.execute("SELECT kanon_declare('patients', '{id}', '{age,sex}', '{diagnosis}')")
    db.execute("SELECT kanon_protect('patients', 5)")
    _of_a_new_session(dsn, "SELECT kanon_query('SELECT count(*) FROM patients')")
    assert failing(db) == {}
    path, state = _record(db), "SELECT ok, problem, remedy FROM kanon.record_states"
    older = path.with_name("older")
    _gather(path)
    older.write_bytes(path.read_bytes())
    older.chmod(0o600)
    shutil.chown(older, path.stat().st_uid, path.stat().st_gid)
    _of_a_new_session(dsn, "SELECT kanon_query('SELECT sex, count(*) FROM patients GROUP BY sex')")
    _gather(path)
    newest = path.with_name("newest")
    path.rename(newest)
    for damage, words in (("older", "older than"), ("broken", "damaged"), ("missing", "missing")):
        if damage == "older":
            older.rename(path)
        elif damage == "broken":
            path.write_bytes(b"x" * 8192)
        else:
            path.unlink()
        ((ok, problem, remedy),) = _of_a_new_session(dsn, state)
        assert (ok, words in problem) == (False, True), damage
        assert "SELECT kanon.restart_record('public.patients');" in remedy
        with pytest.raises(psycopg.Error) as refused:
            _of_a_new_session(dsn, "SELECT kanon_query('SELECT count(*) FROM patients')")
        assert (refused.value.sqlstate or "").startswith("KA"), damage
        for end in ("-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
    newest.rename(path)
    assert _of_a_new_session(dsn, state) == [(True, None, None)]
    path.rename(newest)
    with psycopg.connect(dsn, autocommit=True) as session:
        detail, hint = failing(session)["records of answers"]
    assert detail.startswith("1 of 1 record(s) cannot be used")
    assert "kanon.record_states" in hint
    with (
        role(dsn, "curator", "IN ROLE kanon_curator") as curator,
        psycopg.connect(as_role(dsn, curator), autocommit=True) as asking,
    ):
        ((_, problem, _),) = asking.execute(state).fetchall()
        assert "missing" in problem
    _of_a_new_session(dsn, "SELECT kanon.restart_record('patients')")
    assert _of_a_new_session(dsn, state) == [(True, None, None)]
    assert failing(db) == {}


def test_what_is_left_when_the_schemas_are_gone_is_removed(dsn: str, db: psycopg.Connection) -> None:
    create_patients(db)
    before = _apart_from_roles(db)
    install(dsn)
    db.execute("SELECT kanon.grant_read('patients')")
    db.execute("DROP SCHEMA kanon, safe CASCADE")
    uninstall(dsn)
    left = {
        line for line in _apart_from_roles(db) - before if "plpython3" not in line and "database" not in line
    }
    assert left == set()
