import json

import psycopg
import pytest
from typer.testing import CliRunner

from kanon_pg.admin.install.installer import install
from kanon_pg.cli import app
from tests.fixtures.databases import role
from tests.install.catalog import picture
from tests.install.conftest import as_role

_ITEMS = [
    "versions",
    "tables",
    "roles",
    "ownership",
    "readers",
    "rights of kanon's roles",
    "internals",
    "rights of PUBLIC",
    "releases",
    "records of answers",
    "solver process",
    "trial release",
]


_FUNCTION = "CREATE FUNCTION own() RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN ''x''; END'"
_TRIGGER_FUNCTION = "CREATE FUNCTION fires() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"

_TABLE = "CREATE TABLE mine (a integer); ALTER TABLE mine OWNER TO pg_monitor"


def _failing(connection: psycopg.Connection) -> dict[str, str]:
    rows = connection.execute("SELECT item, detail FROM kanon_install_check() WHERE NOT ok").fetchall()
    return dict(rows)


def test_a_fresh_install_passes_and_the_check_leaves_nothing(db: psycopg.Connection) -> None:
    before = picture(db)
    items = db.execute("SELECT item, ok FROM kanon_install_check()").fetchall()
    assert items == [(item, True) for item in _ITEMS]
    assert picture(db) == before
    assert db.execute("SELECT count(*) FROM kanon.release").fetchone() == (0,)


def test_an_analyst_can_run_it(installed_dsn: str) -> None:
    with (
        role(installed_dsn, "analyst", "IN ROLE kanon_analyst") as analyst,
        psycopg.connect(as_role(installed_dsn, analyst), autocommit=True) as connection,
    ):
        assert _failing(connection) == {}


@pytest.mark.parametrize(
    ("damage", "item"),
    [
        ("GRANT CREATE ON SCHEMA public TO PUBLIC", "rights of PUBLIC"),
        ("GRANT SELECT ON kanon.release TO PUBLIC", "internals"),
        ("GRANT EXECUTE ON FUNCTION kanon.boot() TO PUBLIC", "internals"),
        ("GRANT SELECT ON kanon.release TO pg_monitor", "internals"),
        ("GRANT EXECUTE ON FUNCTION kanon.read_rows_1(text, text[]) TO pg_monitor", "internals"),
        ("GRANT USAGE ON SCHEMA kanon_shown TO pg_monitor", "internals"),
        ("ALTER DEFAULT PRIVILEGES FOR ROLE kanon_owner GRANT SELECT ON TABLES TO pg_monitor", "internals"),
        ("CREATE TABLE kanon.stranger (one integer)", "ownership"),
        ("CREATE VIEW safe.stranger AS SELECT 1 AS one", "ownership"),
        ("ALTER FUNCTION kanon.grant_read(regclass, boolean) OWNER TO kanon_owner", "ownership"),
        ("REVOKE USAGE ON SCHEMA safe FROM kanon_analyst", "trial release"),
        ("ALTER SCHEMA kanon_bases OWNER TO pg_monitor", "ownership"),
        ("ALTER TABLE kanon.request OWNER TO kanon_owner", "ownership"),
        ("ALTER FUNCTION kanon_drop(text) OWNER TO kanon_owner", "ownership"),
        (
            "CREATE FUNCTION kanon_drop(text, integer) RETURNS text LANGUAGE sql AS 'SELECT $1';"
            " ALTER FUNCTION kanon_drop(text, integer) OWNER TO pg_monitor",
            "ownership",
        ),
        (
            f"{_TRIGGER_FUNCTION}; CREATE TRIGGER t AFTER INSERT ON kanon.request EXECUTE FUNCTION fires()",
            "ownership",
        ),
        ("CREATE RULE r AS ON DELETE TO kanon.release DO ALSO SELECT 1", "ownership"),
        (f"{_FUNCTION}; ALTER TABLE kanon.request ALTER operation SET DEFAULT own()", "ownership"),
        (f"{_FUNCTION}; ALTER TABLE kanon.release ADD CHECK (own() > '')", "ownership"),
        (f"{_FUNCTION}; CREATE INDEX i ON kanon.release (own())", "ownership"),
        (f"{_FUNCTION}; CREATE POLICY p ON kanon.base USING (own() > '')", "ownership"),
        (
            f"{_TABLE}; GRANT SELECT ON mine TO kanon_owner",
            "rights of kanon's roles",
        ),
        (
            f"{_TABLE}; GRANT SELECT ON mine TO kanon_reader",
            "rights of kanon's roles",
        ),
    ],
)
def test_damage_is_found(db: psycopg.Connection, damage: str, item: str) -> None:
    db.execute(damage)
    assert list(_failing(db)) == [item]


def test_a_member_of_a_reader_is_found(db: psycopg.Connection) -> None:
    """Roles are the whole server's: the test gives back what it takes."""
    db.execute("GRANT kanon_base_3 TO pg_monitor")
    try:
        assert list(_failing(db)) == ["readers"]
    finally:
        db.execute("REVOKE kanon_base_3 FROM pg_monitor")


@pytest.mark.parametrize("plpython", [True, False])
def test_the_command_checks_with_and_without_functions_in_the_server(
    empty_dsn: str, empty_connection: psycopg.Connection, plpython: bool
) -> None:
    install(empty_dsn, plpython=plpython)
    before = picture(empty_connection)
    done = CliRunner().invoke(app, ["check", empty_dsn, "--json"])
    assert done.exit_code == 0, done.output
    kept = [item for item in _ITEMS if plpython or item != "records of answers"]
    assert [item["item"] for item in json.loads(done.stdout)] == kept
    assert picture(empty_connection) == before
    empty_connection.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
    done = CliRunner().invoke(app, ["check", empty_dsn])
    assert done.exit_code == 1
    assert "NOT OK  rights of PUBLIC" in done.stdout
    assert "REVOKE CREATE ON SCHEMA" in done.stdout


def test_a_check_without_an_installation_says_so(empty_dsn: str) -> None:
    done = CliRunner().invoke(app, ["check", empty_dsn])
    assert done.exit_code == 1
    assert "not installed" in done.stderr


def test_the_commands_install_and_uninstall(empty_dsn: str, empty_connection: psycopg.Connection) -> None:
    before = picture(empty_connection)
    done = CliRunner().invoke(app, ["install", empty_dsn, "--api-schema", "anon ymity", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["api_schema"] == "anon ymity"
    done = CliRunner().invoke(app, ["uninstall", empty_dsn])
    assert done.exit_code == 0, done.output
    roles = {line for line in picture(empty_connection) if line.startswith(("role kanon_", "member kanon_"))}
    assert picture(empty_connection) == before | roles


def test_a_failed_install_prints_the_list_and_exits_with_1(empty_dsn: str) -> None:
    done = CliRunner().invoke(app, ["install", empty_dsn, "--python-path", "/nonexistent"])
    assert done.exit_code == 1
    assert "/nonexistent is missing or closed to it" in done.stderr
