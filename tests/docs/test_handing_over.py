"""The statements of the page on handing over, from a database with kanon to one that never had it."""

import subprocess
from pathlib import Path

import psycopg

from kanon_pg.admin.cluster.programs import newest_with_python
from tests.docs.databases import DATABASES, environment
from tests.docs.pages import ROOT, Page
from tests.fixtures.databases import Server

PAGE = Page(ROOT / "docs/how-to/hand-over.md")


def _run(commands: str, dsn: str, replica: str, folder: Path) -> None:
    here = environment(dsn)
    programs = newest_with_python().program("psql").parent
    done = subprocess.run(
        ["bash", "-ec", commands.replace("replica", replica).replace('"dbname=clinic"', f"'{dsn}'")],
        env=here | {"PATH": f"{programs}:{here['PATH']}"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""


def test_a_replica_is_made_and_kept_fresh_as_the_page_says(server: Server, dsn: str, tmp_path: Path) -> None:
    publish, restore, rights, refresh = [block.text for block in PAGE.blocks() if block.kind == "sh"]
    DATABASES["clinic"][1](dsn)
    with server.database("replica") as name, psycopg.connect(dsn, autocommit=True) as connection:
        _run(publish, dsn, name, tmp_path)
        _run(restore.removeprefix("createdb replica\n"), dsn, name, tmp_path)
        connection.execute("SELECT kanon_anonymize('patients', 5, '{sex}', release => 'other')")
        _run(rights, dsn, name, tmp_path)
        try:
            for _ in range(2):
                _run(refresh, dsn, name, tmp_path)
                with psycopg.connect(server.dsn(name), autocommit=True) as replica:
                    replica.execute("SET ROLE researchers")
                    for release in ("patients", "other"):
                        count = f"SELECT count(*), count(sex) FROM safe.{release}".encode()
                        assert replica.execute(count).fetchone() == connection.execute(count).fetchone()
                connection.execute("DELETE FROM patients WHERE admission % 3 = 0")
                connection.execute("SELECT kanon_refresh('patients'), kanon_refresh('other')")
        finally:
            with psycopg.connect(server.dsn(name), autocommit=True) as replica:
                replica.execute("DROP OWNED BY researchers; DROP ROLE researchers")
