"""The commands that group a column, as a user runs them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from kanon_pg.admin.install.installer import install
from kanon_pg.cli import app
from tests.fixtures.databases import Server

_PREPARE = b"""
create table things as
select i % 40 as age, 'name ' || i % 17 as name, i % 13 as x, i * i % 11 as y, i % 3 as load
from generate_series(1, 400) as i;
create table roads as
select 'name ' || i as a, 'name ' || i + 1 as b, i as far from generate_series(0, 15) as i;
"""


@pytest.fixture(scope="module")
def tables(server: Server) -> Iterator[str]:
    """Yield a database with tables."""
    with server.database("grouped") as name:
        install(server.dsn(name))
        with psycopg.connect(server.dsn(name), autocommit=True) as connection:
            connection.execute(_PREPARE)
        yield server.dsn(name)


def run(dsn: str, *arguments: str, code: int = 0) -> tuple[str, str]:
    answer = CliRunner().invoke(app, ["group", *arguments, "--dsn", dsn])
    assert answer.exit_code == code, answer.output
    return answer.stdout, answer.stderr


def result(dsn: str, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(dsn, *arguments, "--json")[0])
    return found


def test_each_way_of_grouping(tables: str, tmp_path: Path) -> None:
    ways = {
        "intervals": ("things", "age"),
        "labels": ("things", "name", "--method", "exact", "--cost", "sum"),
        "regions": ("things", "name", "roads", "--neighbours", "b,a", "--at", "x,y", "--weight", "load"),
        "rectangles": ("things", "x", "y"),
    }
    for way, arguments in ways.items():
        path = tmp_path / f"{way}.svg"
        found = result(tables, way, *arguments, "-k", "50", "--plot", str(path))
        assert found["kind"] == way
        assert min(one["size"] for one in found["classes"]) >= 50
        assert {value["class_number"] for value in found["values"]} == {
            one["number"] for one in found["classes"]
        }
        assert path.stat().st_size > 1000


def test_the_table_says_what_is_proven(tables: str) -> None:
    output, _ = run(tables, "intervals", "things", "age", "-k", "50")
    assert "proven to be the least" in output
    assert "[0,5)" in output
    output, _ = run(tables, "labels", "things", "name", "-k", "50", "--weight", "load")
    assert "load, at least k = 50" in output


def test_long_results_are_cut(tables: str) -> None:
    output, _ = run(tables, "rectangles", "things", "x", "y", "-k", "2")
    assert "more classes; --json has all of them" in output


def test_refusals(tables: str) -> None:
    _, errors = run(tables, "labels", "things", "none", "-k", "5", code=1)
    assert "KA101" in errors
    _, errors = run(tables, "labels", "things", "name", "-k", "5", "--plot", "figure.txt", code=1)
    assert "which format" in errors
    _, errors = run(tables, "regions", "things", "name", "roads", "-k", "5", "--at", "x", code=1)
    assert "two columns" in errors
