"""The commands ``kanon hierarchy ...`` with their mistakes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from kanon_pg.cli import app

Run = Callable[..., Any]

_WARDS = "level_0,level_1,level_2\nCardiology,internal,*\nOncology,internal,*\nSurgery,surgical,*\n"


@pytest.fixture
def run(dsn: str) -> Run:
    """Return what runs a command of ``kanon hierarchy`` and returns its JSON, or its error."""

    def call(name: str, *arguments: str) -> Any:
        result = CliRunner().invoke(app, ["hierarchy", name, *arguments, "--dsn", dsn, "--json"])
        text = result.stdout if result.exit_code == 0 else result.stderr.splitlines()[-1]
        return json.loads(text)

    return call


@pytest.fixture
def tables(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("create table people as select generate_series(18, 57) as age")
        connection.execute(
            "create table codes as select * from (values ('I21', 'I'), ('I', 'all'), ('K', 'all'))"
            " as entries (code, parent)"
        )


def test_a_hierarchy_is_built_listed_shown_and_dropped(run: Run, tables: None, tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text('{"builder": "intervals", "width": [10, 20]}')
    done = run("build", "ages", "people", "age", f"@{spec}", "--description", "in tens", "--shared")
    assert done == {"action": "stored", "hierarchy": "ages", "version": 1}
    (listed,) = run("list")
    assert (listed["nodes"], listed["output"], listed["description"], listed["shared"]) == (
        [40, 5, 3, 1],
        "int4range",
        "in tens",
        True,
    )
    drawing = tmp_path / "ages.svg"
    top = run("show", "ages", "--plot", str(drawing))
    assert [child["label"] for child in top["children"]] == ["[0,20)", "[20,40)", "[40,60)"]
    assert "[20,30)" in drawing.read_text()
    assert run("drop", "ages") == {"action": "dropped", "hierarchy": "ages", "version": None}
    assert run("list") == []
    assert run("show", "ages")["sqlstate"] == "KA101"


def test_a_hierarchy_is_loaded_from_a_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "wards.csv"
    file.write_text(_WARDS)
    assert run("load", "wards", str(file))["version"] == 1
    file.write_text(_WARDS.replace("Oncology,internal", "Oncology,surgical").replace(",", ";"))
    assert run("load", "wards", str(file))["version"] == 2
    assert [child["leaves"] for child in run("show", "wards")["children"]] == [1, 2]
    file.write_text(_WARDS.replace("level_", "step").replace(",", "|"))
    assert run("load", "wards", str(file), "--delimiter", "|", "--header")["version"] == 3
    assert [child["leaves"] for child in run("show", "wards")["children"]] == [2, 1]


def test_a_hierarchy_is_loaded_from_a_table(run: Run, tables: None) -> None:
    arguments = ("load", "codes", "--table", "codes", "--child", "code", "--parent", "parent")
    assert "less deep" in run(*arguments)["message"]
    assert run(*arguments, "--repeat")["version"] == 1
    assert run("list")[0]["nodes"] == [2, 2, 1]
    assert run(*arguments, "--inner")["version"] == 2
    assert run("list")[0]["nodes"] == [4, 3, 1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("load", "none"),
        ("load", "both", "file.csv", "--table", "codes"),
        ("load", "none", "there_is_no_such_file.csv"),
        ("build", "none", "people", "age", "{"),
        ("build", "none", "people", "age", "@there_is_no_such_file.json"),
        ("build", "n" * 64, "people", "age", '{"builder": "prefix"}'),
        ("show", "none", "--plot", "figure.txt"),
    ],
)
def test_mistakes_are_refused_before_anything_is_stored(
    run: Run, tables: None, arguments: tuple[str, ...]
) -> None:
    assert run(*arguments)["sqlstate"] == "KA100"
    assert run("list") == []


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("file", "--child", "code"), "--child"),
        (("file", "--parent", "parent"), "--parent"),
        (("file", "--repeat"), "--repeat"),
        (("file", "--inner"), "--inner"),
        (("--table", "codes", "--delimiter", ","), "--delimiter"),
        (("--table", "codes", "--header"), "--header"),
        (("--table", "codes", "--no-header"), "--no-header"),
        (("file", "--child", "", "--inner"), "--child and --inner"),
    ],
)
def test_options_that_would_have_no_effect_are_refused(
    run: Run, tables: None, tmp_path: Path, arguments: tuple[str, ...], named: str
) -> None:
    file = tmp_path / "wards.csv"
    file.write_text(_WARDS)
    refused = run("load", "wards", *(str(file) if one == "file" else one for one in arguments))
    assert refused.get("sqlstate") == "KA100"
    assert f", {named} would have no effect." in refused["message"]
    assert run("list") == []


def test_people_see_lines(dsn: str, tables: None) -> None:
    def text(*arguments: str) -> str:
        return CliRunner().invoke(app, ["hierarchy", *arguments, "--dsn", dsn]).stdout

    assert "There are no hierarchies yet" in text("list")
    assert text("build", "ages", "people", "age", '{"builder": "prefix"}') == "stored ages, version 1\n"
    assert "40 > 5 > 1" in text("list")
    assert text("show", "ages", "--most", "1").splitlines()[:2] == ["*  (40 values)", "├── 1*  (2 values)"]
    assert text("drop", "ages") == "dropped ages\n"
