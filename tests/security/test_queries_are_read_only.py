"""What runs with the reading role's rights cannot write, not even through a superuser's function.

The checker lets no such function into a query; this is what holds if one were let in, on every version.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from kanon_pg.client import as_reader
from kanon_pg.db.statements import Statement
from kanon_pg.errors import DatabaseError
from tests.fixtures.databases import Server

READ_ONLY = "25006"
LARGE_OBJECTS_COUNT_AS_WRITING = 160_000

_PREPARE = """
    CREATE TABLE public.seen (what text);
    CREATE SEQUENCE public.ticket;
    CREATE FUNCTION public.note() RETURNS int VOLATILE SECURITY DEFINER LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO public.seen VALUES ('a secret'); RETURN 1; END $$;
    CREATE FUNCTION public.keep() RETURNS int VOLATILE SECURITY DEFINER LANGUAGE plpgsql AS
        $$ BEGIN CREATE TEMP TABLE kept (what text); RETURN 1; END $$;
    CREATE FUNCTION public.free() RETURNS int VOLATILE SECURITY DEFINER LANGUAGE plpgsql AS $$ BEGIN
        PERFORM set_config('transaction_read_only', 'off', false); INSERT INTO public.seen VALUES ('x');
        RETURN 1;
    END $$;
    CREATE FUNCTION public.draw() RETURNS bigint VOLATILE SECURITY DEFINER LANGUAGE sql AS
        $$ SELECT nextval('public.ticket') $$;
    CREATE FUNCTION public.turn() RETURNS bigint VOLATILE SECURITY DEFINER LANGUAGE sql AS
        $$ SELECT setval('public.ticket', 7) $$;
    CREATE FUNCTION public.hide() RETURNS oid VOLATILE SECURITY DEFINER LANGUAGE sql AS
        $$ SELECT lo_create(0) $$;
    GRANT INSERT ON public.seen TO kanon_reader;
    CREATE FUNCTION public.with_the_readers_rights(command text) RETURNS text LANGUAGE plpython3u AS $$
        plpy.execute("select kanon.boot()")
        from kanon_pg.db.statements import Statement
        from kanon_pg.db.spi_adapter import serve
        from kanon_pg.queries.pending_query import serve_as_reader
        from kanon_pg.queries.request import QueryRequest
        from kanon_pg.errors import DatabaseError
        def run(reader, _call):
            try:
                with reader.reading_as(None):
                    return str(len(reader.read(Statement(command))))
            except DatabaseError as error:
                return error.server_state
        return serve(lambda db: serve_as_reader(db, QueryRequest("select 1", ()), run))
    $$;
    CREATE FUNCTION public.served_directly() RETURNS text LANGUAGE plpython3u AS $$
        plpy.execute("select kanon.boot()")
        from kanon_pg.queries import pending_query
        from kanon_pg.queries.request import QueryRequest
        call = pending_query.PendingQuery(QueryRequest("select 1", ()), "", "", lambda reader, call: "served")
        with pending_query._as_pending(call):
            plpy.execute("select kanon.serve_query()")
        return call.result or call.error.sqlstate
    $$;
"""


@dataclass(frozen=True)
class Prepared:
    """A database with functions that write whoever calls them."""

    dsn: str
    admin: psycopg.Connection[Any]

    def through_the_server(self, command: str) -> str:
        """Return the number of rows, or the SQLSTATE of the refusal."""
        (row,) = self.admin.execute("select with_the_readers_rights(%s)", [command]).fetchall()
        return str(row[0])

    def through_the_client(self, command: str) -> str:
        """Return the number of rows, or the SQLSTATE of the refusal."""
        with as_reader(self.dsn) as (db, _role, _session):
            try:
                with db.savepoint(), db.reading_as(None):
                    return str(len(db.read(Statement(command))))
            except DatabaseError as error:
                return str(error.server_state)

    def written(self) -> tuple[Any, ...]:
        """Return what the functions could have changed."""
        (row,) = self.admin.execute(
            "select (select count(*) from public.seen), (select last_value from public.ticket),"
            " (select is_called from public.ticket), (select count(*) from pg_largeobject_metadata),"
            " (select count(*) from pg_class where relname = 'kept')"
        ).fetchall()
        return tuple(row)


@pytest.fixture(scope="module")
def prepared(server: Server, kanon_template: str) -> Iterator[Prepared]:
    with server.database("read_only", kanon_template) as name:
        dsn = server.dsn(name)
        with psycopg.connect(dsn, autocommit=True) as admin:
            admin.execute(_PREPARE)
            yield Prepared(dsn, admin)


@pytest.mark.parametrize("interface", ["through_the_server", "through_the_client"])
def test_a_query_can_read(interface: str, prepared: Prepared) -> None:
    assert getattr(prepared, interface)("select * from generate_series(1, 3)") == "3"


@pytest.mark.parametrize("interface", ["through_the_server", "through_the_client"])
@pytest.mark.parametrize("function", ["note", "keep", "free", "draw", "turn", "hide"])
def test_a_function_that_writes_is_stopped(function: str, interface: str, prepared: Prepared) -> None:
    if function == "hide" and prepared.admin.info.server_version < LARGE_OBJECTS_COUNT_AS_WRITING:
        pytest.skip("before PostgreSQL 16 only the checker keeps large objects from being made")
    prepared.admin.execute("alter sequence public.ticket restart")
    before = prepared.written()
    refused = getattr(prepared, interface)(f"select public.{function}()")
    assert refused == ("25001" if function == "free" else READ_ONLY)
    assert prepared.written() == before
    with prepared.admin.transaction(force_rollback=True):
        # the function would have written
        prepared.admin.execute(f"select public.{function}()".encode())
        assert prepared.written() != before


@pytest.mark.parametrize("interface", ["through_the_server", "through_the_client"])
@pytest.mark.parametrize(
    "command",
    [
        "with noted as (insert into public.seen values ('x') returning 1) select * from noted",
        "create temp table kept (what text)",
        "select what into temp kept from public.seen",
    ],
)
def test_a_statement_that_writes_is_stopped(command: str, interface: str, prepared: Prepared) -> None:
    before = prepared.written()
    # the server's interface names what a function that is not volatile may not do
    assert getattr(prepared, interface)(command) in (READ_ONLY, "0A000")
    assert prepared.written() == before


@pytest.mark.parametrize("command", ["select 1", "select public.note()"])
def test_the_callers_transaction_can_write_afterwards(command: str, prepared: Prepared) -> None:
    admin = prepared.admin
    with admin.transaction(force_rollback=True):
        admin.execute("savepoint before")
        admin.execute("select with_the_readers_rights(%s)", [command])
        assert admin.execute("show transaction_read_only").fetchall() == [("off",)]
        admin.execute("insert into public.seen values ('mine')")
        admin.execute("rollback to savepoint before")
        admin.execute("insert into public.seen values ('mine')")
        assert admin.execute("show transaction_read_only").fetchall() == [("off",)]


def test_a_read_only_transaction_stays_one(prepared: Prepared) -> None:
    with prepared.admin.transaction(force_rollback=True):
        prepared.admin.execute("set transaction read only")
        assert prepared.through_the_server("select 1") == "1"
        assert prepared.admin.execute("show transaction_read_only").fetchall() == [("on",)]


def test_nothing_is_served_in_a_transaction_that_can_write(prepared: Prepared) -> None:
    assert prepared.admin.execute("select served_directly()").fetchall() == [("KA902",)]
    with prepared.admin.transaction(force_rollback=True):
        prepared.admin.execute("set transaction read only")
        assert prepared.admin.execute("select served_directly()").fetchall() == [("served",)]
