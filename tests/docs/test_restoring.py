"""The statements of the page on dump and restore, from one server to another that knows nothing of kanon."""

import subprocess
from pathlib import Path

import psycopg
import pytest

from kanon_pg.admin.cluster.programs import newest_with_python
from tests.docs.databases import DATABASES, environment
from tests.docs.pages import ROOT, Page
from tests.fixtures.databases import Server, private_server

PAGE = Page(ROOT / "docs/how-to/dump-restore-upgrade.md")


def _run(commands: str, dsn: str, folder: Path, *, ends: int = 0) -> str:
    here = environment(dsn)
    programs = newest_with_python().program("psql").parent
    done = subprocess.run(
        ["sh", "-ec", commands],
        env=here | {"PATH": f"{programs}:{here['PATH']}"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ends, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.thorough
def test_a_database_moves_to_another_server_as_the_page_says(
    server: Server, dsn: str, tmp_path: Path
) -> None:
    dump, restore = [block.text for block in PAGE.blocks() if block.kind == "sh"]
    _, prepare = DATABASES["asked"]
    prepare(dsn)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP OWNED BY ada; DROP ROLE ada")
        connection.execute("SELECT kanon_protect('patients', 5, '{\"beside_releases\": \"warn\"}')")
        connection.execute("SELECT kanon_anonymize('patients', 5)")
        name = connection.info.dbname
        _run(dump.replace("clinic", name), dsn, tmp_path)
        released = connection.execute("SELECT count(*) FROM safe.patients").fetchone()
    with private_server("restoring") as other:
        said = _run(restore, other.dsn("postgres"), _renamed(tmp_path, name), ends=1)
        assert "1 of 1 record(s) cannot be used" in said
        with psycopg.connect(other.dsn("clinic"), autocommit=True) as connection:
            assert connection.execute("SELECT count(*) FROM safe.patients").fetchone() == released
            connection.execute("SELECT kanon_refresh('patients')")
            with pytest.raises(psycopg.Error) as caught:
                connection.execute("SELECT kanon_query('SELECT count(*) FROM patients')")
            assert caught.value.sqlstate in ("KA800", "KA902")
            connection.execute("SELECT kanon.restart_record('patients')")
            connection.execute("SELECT kanon_query('SELECT count(*) FROM patients')")


def _renamed(folder: Path, name: str) -> Path:
    (folder / f"{name}.dump").rename(folder / "clinic.dump")
    return folder
