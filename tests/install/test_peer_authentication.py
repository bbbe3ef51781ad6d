"""Root installs into a server that lets in only its own account, and nobody by a password."""

import os
import pwd
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from typer.testing import CliRunner

from kanon_pg.admin.install.installer import install
from kanon_pg.admin.install.uninstaller import uninstall
from kanon_pg.cli import app
from kanon_pg.db.psycopg_adapter import connect
from kanon_pg.errors import DatabaseError
from tests.fixtures.databases import Server, private_server

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may act as another account")


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    """Yield a DSN without a user, of a server with peer authentication, as Debian's packages set it up."""
    with private_server("peer") as server:
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE people")
            (server.log.parent / "data" / "pg_hba.conf").write_text("local all all peer\n")
            connection.execute("SELECT pg_reload_conf()")
        while _lets_root_in(server):
            time.sleep(0.01)
        yield f"postgresql:///people?host={server.host}&port={server.port}"


def _lets_root_in(server: Server) -> bool:
    try:
        psycopg.connect(server.dsn("postgres")).close()
    except psycopg.OperationalError:
        return False
    return True


def test_root_installs_checks_and_uninstalls_as_the_account_of_the_server(dsn: str) -> None:
    assert install(dsn).plpython
    assert os.geteuid() == 0
    done = CliRunner().invoke(app, ["check", dsn])
    assert done.exit_code == 0, done.output
    assert uninstall(dsn).was_installed
    assert os.geteuid() == 0


def test_other_commands_act_as_nobody_else(dsn: str) -> None:
    with pytest.raises(DatabaseError, match="Cannot connect") as caught:
        connect(dsn)
    account = pwd.getpwuid(os.stat(_folder(dsn)).st_uid).pw_name
    assert f"`sudo -u {account} kanon ...`" in str(caught.value.hint)


def test_a_server_that_nobody_runs_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="Cannot connect") as caught:
        connect(f"host={tmp_path}")
    assert "sudo" not in str(caught.value.hint)


def _folder(dsn: str) -> str:
    """Return the folder of the socket."""
    found = conninfo_to_dict(dsn)
    return f"{found['host']}/.s.PGSQL.{found['port']}"


def test_what_the_server_refuses_its_own_account_is_refused(dsn: str) -> None:
    with pytest.raises(DatabaseError, match="Cannot connect") as caught:
        connect(dsn, as_server=True, dbname="no_such_database")
    assert "root" in str(caught.value.detail)
    assert os.geteuid() == 0
