"""psycopg through the gateway: parameters, formats, cursors, pipelines, transactions, cancel."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import date
from decimal import Decimal

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.fixtures.gateways import ENDLESS, ClinicGateway, cancelling

BY_WARD = "select ward, count(*) as n, avg(cost) as mean from patients group by ward order by ward"


def test_a_query_has_names_types_and_values(client: psycopg.Connection) -> None:
    cursor = client.execute(BY_WARD)
    assert cursor.description is not None
    assert [(column.name, column.type_code) for column in cursor.description] == [
        ("ward", 25),
        ("n", 20),
        ("mean", 1700),
    ]
    rows = cursor.fetchall()
    assert [row[:2] for row in rows] == [("Cardiology", 400), ("Oncology", 400), ("Surgery", 400)]
    assert isinstance(rows[0][2], Decimal)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("prepare", [False, True])
def test_parameters_of_all_kinds(client: psycopg.Connection, binary: bool, prepare: bool) -> None:
    query = (
        "select ward, count(*) from patients where sex = %s and cost >= %s and birth_date >= %s"
        " and ward in (%s, %s) group by ward order by ward"
    )
    values = ["F", Decimal(0), date(1900, 1, 1), "Oncology", "Surgery"]
    for _ in range(3):
        rows = client.execute(query, values, binary=binary, prepare=prepare).fetchall()
        assert rows == [("Oncology", 200), ("Surgery", 200)]


def test_values_may_hold_what_sql_gives_a_meaning(client: psycopg.Connection) -> None:
    client.execute("select count(*) from patients where ward <> %s", ["'; drop table \\x $1 %s --"])
    text = "select count(*) from patients where ward <> 'it''s \\ $1 -- \u00df'"
    assert client.execute(text).fetchone() == (1200,)


def test_null_is_a_value(client: psycopg.Connection) -> None:
    rows = client.execute("select ward, count(*) from wards where %s::text is null group by ward", [None])
    assert len(rows.fetchall()) == 3


def test_columns_may_have_the_same_name(client: psycopg.Connection) -> None:
    cursor = client.execute('select count(*), count(*), count(*) as "A ""b" from patients')
    assert [column.name for column in cursor.description or ()] == ["count", "count", 'A "b']
    assert cursor.fetchall() == [(1200, 1200, 1200)]


def test_a_named_cursor_fetches_in_portions(client: psycopg.Connection) -> None:
    with client.transaction(), client.cursor("portions", row_factory=dict_row) as cursor:
        cursor.execute("select ward, count(*) as n from patients where sex = %s group by ward", ["F"])
        assert len(cursor.fetchmany(2)) == 2
        assert len(cursor.fetchall()) == 1


def test_sql_cursors_and_prepared_statements(client: psycopg.Connection) -> None:
    with client.transaction():
        client.execute(f"declare c cursor for {BY_WARD}")
        assert len(client.execute("fetch 2 from c").fetchall()) == 2
        assert len(client.execute("fetch all from c").fetchall()) == 1
        client.execute("close c")
    client.execute("prepare p (text) as select count(*) from patients where sex = $1")
    assert client.execute("execute p ('F')").fetchone() == (600,)
    client.execute("deallocate p")


def test_copy_of_a_query(client: psycopg.Connection) -> None:
    statement = (
        "copy (select ward, count(*) from patients group by ward order by ward) to stdout with (format csv)"
    )
    with client.cursor().copy(statement) as copy:
        assert b"".join(bytes(block) for block in copy) == b"Cardiology,400\nOncology,400\nSurgery,400\n"


def test_large_answers_pass_whole(client: psycopg.Connection) -> None:
    rows = client.execute("select number, filling from safe.numbers").fetchall()
    assert [row[0] for row in rows] == list(range(1, 30001))
    with client.cursor().copy("copy (select * from safe.numbers) to stdout (format binary)") as copy:
        assert sum(len(block) for block in copy) > 30000 * 100


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_a_pipeline_with_refused_statements_in_the_middle(client: psycopg.Connection, seconds: float) -> None:
    with client.pipeline() as pipeline:
        first = client.execute("select 1")
        pipeline.sync()
        aborted = None
        with pytest.raises(psycopg.DatabaseError, match="names people"):  # noqa: PT012
            # the refusal is raised by whichever call is the first to see it
            client.execute("select name from patients")
            time.sleep(seconds)
            aborted = client.execute("select 2")
            pipeline.sync()
        # where it was the call that sent the second statement, that one is reported now
        with suppress(psycopg.errors.PipelineAborted):
            pipeline.sync()
        last = client.execute("select count(*) from patients")
        assert first.fetchone() == (1,)
        if aborted is not None:
            with pytest.raises(psycopg.ProgrammingError):
                aborted.fetchone()
        assert last.fetchone() == (1200,)


def test_a_refusal_aborts_a_transaction_up_to_its_savepoint(client: psycopg.Connection) -> None:
    with client.transaction():
        with pytest.raises(psycopg.DatabaseError, match="names people"), client.transaction():
            client.execute("select name from patients")
        assert client.execute("select 1").fetchone() == (1,)
    client.execute("begin")
    with pytest.raises(psycopg.DatabaseError, match="names people"):
        client.execute("select name from patients")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        client.execute("select 1")
    client.execute("rollback")
    assert client.execute("select 1").fetchone() == (1,)


def test_a_refusal_says_where_and_what_to_write(client: psycopg.Connection) -> None:
    with pytest.raises(psycopg.DatabaseError) as caught:
        client.execute("select 1; /* \u00df */ select   name from patients")
    diagnosis = caught.value.diag
    assert diagnosis.sqlstate == "KA901"
    assert diagnosis.statement_position == "28"
    assert "names people" in (diagnosis.message_primary or "")
    assert "Q300" in (diagnosis.message_detail or "")
    assert diagnosis.message_hint


def test_errors_of_the_server_keep_their_places(client: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.UndefinedColumn) as caught:
        client.execute("/* c */ select nothing from wards")
    assert caught.value.diag.statement_position == "16"


def test_places_in_texts_that_were_written_anew_are_not_shown(client: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.UndefinedColumn) as caught:
        client.execute("select nothing from pg_class")
    assert caught.value.diag.statement_position is None


def test_cancel(gateway: ClinicGateway) -> None:
    with psycopg.connect(gateway.dsn(), autocommit=True) as connection:
        with cancelling(connection.cancel_safe), pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(ENDLESS)
        assert connection.execute("select 1").fetchone() == (1,)


def test_the_servers_own_key_does_not_leave_the_gateway(gateway: ClinicGateway) -> None:
    with psycopg.connect(gateway.dsn()) as connection:
        (process,) = connection.execute("select pg_backend_pid()").fetchone() or (0,)
        assert connection.info.backend_pid == process
        ((shown, kept),) = [
            (shown, kept)
            for shown, kept in gateway.keys.items()
            if int.from_bytes(shown[:4], "big") == process
        ]
        assert shown != kept
    with psycopg.connect(gateway.dsn()) as connection:
        connection.execute("select 1")
        assert shown not in gateway.keys
