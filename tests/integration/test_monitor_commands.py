"""The commands ``kanon health``, ``history`` and ``metrics``, and their functions in Python."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from kanon_pg import client
from kanon_pg.cli import app
from tests.fixtures.databases import role

Run = Callable[..., str]


@pytest.fixture
def run(dsn: str) -> Run:
    def call(*arguments: str) -> str:
        answer = CliRunner().invoke(app, [*arguments, "--dsn", dsn])
        assert answer.exit_code == 0, answer.stderr
        return answer.stdout

    return call


@pytest.fixture
def published(connection: psycopg.Connection[Any]) -> None:
    connection.execute("create table people as select i % 4 as age from generate_series(1, 40) as i")
    connection.execute("select kanon_anonymize('people', 5)")
    connection.execute("insert into people values (9)")


def test_what_needs_doing_is_shown(run: Run, published: None, dsn: str) -> None:
    assert "kanon_refresh('people')" in run("health")
    (found,) = json.loads(run("health", "--json"))
    assert (found["object"], found["missing_rows"], found["guard"]) == ("safe.people", 1, "holds")
    assert [one.advice for one in client.health(dsn)] == [found["advice"]]


def test_the_history_is_shown_the_latest_last(run: Run, published: None, dsn: str) -> None:
    run("refresh", "people")
    run("drop", "people")
    found = json.loads(run("history", "--json"))
    assert [one["operation"] for one in found] == ["anonymize", "refresh", "drop"]
    assert [one["operation"] for one in json.loads(run("history", "--most", "1", "--json"))] == ["drop"]
    assert [one.happened_at for one in client.history(dsn)] == [one["happened_at"] for one in found]
    assert "drop" in run("history")


def test_metrics_are_those_of_the_view(run: Run, published: None, tmp_path: Path) -> None:
    file = tmp_path / "kanon.prom"
    run("metrics", str(file))
    for text in (run("metrics"), file.read_text()):
        found = {one.name: one.samples for one in text_string_to_metric_families(text)}
        (rows,) = found["kanon_release_missing_rows"]
        assert (rows.labels, rows.value) == ({"release": "safe.people"}, 1)


def test_there_is_nothing_yet(run: Run, dsn: str) -> None:
    assert "no releases" in run("health")
    assert "Nothing" in run("history")
    assert "kanon_release_rows" in run("metrics")


@pytest.mark.parametrize("command", [["health"], ["releases"], ["refresh", "people"]])
def test_who_may_not_is_told_which_role_may(published: None, dsn: str, command: list[str]) -> None:
    with role(dsn, "reader_only", "IN ROLE kanon_analyst") as name:
        answer = CliRunner().invoke(app, [*command, "--dsn", make_conninfo(dsn, user=name)])
    assert answer.exit_code == 1
    assert "GRANT kanon_curator" in answer.stderr
