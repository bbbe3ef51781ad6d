"""What the driver raises, wherever a command meets it, ends as an error of this package, also as JSON."""

import json
import socket
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner, Result

from kanon_pg.admin.install.installer import install
from kanon_pg.admin.install.uninstaller import uninstall
from kanon_pg.cli import app
from kanon_pg.cli.connection import connected
from kanon_pg.cli.failures import known_errors
from kanon_pg.db.psycopg_adapter import PsycopgDatabase, endpoint
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import DatabaseError

_AT_COMMIT = """
create table people (id int, age int);
create function refuse() returns trigger language plpgsql as $$ begin {} return null; end $$;
create constraint trigger refuse after insert on people deferrable initially deferred
    for each row execute function refuse()
"""
_REFUSALS = {
    "serialization": ("raise 'no' using errcode = '40001';", "The database refused a statement: no."),
    "value": ("raise 'Ann' using errcode = '23505';", "The database refused a statement (SQLSTATE 23505)."),
    "shutdown": (
        "perform pg_terminate_backend(pg_backend_pid());",
        "The database refused a statement: terminating connection due to administrator command.",
    ),
}


def refused(*arguments: str) -> Result:
    """Run a command that must end by itself, not by an exception that Python would show."""
    done = CliRunner().invoke(app, arguments)
    assert isinstance(done.exception, SystemExit), repr(done.exception)
    assert (done.exit_code, done.stdout) == (1, "")
    return done


@pytest.mark.parametrize(("action", "message"), _REFUSALS.values(), ids=_REFUSALS)
def test_what_is_refused_at_the_commit_is_an_error_of_this_package(
    empty_dsn: str, empty_connection: psycopg.Connection, tmp_path: Path, action: str, message: str
) -> None:
    empty_connection.execute(_AT_COMMIT.format(action).encode())
    file = tmp_path / "people.csv"
    file.write_text("id,age\n1,20\n", encoding="utf-8")
    load = ["load", str(file), "people", "--if-exists", "append", "--dsn", empty_dsn]
    found = json.loads(refused(*load, "--json").stderr)
    assert (found["sqlstate"], found["message"]) == ("KA400", message)
    assert refused(*load).stderr.startswith(f"error KA400: {message}\n")
    with pytest.raises(DatabaseError), known_errors(), connected(empty_dsn) as connection:
        connection.execute("insert into people values (1, 20)")


def _at_the_commit(connection: psycopg.Connection) -> None:
    connection.execute("select 1")
    _lose(connection)


def _inside_a_statement(connection: psycopg.Connection) -> None:
    database = PsycopgDatabase(connection)
    database.checkpoint()
    _lose(connection)
    database.row(statement("now"))


def _inside_a_query(connection: psycopg.Connection) -> None:
    _lose(connection)
    PsycopgDatabase(connection).texts(Statement("select 1"))


@pytest.mark.parametrize("where", [_at_the_commit, _inside_a_statement, _inside_a_query])
def test_after_a_connection_that_is_lost_nothing_is_claimed(
    empty_dsn: str, where: Callable[[psycopg.Connection], None]
) -> None:
    with pytest.raises(DatabaseError) as lost, known_errors(), connected(empty_dsn) as connection:
        where(connection)
    assert lost.value.message == "The connection to the database was lost."
    assert lost.value.detail == "Whether the last change took effect is not known."
    assert lost.value.hint == "Connect again, and look at what is there before you repeat it."
    assert lost.value.server_state == "08007"


@pytest.mark.parametrize("operation", [install, uninstall, endpoint])
def test_a_connection_whose_commit_fails_is_closed(
    empty_dsn: str, monkeypatch: pytest.MonkeyPatch, operation: Callable[[str], object]
) -> None:
    seen: list[psycopg.Connection] = []

    def fail(connection: psycopg.Connection) -> None:
        seen.append(connection)
        raise psycopg.errors.SerializationFailure

    monkeypatch.setattr(psycopg.Connection, "commit", fail)
    with pytest.raises(psycopg.errors.SerializationFailure):
        operation(empty_dsn)
    assert [connection.closed for connection in seen] == [True]


def _lose(connection: psycopg.Connection) -> None:
    channel = socket.socket(fileno=connection.fileno())
    channel.shutdown(socket.SHUT_RDWR)
    channel.detach()


@pytest.mark.parametrize(
    "arguments",
    [
        ["measure", "people"],
        ["releases"],
        ["drop", "people"],
        ["query", "select count(*) from people"],
        ["check"],
        ["install"],
        ["uninstall"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_a_statement_that_the_server_cancels_ends_the_command(
    dsn: str, connection: psycopg.Connection, arguments: list[str], options: list[str]
) -> None:
    connection.execute("create table people as select i, i % 3 as age from generate_series(1, 20) as i")
    limited = make_conninfo(dsn, options="-c statement_timeout=300ms")
    command = [*arguments, *([limited] if arguments[0] in _TAKE_DSN else ["--dsn", limited]), *options]
    with connection.transaction():
        connection.execute("lock table people, kanon.release, kanon.declaration, kanon.protection")
        errors = refused(*command).stderr
    if options:
        found = json.loads(errors)
        assert found["sqlstate"] == "KA400"
        assert "statement timeout" in found["message"]
        assert "statement_timeout=0" in found["hint"]
    else:
        assert errors.startswith("error KA400: ")
        assert "statement timeout" in errors
        assert "hint: " in errors


_TAKE_DSN = {"check", "install", "uninstall"}
