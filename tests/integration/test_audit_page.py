"""``kanon audit --html``: the page's statements run as they stand, and no value of a person is on it."""

from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import Result
from psycopg import sql
from typer.testing import CliRunner

from kanon_pg.cli import app
from kanon_pg.cli.audit import write_page
from kanon_pg.errors import LimitExceeded
from tests.fixtures.audit_reports import HOSTILE, Node, parsed

SCHEMA, TABLE = 'Odd "Schema"', 'it\'s "odd" \\ <b>'
COLUMNS = [name for name in HOSTILE if name != "two\nlines"][:6]
RELATION = sql.Identifier(SCHEMA, TABLE)
CELL = 7_000_400_070_000  # so long that no figure on a page (the seconds it took) shows its digits by chance


@pytest.fixture
def odd(dsn: str) -> str:
    """Make a table of hostile names, each cell of which would be recognized on a page."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(SCHEMA)))
        columns = sql.SQL(", ").join(sql.SQL("{} text").format(sql.Identifier(name)) for name in COLUMNS)
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(RELATION, columns))
        cells = sql.SQL(", ").join(
            sql.SQL("'cell' || ({}::bigint + i * {} % {})").format(CELL, place + 1, place + 2)
            for place in range(len(COLUMNS))
        )
        connection.execute(
            sql.SQL("INSERT INTO {} SELECT {} FROM generate_series(1, 90) AS i").format(RELATION, cells)
        )
    return dsn


def audit(dsn: str, page: Path, *options: str) -> Result:
    with psycopg.connect(dsn) as connection:
        relation = RELATION.as_string(connection)
    return CliRunner().invoke(
        app, ["audit", relation, "-k", "4", "--html", str(page), "--dsn", dsn, *options]
    )


def statements(page: Node) -> list[str]:
    return [node.text for node in page.all("code")]


def headings(page: Node) -> list[str]:
    return [node.text for node in page.all("h2")]


def test_statements_of_a_page_run_and_the_next_page_shows_the_release(odd: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    answer = audit(odd, path)
    assert answer.exit_code == 0, answer.output
    assert f"the page is in {path}" in answer.stderr
    page = parsed(path.read_text(encoding="utf-8"))
    assert {"What each k would cost", "Which roles the columns might have"} <= set(headings(page))
    assert [text.split("(")[0] for text in statements(page)] == [
        "SELECT * FROM kanon_suggest",
        "SELECT kanon_declare",
        "SELECT k, suppressed_share, gap FROM kanon_curve",
        "SELECT * FROM kanon_anonymize",
        "SELECT * FROM kanon_audit",
    ]
    with psycopg.connect(odd, autocommit=True) as connection:
        for statement in statements(page):
            assert connection.execute(statement.encode()).fetchall()
    assert audit(odd, path, "--no-curve").exit_code == 0
    page = parsed(path.read_text(encoding="utf-8"))
    assert "What each k would cost" not in headings(page)
    assert "Before and after the release" in headings(page)
    assert "Which roles the columns might have" not in headings(page)
    with psycopg.connect(odd, autocommit=True) as connection:
        for statement in statements(page):
            connection.execute(statement.encode())


@pytest.mark.parametrize("options", [(), ("--markdown",), ("--json",)])
def test_no_value_is_told(odd: str, tmp_path: Path, options: tuple[str, ...]) -> None:
    path = tmp_path / "report.html"
    answer = audit(odd, path, "--no-curve", *options)
    assert answer.exit_code == 0, answer.output
    for text in (path.read_text(encoding="utf-8"), answer.stdout, answer.stderr):
        assert "cell7" not in text
        assert str(CELL)[:-1] not in text


def test_a_page_that_cannot_be_written_is_refused_first(tmp_path: Path, monkeypatch: Any) -> None:
    def unreachable(*_: Any, **__: Any) -> None:
        raise AssertionError("the database was asked")

    monkeypatch.setattr("kanon_pg.cli.audit.connected", unreachable)
    for path, message in (
        (tmp_path / "none" / "report.html", "The page's folder does not exist."),
        (tmp_path, "The page's name is that of a folder."),
    ):
        answer = CliRunner().invoke(app, ["audit", "t", "-k", "5", "--html", str(path)])
        assert answer.exit_code == 1
        assert message in answer.stderr


def test_a_page_that_is_not_finished_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(UnicodeEncodeError):
        write_page("no text \udc80", path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_is_written_although_its_curve_is_not_known(
    odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: Any, **__: Any) -> None:
        raise LimitExceeded("There was no time.", hint="Take more.")

    monkeypatch.setattr("kanon_pg.cli.audit.client.curve", refuses)
    path = tmp_path / "report.html"
    answer = audit(odd, path)
    assert answer.exit_code == 0, answer.output
    assert "the page does not show what each k would cost: There was no time." in answer.stderr
    assert "What each k would cost" not in headings(parsed(path.read_text(encoding="utf-8")))
