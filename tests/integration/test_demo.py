"""The demo's story holds: every scene's claims, on a fresh database and from the shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from kanon_pg.admin.cluster.programs import newest_with_python
from kanon_pg.admin.demo.living import analyst
from kanon_pg.admin.demo.patients import patients
from kanon_pg.admin.demo.psql import Psql
from kanon_pg.admin.demo.scene import ANALYST, Cast, Scene
from kanon_pg.admin.demo.story import SCENES, tell
from kanon_pg.admin.demo.table import create_patients
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import PsycopgDatabase, connect
from kanon_pg.db.queries import statement
from kanon_pg.errors import DatabaseError
from tests.fixtures.databases import Server

pytestmark = pytest.mark.slow

KANON = Path(sys.executable).with_name("kanon")


@pytest.fixture(scope="module")
def cast(server: Server, kanon_template: str) -> Iterator[Cast]:
    with server.database("demo", kanon_template) as name:
        with connect(server.dsn(name)) as client:
            assert create_patients(client, patients()) == patients().num_rows
            PsycopgDatabase(client).execute(statement("demo_create_analyst", role=Identifier.of(ANALYST)))
        environment = {
            "PGHOST": server.host,
            "PGPORT": str(server.port),
            "PGUSER": server.user,
            "PGDATABASE": name,
        }
        program = newest_with_python().program("psql")
        yield Cast(
            owner=Psql(program, environment, superuser=True),
            analyst=Psql(program, {**environment, "PGUSER": ANALYST}),
        )
        with psycopg.connect(server.dsn(name), autocommit=True) as connection:
            connection.execute(f"DROP OWNED BY {ANALYST}; DROP ROLE {ANALYST}")


@pytest.fixture(scope="module")
def told(cast: Cast) -> list[Scene]:
    """The whole story, which takes half a minute, told once."""
    return list(tell(cast))


def test_every_claim_of_the_story_holds(told: list[Scene]) -> None:
    assert [scene.broken for scene in told] == [()] * len(SCENES)
    assert any("kanon_anonymize('patients', 5)" in e.sql for scene in told for e in scene.exchanges)
    people = {
        name for row in patients().select(["first_name", "last_name"]).to_pylist() for name in row.values()
    }
    text = " ".join(scene.before + scene.after for scene in told)
    assert not people & set(text.split())


def test_a_claim_that_does_not_hold_is_found(told: list[Scene], cast: Cast) -> None:
    assert analyst(cast).broken == ()
    cast.owner.value("GRANT SELECT ON patients TO kanon_analyst")
    assert analyst(cast).broken == ("the analyst is denied: SELECT * FROM patients",)


def test_a_refused_question_is_an_error(cast: Cast) -> None:
    with pytest.raises(DatabaseError):
        cast.owner.value("SELECT nothing")
    refused = cast.owner.ask("SELECT nothing")
    assert not refused.accepted
    assert "ERROR" in refused.output


def test_psql_does_not_follow_the_environment(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGOPTIONS", "-c search_path=nowhere")
    monkeypatch.setenv("PGUSER", "nobody")
    assert cast.owner.value("SELECT current_setting('search_path')") == '"$user", public'
    assert cast.analyst.value("SELECT current_user") == ANALYST


@pytest.mark.slow
def test_the_demo_runs_from_the_shell_and_runs_again() -> None:
    # not tmp_path: pytest closes its folders to every account but the current one
    with tempfile.TemporaryDirectory(prefix="kanon demo ") as home:
        Path(home).chmod(0o755)
        own = {name: text for name, text in os.environ.items() if not name.startswith("PG")}
        environment = {**own, "KANON_CLUSTER_HOME": home}

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [KANON, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=300
            )

        try:
            first = run("demo")
            assert first.returncode == 0, first.stderr
            assert "\x1b" not in first.stdout
            assert "NOT SO" not in first.stdout
            assert "What next" in first.stdout
            people = Path(home) / "people.csv"
            people.write_text("sex,ward\n" + "F,Oncology\nM,Surgery\n" * 5, encoding="utf-8")
            for shown in (["load", str(people), "people"], ["anonymize", "people", "5"], ["uninstall"]):
                done = run(*shown)
                assert done.returncode == 0, done.stderr
            second = run("demo", "--json")
            assert second.returncode == 0, second.stderr
            report = json.loads(second.stdout)
            assert len(report["scenes"]) == len(SCENES)
        finally:
            run("down", "--delete")
