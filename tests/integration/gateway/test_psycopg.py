"""psycopg through the gateway: parameters, formats, cursors, pipelines, transactions, cancel."""

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


@pytest.mark.parametrize(
    "statement",
    [
        "explain select count(*) from patients",
        "prepare p as select count(*) from patients; execute p",
        "select 1; select count(*) from patients",
        "table patients",
        "create table desk.x as select * from patients",
        "copy patients to stdout",
    ],
)
def test_other_statements_about_people_have_no_rights_and_a_hint(
    client: psycopg.Connection, statement: str
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
        client.execute(statement.encode())
    assert "one SELECT" in (caught.value.diag.message_hint or "")


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
        with pytest.raises(psycopg.DatabaseError, match="single people"):  # noqa: PT012
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
        with pytest.raises(psycopg.DatabaseError, match="single people"), client.transaction():
            client.execute("select name from patients")
        assert client.execute("select 1").fetchone() == (1,)
    client.execute("begin")
    with pytest.raises(psycopg.DatabaseError, match="single people"):
        client.execute("select name from patients")
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        client.execute("select 1")
    client.execute("rollback")
    assert client.execute("select 1").fetchone() == (1,)


def test_a_refusal_says_where_and_what_to_write(client: psycopg.Connection) -> None:
    with pytest.raises(psycopg.DatabaseError) as caught:
        client.execute("/* \u00df */ select   name from patients")
    diagnosis = caught.value.diag
    assert diagnosis.sqlstate == "KA901"
    assert diagnosis.statement_position == "18"
    assert "single people" in (diagnosis.message_primary or "")
    assert "Q502 at 17" in (diagnosis.message_detail or "")
    assert diagnosis.message_hint


def test_errors_of_the_server_keep_their_places(client: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.UndefinedColumn) as caught:
        client.execute("/* c */ select nothing from wards")
    assert caught.value.diag.statement_position == "16"


def test_a_place_is_that_of_the_text_with_its_parameters(client: psycopg.Connection) -> None:
    with pytest.raises(psycopg.DatabaseError) as caught:
        client.execute("select name from patients where sex = %s and name = %s", ["F" * 30, "x"])
    assert caught.value.diag.statement_position == "8"
    with pytest.raises(psycopg.DatabaseError) as later:
        client.execute("select count(*) from patients where sex = %s and name = 'a'", ["F" * 30])
    assert later.value.diag.statement_position == "50"
    with pytest.raises(psycopg.DatabaseError) as within:
        client.execute("declare c cursor with hold for select name from patients")
    assert within.value.diag.statement_position == "39"


def test_errors_above_figures_are_postgresqls_own(client: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.UndefinedFunction) as caught:
        client.execute("select nothing(count(*)) from patients")
    assert caught.value.diag.statement_position is None  # it would be that in another text
    with pytest.raises(psycopg.errors.DivisionByZero):
        client.execute("select 1 / (count(*) - count(*)) from patients")
    assert client.execute("select 1").fetchone() == (1,)


def test_parameters_keep_their_types(client: psycopg.Connection) -> None:
    answer = client.execute("select %s, %s, count(*) from patients", [7, date(2026, 1, 2)], binary=True)
    assert answer.fetchall() == [(7, date(2026, 1, 2), 1200)]
    client.execute("set datestyle to 'German'")
    query = "select count(*) from patients where birth_date >= %s"
    assert client.execute(query, [date(1900, 2, 1)]).fetchone() == (1200,)
    client.execute("reset datestyle")


def test_more_parameters_than_others_allow(client: psycopg.Connection) -> None:
    values = ["Surgery", *map(str, range(300))]
    query = f"select count(*) from patients where ward in ({', '.join(['%s'] * len(values))})"
    assert client.execute(query, values).fetchone() == (400,)


def test_what_names_no_people_is_the_servers(client: psycopg.Connection) -> None:
    with client.transaction(force_rollback=True):
        client.execute("create table desk.mine (patients int, note text)")
        with client.cursor().copy("copy desk.mine from stdin") as copy:
            copy.write_row((1, "a"))
        client.execute("insert into desk.mine values (2, 'patients')")
        assert client.execute("select sum(patients) from desk.mine").fetchone() == (3,)
        client.execute("set local work_mem to '1MB'")
        assert client.execute("show work_mem").fetchone() == ("1MB",)
    assert client.execute("select count(*) > 0 from pg_stat_activity").fetchone() == (True,)
    client.execute("do $$ begin perform 1; end $$")


def test_a_table_that_is_protected_later_is_asked_about(
    gateway: ClinicGateway, client: psycopg.Connection
) -> None:
    query = "select count(*) from visits"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        client.execute(query)
    with psycopg.connect(gateway.clinic.superuser, autocommit=True) as admin:
        admin.execute("select kanon_protect('visits', 5)")
        try:
            assert client.execute(query).fetchone() == (0,)
        finally:
            admin.execute("select kanon_unprotect('visits')")


def test_rows_that_are_left_out_are_told(client: psycopg.Connection) -> None:
    told: list[str] = []
    client.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    client.execute("select zip, ward, sex, birth_date, count(*) from patients group by 1, 2, 3, 4")
    assert any("left out" in one for one in told)


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
