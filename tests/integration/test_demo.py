"""The demo's claims hold in every step, run twice from the shell."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kanon_pg.admin.cluster import DEFAULT_NAME, Cluster
from kanon_pg.admin.demo.patients import patients
from kanon_pg.admin.demo.story import ANALYST, READER, SCENES, Actors, Psql, queries, reader
from kanon_pg.cli.demo import DATABASE
from kanon_pg.errors import DatabaseError

pytestmark = pytest.mark.slow

KANON = Path(sys.executable).with_name("kanon")


@dataclass(frozen=True)
class Home:
    """A home of private servers in which the commands run."""

    folder: Path

    def kanon(self, *arguments: str) -> str:
        """Run a command that must succeed; return what it printed."""
        own = {name: text for name, text in os.environ.items() if not name.startswith("PG")}
        done = subprocess.run(
            [KANON, *arguments],
            env={**own, "KANON_CLUSTER_HOME": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    # not tmp_path: pytest closes its folders to every account but the current one
    with tempfile.TemporaryDirectory(prefix="kanon demo ") as folder:
        Path(folder).chmod(0o755)
        home = Home(Path(folder))
        yield home
        home.kanon("down", "--delete")


@pytest.fixture(scope="module")
def shown_again(home: Home) -> list[dict[str, Any]]:
    """The steps of the demo when it runs a second time, after the server was used for something else."""
    first = home.kanon("demo")
    assert "\x1b" not in first
    assert "NOT SO" not in first
    assert "What next" in first
    people = home.folder / "people.csv"
    people.write_text("sex,ward\n" + "F,Oncology\nM,Surgery\n" * 5, encoding="utf-8")
    home.kanon("load", str(people), "people")
    home.kanon("anonymize", "people", "-k", "5")
    home.kanon("uninstall")
    scenes: list[dict[str, Any]] = json.loads(home.kanon("demo", "--json"))["scenes"]
    return scenes


@pytest.fixture(scope="module")
def cast(home: Home, shown_again: list[dict[str, Any]]) -> Actors:
    """Those who ran it, in its database."""
    del shown_again
    cluster = Cluster(DEFAULT_NAME, home=home.folder)
    program = cluster.instance.programs.program("psql")
    environment = {**cluster.client_environment(), "PGDATABASE": DATABASE}
    return Actors(
        owner=Psql(program, environment, superuser=True),
        reader=Psql(program, {**environment, "PGUSER": READER}),
        analyst=Psql(program, {**environment, "PGUSER": ANALYST}),
    )


@pytest.mark.thorough
def test_every_claim_of_the_demo_holds(shown_again: list[dict[str, Any]]) -> None:
    assert [scene["broken"] for scene in shown_again] == [[]] * len(SCENES)
    asked = [exchange["sql"] for scene in shown_again for exchange in scene["exchanges"]]
    assert any("kanon_anonymize('patients', 5)" in sql for sql in asked)
    table = patients()
    people = {*table["first_name"], *table["last_name"]}
    text = " ".join(scene["before"] + scene["after"] for scene in shown_again)
    assert not people & set(text.split())


def test_a_claim_that_does_not_hold_is_found(cast: Actors) -> None:
    assert (reader(cast).broken, queries(cast).broken) == ((), ())
    cast.owner.value(f"GRANT SELECT ON patients TO {READER}, kanon_analyst")
    assert reader(cast).broken == ("the reader is denied: SELECT * FROM patients",)
    assert queries(cast).broken == ("the analyst is denied: SELECT * FROM patients",)


def test_a_refused_query_is_an_error(cast: Actors) -> None:
    with pytest.raises(DatabaseError):
        cast.owner.value("SELECT nothing")
    refused = cast.owner.run("SELECT nothing")
    assert not refused.accepted
    assert "ERROR" in refused.output


def test_psql_does_not_follow_the_environment(cast: Actors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGOPTIONS", "-c search_path=nowhere")
    monkeypatch.setenv("PGUSER", "nobody")
    assert cast.owner.value("SELECT current_setting('search_path')") == '"$user", public'
    assert cast.analyst.value("SELECT current_user") == ANALYST
