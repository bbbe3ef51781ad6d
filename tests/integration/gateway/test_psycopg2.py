"""psycopg2 through the gateway: it writes values into the text, and reads them as text."""

import datetime
import io
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fixtures.gateways import ClinicGateway

psycopg2 = pytest.importorskip(
    "psycopg2", reason="PSYCOPG2 IS NOT TESTED: install psycopg2-binary (make development does)"
)


@pytest.fixture
def connection(gateway: ClinicGateway) -> Iterator[Any]:
    connection = psycopg2.connect(gateway.dsn())
    yield connection
    connection.close()


def rows(connection: Any, text: str, *values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(text, values or None)
        return list(cursor.fetchall())


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        ("sex = %s", "F", 600),
        ("ward in %s", ("Surgery", "Oncology"), 800),
        ("birth_date > %s", datetime.date(1900, 1, 1), 1200),
        ("birth_date > %s", datetime.datetime(1900, 1, 1), 1200),
        ("birth_date > %s", datetime.datetime(1900, 1, 1, tzinfo=datetime.UTC), 1200),
        ("cost > %s", -12, 1200),
        ("cost > %s", 12.5, 1200),
        ("%s", True, 1200),
    ],
)
def test_values_are_written_into_the_text(connection: Any, condition: str, value: Any, expected: int) -> None:
    assert rows(connection, f"select count(*) from patients where {condition}", value) == [(expected,)]


def test_named_cursors_and_copies(connection: Any) -> None:
    with connection, connection.cursor("named") as cursor:
        cursor.itersize = 2
        cursor.execute("select ward, sex, count(*) from patients group by ward, sex")
        assert [row[2] for row in cursor] == [200] * 6
    copied = io.StringIO()
    with connection.cursor() as cursor:
        cursor.copy_expert(
            "copy (select ward, count(*) from patients group by ward order by ward) to stdout csv", copied
        )
    assert copied.getvalue().splitlines()[0] == "Cardiology,400"


def test_settings(connection: Any) -> None:
    connection.set_client_encoding("UTF8")
    connection.set_client_encoding("UNICODE")
    assert rows(connection, "select 'ä'") == [("ä",)]
    connection.set_client_encoding("LATIN1")
    assert rows(connection, "select 'ä'") == [("ä",)]
    assert rows(connection, "select count(*) from patients where ward <> 'x'") == [(1200,)]
    connection.set_client_encoding("UTF8")
    connection.set_session(isolation_level="READ COMMITTED", readonly=True, autocommit=True)
    assert rows(connection, "select count(*) from patients") == [(1200,)]


def test_errors_have_their_codes(connection: Any) -> None:
    for text, code in (("selec 1", "42601"), ("select name from patients", "KA901")):
        with pytest.raises(psycopg2.Error) as caught:
            rows(connection, text)
        assert caught.value.pgcode == code
        connection.rollback()
