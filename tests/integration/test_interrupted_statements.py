"""Ctrl-C between two steps of psycopg, which psycopg itself does not cancel."""

import select
import time

import psycopg
import pytest

from kanon_pg.db.psycopg_adapter import PsycopgDatabase, repeatable_read

EFFECT_SECONDS = 30


def interrupted(connection: psycopg.Connection, statement: bytes, *, is_answered: bool = False) -> None:
    connection.pgconn.send_query(statement)
    if is_answered:
        assert select.select([connection.fileno()], [], [], EFFECT_SECONDS)[0]
    raise KeyboardInterrupt


def test_the_transaction_is_rolled_back_and_the_connection_goes_on(connection: psycopg.Connection) -> None:
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), repeatable_read(connection):
        interrupted(connection, b"create table left_behind (); select pg_sleep(60)")
    assert time.monotonic() - began < EFFECT_SECONDS
    assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    assert connection.execute("select to_regclass('left_behind')").fetchone() == (None,)


def test_a_savepoint_is_left(connection: psycopg.Connection) -> None:
    with repeatable_read(connection):
        db = PsycopgDatabase(connection)
        with pytest.raises(KeyboardInterrupt), db.savepoint():
            interrupted(connection, b"select pg_sleep(60)")
        assert connection.execute("select 1").fetchone() == (1,)


def test_a_second_control_c_closes_the_connection(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed_again(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with psycopg.connect(dsn, autocommit=True) as connection:
        monkeypatch.setattr(connection, "cancel_safe", pressed_again)
        with pytest.raises(KeyboardInterrupt), repeatable_read(connection):
            interrupted(connection, b"select pg_sleep(60)")
        assert connection.closed


@pytest.mark.parametrize("copy", ["copy (select 1) to stdout", "copy pg_temp.taken from stdin"])
def test_a_copy_that_nobody_ends_closes_the_connection(dsn: str, copy: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("create temporary table taken (a integer)")
        with pytest.raises(KeyboardInterrupt), repeatable_read(connection):
            # A copy that has not begun is ended by the cancellation alone.
            interrupted(connection, copy.encode(), is_answered=True)
        assert connection.closed
