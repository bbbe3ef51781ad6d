"""`Database.deadline` through both adapters: what takes too long raises, also if no statement sees it."""

import json

import psycopg
import pytest

from kanon_pg.db.psycopg_adapter import PsycopgDatabase, repeatable_read
from kanon_pg.db.statements import Statement
from kanon_pg.errors import LimitExceeded

Shown = tuple[str, str | None] | None
"""Message and hint of an error, or that there was none."""

_IN_SERVER = """
create function pg_temp.run(block text) returns text language plpython3u as $$
import json, time
plpy.execute("select kanon.boot()")
from kanon_pg.db.spi_adapter import SpiDatabase
from kanon_pg.db.statements import Statement
from kanon_pg.errors import LimitExceeded
db = SpiDatabase()
try:
    with db.deadline(0.2):
        exec(block)
except LimitExceeded as error:
    return json.dumps([error.message, error.hint])
return None
$$
"""


def through_the_client(connection: psycopg.Connection, block: str) -> Shown:
    with repeatable_read(connection):
        db = PsycopgDatabase(connection)
        found: Shown = None
        try:
            with db.deadline(0.2), db.savepoint():
                exec("import time\n" + block, {"db": db, "Statement": Statement})
        except LimitExceeded as error:
            found = error.message, error.hint
        # no limit is left behind
        assert db.row(Statement("SELECT current_setting('statement_timeout') AS it"))["it"] == "0"
        return found


def through_sql(connection: psycopg.Connection, block: str) -> Shown:
    connection.execute(_IN_SERVER)
    try:
        row = connection.execute("select pg_temp.run(%s)", [block]).fetchone()
        assert row is not None
        # no interrupt is left behind
        assert connection.execute("select pg_sleep(0.6)").fetchone() is not None
        return None if row[0] is None else tuple(json.loads(row[0]))
    finally:
        connection.execute("drop function pg_temp.run(text)")


BLOCKS = {
    "a statement": 'db.row(Statement("SELECT pg_sleep(20) IS NULL AS it"))',
    "what is no statement": "time.sleep(0.3)",
    "what is no statement, after one": 'db.row(Statement("SELECT 1 AS it")); time.sleep(0.3)',
    "a step between checkpoints": "time.sleep(0.3); db.checkpoint()",
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_what_takes_too_long_raises_the_same(connection: psycopg.Connection, block: str) -> None:
    client, server = through_the_client(connection, block), through_sql(connection, block)
    assert client is not None
    assert client == server
    assert "time_limit" not in f"{client}"
    assert "the rule seconds" in f"{client}"


def test_what_is_in_time_does_not(connection: psycopg.Connection) -> None:
    block = 'db.row(Statement("SELECT 1 AS it"))'
    assert through_the_client(connection, block) is None
    assert through_sql(connection, block) is None
