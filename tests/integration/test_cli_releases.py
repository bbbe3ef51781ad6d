"""The commands on tables and releases, run as a user runs them."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from kanon_pg.cli import app

pytestmark = pytest.mark.slow

KANON = Path(sys.executable).with_name("kanon")
ROWS = (
    "SELECT i AS id, 20 + i % 7 AS age, CASE WHEN i % 3 = 0 THEN 'F' ELSE 'M' END AS sex, i % 11 AS illness"
)


def start(dsn: str, *arguments: str) -> subprocess.Popen[str]:
    own = {name: text for name, text in os.environ.items() if not name.startswith("PG")}
    return subprocess.Popen(
        [KANON, *arguments, "--dsn", dsn],
        env={**own, "TERM": "dumb", "PGCONNECT_TIMEOUT": "10"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kanon(dsn: str, *arguments: str, code: int = 0) -> tuple[str, str]:
    process = start(dsn, *arguments)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    return output, errors


def result(dsn: str, *arguments: str) -> Any:
    """Run a command in this process, because there are many of these, and return what it prints as JSON."""
    answer = CliRunner().invoke(app, [*arguments, "--dsn", dsn, "--json"])
    assert answer.exit_code == 0, answer.stderr
    return json.loads(answer.stdout)


def refusal(dsn: str, *arguments: str) -> dict[str, Any]:
    """Run a command in this process, because there are many of these, and return its error."""
    answer = CliRunner().invoke(app, [*arguments, "--dsn", dsn, "--json"])
    assert answer.exit_code == 1
    assert answer.stdout == ""
    found: dict[str, Any] = json.loads(answer.stderr)
    assert set(found) == {"sqlstate", "message", "detail", "hint"}
    return found


@pytest.fixture
def people(dsn: str, connection: psycopg.Connection) -> str:
    """Yield the DSN of a database with a table of 500 people."""
    connection.execute(f"CREATE TABLE people AS {ROWS} FROM generate_series(1, 500) AS i")
    return dsn


def test_the_life_of_a_release(people: str, tmp_path: Path, connection: psycopg.Connection) -> None:
    declared = result(
        people,
        "declare",
        "people",
        "--identifier=id",
        "--quasi-identifier=age",
        "--quasi-identifier=sex",
        "--sensitive=illness",
        "--weight=age=2",
    )
    assert declared == {"action": "declared", "object": "people"}
    report = result(people, "anonymize", "people", "-k", "5")
    assert report["release"] == '"safe"."people"'
    assert report["k"] == 5
    assert report["rows"] == report["people"] == 500
    assert report["smallest_class"] >= 5
    (listed,) = result(people, "releases")
    assert listed["release"] == "people"
    assert {name: listed[name] for name in ("k", "rows", "classes")} == {
        name: report[name] for name in ("k", "rows", "classes")
    }
    path = tmp_path / "people.parquet"
    exported = result(people, "export", "people", str(path))
    assert exported["rows"] == 500
    table = parquet.read_table(path)
    assert set(table.column_names) == {"age", "sex", "illness", "kanon_suppressed"}
    connection.execute("DELETE FROM people WHERE age = 22 AND id > 30")
    assert result(people, "refresh", "people") == {"action": "refreshed", "object": "people"}
    left = connection.execute("SELECT count(*) FROM people").fetchone()
    shown = connection.execute("SELECT count(*) FROM safe.people").fetchone()
    assert left is not None
    assert shown is not None
    assert shown[0] <= left[0]
    assert result(people, "drop", "people") == {"action": "dropped", "object": "people"}
    assert result(people, "releases") == []
    assert result(people, "undeclare", "people") == {"action": "undeclared", "object": "people"}


def test_options_reach_the_solver(people: str) -> None:
    arguments = [
        "anonymize",
        "people",
        "-k",
        "7",
        "--quasi-identifier=age",
        "--quasi-identifier=sex",
        "--sensitive=illness",
        "--method=greedy",
        '--patterns={"never": ["sex"]}',
        "--time-limit=60",
        "--release=Odd Name",
        "--seed=3",
    ]
    report = result(people, *arguments)
    assert report["release"] == '"safe"."Odd Name"'
    assert report["smallest_class"] >= 7
    (listed,) = result(people, "releases")
    assert listed["release"] == "Odd Name"


def test_models_and_class_limits_reach_the_release(people: str, connection: psycopg.Connection) -> None:
    asked = {
        "l": 2,
        "diversity": "distinct",
        "p": 2,
        "t": 0.9,
        "distance": "ordered",
        "fewest_classes": 1,
        "most_classes": 400,
    }
    options = [f"--{name.replace('_', '-')}={value}" for name, value in asked.items()]
    roles = ["--quasi-identifier=age", "--quasi-identifier=sex", "--sensitive=illness"]
    report = result(people, "anonymize", "people", "-k", "5", *roles, *options)
    assert 1 <= report["classes"] <= 400
    recorded = connection.execute("SELECT parameters FROM kanon.releases").fetchone()
    assert recorded is not None
    assert {name: recorded[0][name] for name in asked} == asked


def test_hierarchies_reach_the_release(people: str, connection: psycopg.Connection) -> None:
    result(
        people,
        "hierarchy",
        "build",
        "ages",
        "people",
        "age",
        '{"builder": "intervals", "width": 3}',
    )
    options = ["--quasi-identifier=age", "--quasi-identifier=sex", "--hierarchy=age=ages"]
    result(people, "anonymize", "people", "-k", "5", *options)
    wished = """--hierarchy=sex={"builder": "priority", "lowest": 1}"""
    report = result(people, "anonymize", "people", "-k", "5", *options, wished)
    assert report["smallest_class"] >= 5
    recorded = connection.execute(
        "SELECT generalized::text[], parameters -> 'hierarchies' FROM kanon.releases"
    )
    assert recorded.fetchall() == [
        (
            ["age", "sex"],
            {
                "age": {"hierarchy": "ages", "lowest": 0, "loss": "ncp"},
                "sex": {"builder": "priority", "lowest": 1, "loss": "ncp"},
            },
        )
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["anonymize", "people", "-k", "5", "--patterns={"], "not valid JSON"),
        (["anonymize", "people", "-k", "5", "--patterns=@/nowhere"], "cannot be read"),
        (["anonymize", "people", "-k", "5", "--hierarchy=age"], "not written COLUMN=NAME"),
        (["anonymize", "people", "-k", "5", "--hierarchy=age={"], "not valid"),
        (["declare", "people", "--weight=age"], "COLUMN=NUMBER"),
    ],
)
def test_what_only_a_command_can_get_wrong(arguments: list[str], words: str) -> None:
    """Refused before there is a connection."""
    found = refusal("host=/nowhere", *arguments)
    assert found["sqlstate"] == "KA100"
    assert words in found["message"]


@pytest.mark.parametrize(
    ("arguments", "sqlstate", "words"),
    [
        (["anonymize", "people", "-k", "1"], "KA100", "k must be at least 2"),
        (["anonymize", "people", "-k", "501", "--quasi-identifier=age"], "KA200", "fewer than k"),
        (["anonymize", "nowhere", "-k", "5"], "KA101", "no table or view"),
        (["anonymize", "people", "-k", "5", "--hierarchy=age=nothing"], "KA101", 'no hierarchy "nothing"'),
        (["anonymize", "people", "-k", "5", "--release=" + "n" * 64], "KA100", "longer than 63 bytes"),
        (["anonymize", "people", "-k", "5", "--time-limit=nan"], "KA100", "time_limit must be"),
        (["anonymize", "people", "-k", "5", "--time-limit=inf"], "KA100", "time_limit must be"),
        (["anonymize", "people", "-k", "5", "--time-limit=1e300"], "KA100", "time_limit must be"),
        (["anonymize", "people", "-k", "5", "--time-limit=-1"], "KA100", "time_limit must be"),
        (["certificate", "nothing", "nowhere.json", "--time-limit=nan"], "KA100", "time_limit must be"),
        (["declare", "people", "--quasi-identifier=age", "--sensitive=age"], "KA104", "age"),
        (["refresh", "nothing"], "KA101", 'no release "nothing"'),
        (["drop", "nothing"], "KA101", 'no release "nothing"'),
    ],
)
def test_refusals_are_json_with_exit_code_1(
    people: str, arguments: list[str], sqlstate: str, words: str
) -> None:
    """What the services refuse besides is in ``tests/integration/services``."""
    found = refusal(people, *arguments)
    assert found["sqlstate"] == sqlstate
    assert words in found["message"]
    assert not found["message"].startswith("plpy")


def test_refusals_for_people_have_message_and_hint(people: str) -> None:
    output, errors = kanon(people, "anonymize", "people", "-k", "1", code=1)
    assert output == ""
    assert "k must be at least 2" in errors
    assert "hint: " in errors


def test_output_for_people_is_not_cut_off_in_a_pipe(people: str) -> None:
    output, errors = kanon(
        people, "anonymize", "people", "-k", "5", "--quasi-identifier=age", "--quasi-identifier=sex"
    )
    assert "recounted: at least" in output
    assert "\x1b" not in output + errors
    listed, _ = kanon(people, "releases")
    assert len(listed.splitlines()) == 2


def test_wrong_usage_has_exit_code_2(people: str) -> None:
    kanon(people, "anonymize", "people", code=2)
    for arguments in (["anonymize", "people", "-k", "x"], ["load", "a.csv"], ["nonsense"]):
        assert CliRunner().invoke(app, [*arguments, "--dsn", people]).exit_code == 2


def test_a_database_without_kanon_says_so(empty_dsn: str, empty_connection: psycopg.Connection) -> None:
    empty_connection.execute("CREATE TABLE people AS SELECT 1 AS a")
    found = refusal(empty_dsn, "anonymize", "people", "-k", "5")
    assert found["sqlstate"] == "KA500"
    assert "kanon install" in found["hint"]
    assert refusal(empty_dsn, "releases") == found


def test_a_server_that_is_not_there_says_so() -> None:
    found = refusal("host=/nowhere", "releases")
    assert found["sqlstate"] == "KA400"
    assert "kanon up" in found["hint"]
    assert re.search(r'socket "/nowhere/[^"]+" failed: No such file or directory', found["detail"])
    assert "\n" not in found["detail"]
    assert "\t" not in found["detail"]


def test_hints_are_those_of_sql(people: str) -> None:
    assert refusal(people, "drop", "nothing")["hint"] == "SELECT * FROM kanon.releases lists them."


def test_load_from_the_shell(dsn: str, tmp_path: Path, connection: psycopg.Connection) -> None:
    path = tmp_path / "a.csv"
    path.write_text("zip\tn\n01234\t1\n\t2\n")
    report = result(dsn, "load", str(path), '"My Table"', "--delimiter", "tab", "--text", "n")
    assert report["table"] == '"public"."My Table"'
    assert report["rows"] == 2
    assert [(one["name"], one["sql_type"]) for one in report["columns"]] == [("zip", "text"), ("n", "text")]
    assert connection.execute('SELECT * FROM "My Table" ORDER BY n').fetchall() == [
        ("01234", "1"),
        (None, "2"),
    ]
    assert refusal(dsn, "load", str(path), '"My Table"')["sqlstate"] == "KA100"
    kanon(dsn, "load", str(path), '"My Table"', "--delimiter", "tab", "--if-exists", "append")
    assert connection.execute('SELECT count(*) FROM "My Table"').fetchone() == (4,)


def test_interrupting_leaves_nothing_and_exits_with_130(people: str, connection: psycopg.Connection) -> None:
    with psycopg.connect(people) as blocker:
        # The call waits for this lock, so the signal surely meets it at work.
        blocker.execute("LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
        process = start(people, "anonymize", "people", "-k", "5", "--time-limit=300")
        while not _waiting(connection):
            assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in errors
        assert not _waiting(connection)
    assert connection.execute("SELECT count(*) FROM kanon.release").fetchone() == (0,)


def _waiting(connection: psycopg.Connection) -> bool:
    found = connection.execute(
        "SELECT pg_sleep(0.02), count(*) FROM pg_locks WHERE NOT granted AND database ="
        " (SELECT oid FROM pg_database WHERE datname = current_database())"
    ).fetchone()
    assert found is not None
    return bool(found[1])


def test_releases_are_handed_over_together(
    people: str, tmp_path: Path, connection: psycopg.Connection
) -> None:
    for release in ("one", "two"):
        result(people, "anonymize", "people", "-k", "5", "--quasi-identifier=sex", f"--release={release}")
    folder = result(people, "export", "--all", str(tmp_path / "all"), "--format=parquet")
    assert [one["release"] for one in folder["releases"]] == ["one", "two"]
    assert parquet.read_table(tmp_path / "all" / "two.parquet").num_rows == 500
    named = result(people, "export", "two", "--all", str(tmp_path / "named"), "--bounds")
    assert [one["release"] for one in named["releases"]] == ["two"]
    script = tmp_path / "releases.sql"
    assert result(people, "dump", "--file", str(script)) == {"releases": ["one", "two"], "rows": 1000}
    piped, errors = kanon(people, "dump", "two")
    assert errors == ""
    assert "COPY" in piped
    assert ('"one"' in script.read_text(), '"one"' in piped) == (True, False)
    assert "are needed" in refusal(people, "export", "one")["message"]
    assert "no release" in refusal(people, "dump", "three")["message"]


def test_what_is_said_of_a_file_goes_before_what_is_guessed(people: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes('born;cost;name\n01/02/1980;"1,234";Müller\nNA;"";"NA"\n'.encode("latin-1"))
    guessed = result(people, "load", str(path), "guessed")
    assert [column["sql_type"] for column in guessed["columns"]] == ["text"] * 3
    assert len(guessed["guesses"]) == 3
    told = ("--date-format=MDY", "--decimal=,", "--encoding=latin-1", "--null=NA")
    said = result(people, "load", str(path), "said", *told)
    assert [column["sql_type"] for column in said["columns"]] == ["date", "numeric", "text"]
    assert said["guesses"] == []
    with psycopg.connect(people) as connection:
        rows = connection.execute("SELECT born::text, cost::text, name FROM said ORDER BY born").fetchall()
        assert rows == [("1980-01-02", "1.234", "Müller"), (None, None, None)]
        result(people, "load", str(path), "strict", "--null=", "--date-format=MDY", "--encoding=latin-1")
        assert connection.execute("SELECT born, name FROM strict ORDER BY name DESC").fetchall() == [
            ("NA", "NA"),
            ("01/02/1980", "Müller"),
        ]
    output, errors = kanon(people, "load", str(path), "noted")
    assert errors.count("note: ") == 3
    assert "note:" not in output


def test_a_table_is_protected_and_a_person_erased(people: str) -> None:
    with psycopg.connect(people, autocommit=True) as connection:
        connection.execute("alter table people add primary key (id)")
        result(people, "declare", "people", "--identifier=id", "--quasi-identifier=age")
        assert result(people, "protect", "people", "-k", "7", "--options", '{"mode": "reject"}') == {
            "action": "protected",
            "object": "people",
        }
        rules = "select k, mode from kanon.protections"
        assert connection.execute(rules).fetchall() == [(7, "reject")]
        assert refusal(people, "protect", "people", "-k", "1")["sqlstate"] == "KA100"
        assert "not valid JSON" in refusal(people, "protect", "people", "--options={")["message"]
        result(people, "unprotect", "people")
        assert connection.execute(rules).fetchall() == []
        assert refusal(people, "unprotect", "people")["sqlstate"] == "KA101"
        result(people, "anonymize", "people", "-k", "3", "--remember=2")
        assert refusal(people, "erase", "people", "8")["sqlstate"] == "KA100"
        connection.execute("delete from people where id = 8")
        assert result(people, "erase", "people", "8") == {
            "action": "erased a person from",
            "object": "people",
        }
        assert refusal(people, "erase", "people", "8")["sqlstate"] == "KA101"
