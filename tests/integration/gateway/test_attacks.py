"""Attacks on the gateway itself: smuggled statements, changed meanings, malformed messages, floods."""

from __future__ import annotations

import logging
import socket
import struct
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from kanon_pg.gateway.protocol import WireMessage, notice_fields, startup_packet
from kanon_pg.gateway.state import ClientLimits
from tests.fixtures.gateways import ANALYST, ClinicGateway, ClinicServer, running
from tests.fixtures.raw_protocol import CALL, SYNC, RawClient, bind, execute, parse, raw_client

SMUGGLED = [
    # several statements, comments, quotes
    "select 1; drop table wards",
    "select 1 /* ; */; /* /* */ do 'x' */ do 'y'",
    "select 1 --\n; do 'x'",
    "select 'a''; do 'x' --'; do 'y'",
    "select 'a\\'; do 'x' --'",
    "select E'a\\''; do 'x' --'",
    "select $$a$$; do $x$begin end$x$",
    "select 1\u00a0; do 'x'",
    "select U&'\\0027'; do 'x' --",
    'select U&"\\0022" from wards',
    "sELECT 1;;; dO 'x'",
    "(select 1); do 'x'",
    # other kinds
    "do 'begin end'",
    "call x()",
    "create table x ()",
    "create temp table x (y int)",
    "create function f() returns int language sql as 'select 1'",
    "insert into wards values ('x', 1)",
    "update wards set floor = 2",
    "delete from wards",
    "merge into wards using wards w on true when matched then delete",
    "truncate wards",
    "with x as (delete from wards returning *) select * from x",
    "with x as (insert into wards values ('x', 1) returning *) select * from x",
    "with x as (select 1) update wards set floor = 2",
    "select * into x from wards",
    "select * from wards for update",
    "select * from wards for share",
    "lock table wards",
    "listen x",
    "notify x",
    "load 'x'",
    "vacuum",
    "explain select * from wards",
    "explain analyze select count(*) from patients",
    "prepare x as delete from wards",
    "execute x(pg_sleep(1))",
    "prepare transaction 'x'",
    "commit prepared 'x'",
    "declare c cursor for delete from wards",
    "copy wards to stdout",
    "copy wards from stdin",
    "copy (select 1) to '/tmp/x'",
    "copy (select 1) to program 'id'",
    "copy (delete from wards returning *) to stdout",
    "grant all on wards to public",
    "alter role gateway_ada superuser",
    "import foreign schema x from server y into z",
    # roles and settings that change how texts and values are read
    "set role kanon_owner",
    "set session authorization postgres",
    "reset role",
    "set standard_conforming_strings = off",
    "set session standard_conforming_strings to 'off'",
    "set client_encoding = 'SJIS'",
    "set names 'BIG5'",
    "set backslash_quote = on",
    "set client_min_messages = debug5",
    "set session client_min_messages to 'debug'",
    "set local client_min_messages to log",
    "select set_config('client_min_messages', 'debug5', false)",
    "set datestyle = 'German'",
    "set extra_float_digits = -15",
    "set session_replication_role = replica",
    "set kanon.python_path = '[]'",
    "set default_transaction_isolation = 'serializable' ; set role x",
    "select set_config('standard_conforming_strings', 'off', false)",
    "select pg_catalog.set_config('role', 'kanon_owner', false)",
    "select set_config('client_' || 'encoding', 'SJIS', false)",
    "select \"set_config\"('search_path', 'x', false)",
    # functions that act, run SQL or look behind tables
    "select pg_sleep(1)",
    "select pg_catalog.\"pg_sleep\"(1)",
    "select pg_catalog . /**/ pg_sleep /**/ (1)",
    "select distinct on (1) pg_sleep(1)",
    "select 1 operator(pg_catalog.+) pg_sleep(1)",
    "select * from wards as w join wards as v on (true) and pg_sleep(1) is null",
    "select * from pg_read_file('x')",
    "select * from pg_read_file('x') as t(a)",
    "with pg_sleep(a) as (select 1) select pg_sleep(1)",
    "select query_to_xml('select * from pg_class', true, true, '')",
    "select * from rows from (pg_sleep(1))",
    "select lo_import('x')",
    "select pg_terminate_backend(1)",
    "select nextval('x')",
    "select dblink('x')",
    "select table_to_xml('wards', true, true, '')",
    "select kanon.serve_query()",
    "select kanon.boot()",
    "select pg_stat_get_live_tuples('patients'::regclass)",
    "select pg_relation_filepath('patients')",
    "select case when true then pg_sleep(1) end",
    "values (pg_sleep(1))",
    "select array[pg_sleep(1)]",
    "table pg_stats",
    "select * from only pg_stats",
    "select * from (pg_stats cross join wards)",
    "select (select count(*) from pg_stats)",
    "select * from wards, lateral (select * from pg_stat_activity) x",
    "select * from wards where exists (table pg_statistic)",
    'select * from "pg_catalog"."pg_stats"',
    "select * from clinic.pg_catalog.pg_stats",
]  # fmt: skip


def codes(replies: list[WireMessage]) -> list[str]:
    return [notice_fields(one.body)[b"C"].decode() for one in replies if one.kind == b"E"]


@pytest.fixture
def raw(gateway: ClinicGateway) -> Iterator[RawClient]:
    with raw_client(gateway.dsn()) as client:
        yield client


@pytest.mark.parametrize("text", SMUGGLED)
def test_what_is_smuggled_is_refused_by_the_gateway_in_both_protocols(raw: RawClient, text: str) -> None:
    assert codes(raw.ask(text)) == ["KA901"]
    raw.send(parse(text), bind(), execute(), SYNC)
    assert codes(raw.until_ready()) == ["KA901"]
    assert not codes(raw.ask("select 1"))


def test_a_refused_statement_is_not_there_under_its_name(raw: RawClient) -> None:
    raw.send(parse("select name from patients", b"mine"), SYNC)
    assert codes(raw.until_ready()) == ["KA901"]
    raw.send(bind(name=b"mine"), execute(), SYNC)
    assert codes(raw.until_ready()) == ["26000"]
    assert codes(raw.ask("execute mine")) == ["26000"]


@pytest.mark.parametrize("text", ["select * from salaries", "select * from hidden_view", "table visits"])
def test_what_passes_has_the_analysts_rights_only(raw: RawClient, text: str) -> None:
    assert codes(raw.ask(text)) in (["42501"], ["KA901"])


def test_a_changed_search_path_does_not_uncover_a_table(client: psycopg.Connection) -> None:
    for path in ("safe, public", "pg_temp, public", "kanon_catalog, public", "nowhere", '"$user", public'):
        client.execute(f"set search_path to {path}")
        for name in ("patients", "public.patients", '"patients"'):
            with pytest.raises(psycopg.Error):
                client.execute(f"select name from {name}")
    client.execute("set search_path to nowhere")
    assert client.execute("select count(*) from public.patients").fetchone() == (1200,)
    client.execute("reset search_path")
    assert client.execute("select count(*) from patients").fetchone() == (1200,)
    with client.transaction(force_rollback=True):
        client.execute("set search_path to nowhere")
    assert client.execute("select count(*) from patients").fetchone() == (1200,)


SYNTAX_ERRORS = [
    ("selec count(*) from patients", "selec"),
    ("select 1; frobnicate", "frobnicate"),
    ("select count(*) from patients wher ward = 'a'", "ward"),
    ("select count(*) from wards wher floor = 1", "floor"),
    ("select count(*) from patients)", ")"),
    ("select 'a", "'"),
]


@pytest.mark.parametrize(("text", "piece"), SYNTAX_ERRORS)
def test_a_syntax_error_is_one_with_its_position(raw: RawClient, text: str, piece: str) -> None:
    raw.send(parse(text), SYNC)
    for replies in (raw.until_ready(), raw.ask(text)):
        (error,) = (notice_fields(one.body) for one in replies if one.kind == b"E")
        assert error[b"C"] == b"42601"
        assert error[b"M"].decode() == f'syntax error at or near "{piece}"'
        assert text[int(error[b"P"]) - 1 :].startswith(piece)


def test_calls_outside_of_sql_are_refused(raw: RawClient) -> None:
    raw.send(CALL)
    assert codes(raw.until_ready()) == ["KA901"]


@pytest.mark.parametrize(
    "message",
    [
        WireMessage(b"Q", b"select 1"),
        WireMessage(b"Q", b"select 1\0; do 'x'\0"),
        WireMessage(b"Q", b"\xff\xfe\0"),
        WireMessage(b"Q", b""),
        WireMessage(b"P", b"\0select 1"),
        WireMessage(b"P", b"\0select 1\0\0\1"),
        WireMessage(b"P", b"\0select 1\0\0\0do 'x'\0"),
        WireMessage(b"p", b"again\0"),
        WireMessage(b"y"),
        b"Q\0\0\0\3",
        b"Q\x7f\xff\xff\xff",
        b"Q\xff\xff\xff\xff",
        b"\0\0\0\0\0\0\0\0\0\0",
    ],
)
def test_malformed_messages_end_the_session(raw: RawClient, message: WireMessage | bytes) -> None:
    raw.send(message, SYNC)
    replies = list(raw.receive())
    assert codes(replies) == ["08P01"]
    assert notice_fields(replies[-1].body)[b"S"] == b"FATAL"


def test_debug_messages_stay_in_the_server_whatever_a_role_starts_with(gateway: ClinicGateway) -> None:
    alter = "alter role gateway_ada {} client_min_messages{}"
    with psycopg.connect(gateway.clinic.superuser, autocommit=True) as admin:
        admin.execute(alter.format("set", " = debug5").encode())
        try:
            with raw_client(gateway.dsn()) as client:
                replies = client.ask("select count(*) from patients")
                for text in ("reset client_min_messages", "reset all", "discard all", "savepoint x"):
                    replies += client.ask(text)
                assert b"N" not in [message.kind for message in replies]
                shown = client.ask("show client_min_messages")
                assert any(b"notice" in message.body for message in shown if message.kind == b"D")
        finally:
            admin.execute(alter.format("reset", "").encode())


def test_data_of_a_copy_that_never_began_is_ignored(raw: RawClient) -> None:
    raw.send(WireMessage(b"d", b"x"), WireMessage(b"c"), WireMessage(b"f", b"no\0"))
    assert not codes(raw.ask("select 1"))


FIRST_PACKETS = [
    {"user": ANALYST, "replication": "database"},
    {"user": ANALYST, "replication": "true"},
    {"user": ANALYST, "client_encoding": "SJIS"},
    {"user": ANALYST, "client_min_messages": "debug5"},
    {"user": ANALYST, "options": "-c client_min_messages=log"},
    {"user": ANALYST, "standard_conforming_strings": "off"},
    {"user": ANALYST, "options": "-c standard_conforming_strings=off"},
    {"user": ANALYST, "options": "-cclient_encoding=LATIN1"},
    {"user": ANALYST, "options": "--role=kanon_owner"},
    {"user": ANALYST, "role": "kanon_owner"},
    {"user": ANALYST, "_pq_.x": "y"},
    {"user": ANALYST, "database": "postgres"},
    {"database": "clinic"},
]


@pytest.mark.parametrize("parameters", FIRST_PACKETS, ids=str)
def test_first_packets_that_ask_for_too_much_are_refused(
    gateway: ClinicGateway, parameters: dict[str, str]
) -> None:
    with closing(connected(gateway)) as connection:
        connection.sendall(startup_packet((3, 0), {"database": gateway.clinic.database, **parameters}))
        assert codes(list(RawClient(connection).receive())) == ["28000"]


@pytest.mark.parametrize(
    "packet",
    [
        struct.pack("!I", 3),
        struct.pack("!I", 2**31),
        struct.pack("!IHH", 8, 2, 0),
        struct.pack("!IHH", 12, 3, 0) + b"user",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
def test_malformed_first_packets_are_refused(gateway: ClinicGateway, packet: bytes) -> None:
    with closing(connected(gateway)) as connection:
        connection.sendall(packet)
        assert codes(list(RawClient(connection).receive())) == ["08P01"]


def test_statements_before_the_login_are_refused(gateway: ClinicGateway) -> None:
    with closing(connected(gateway)) as connection:
        parameters = {"user": ANALYST, "database": gateway.clinic.database}
        connection.sendall(startup_packet((3, 0), parameters) + WireMessage(b"Q", b"select 1\0").encode())
        assert codes(list(RawClient(connection).receive())) == ["08P01"]


def connected(gateway: ClinicGateway) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", gateway.port), timeout=20)
    connection.settimeout(20)
    return connection


def test_a_key_that_was_not_given_cancels_nothing(gateway: ClinicGateway, client: psycopg.Connection) -> None:
    process = client.info.backend_pid
    with closing(connected(gateway)) as connection:
        connection.sendall(struct.pack("!IHHII", 16, 1234, 5678, process, 0))
        assert connection.recv(10) == b""


def test_a_role_whom_the_server_asks_for_no_password_does_not_come_in(clinic_server: ClinicServer) -> None:
    server = clinic_server.server
    socket_dsn = f"host={server.host} port={server.port} dbname={clinic_server.database} user=gateway_service"
    with (
        running(clinic_server, dsn=socket_dsn) as gateway,
        pytest.raises(psycopg.OperationalError, match="without a password"),
    ):
        psycopg.connect(gateway.dsn())
    with (
        running(clinic_server, dsn=socket_dsn, trusts_server=True) as gateway,
        psycopg.connect(gateway.dsn()) as connection,
    ):
        assert connection.execute("select count(*) from patients").fetchone() == (1200,)


def test_messages_have_a_bound(clinic_server: ClinicServer) -> None:
    with (
        running(clinic_server, limits=ClientLimits(message_bytes=100_000)) as gateway,
        raw_client(gateway.dsn()) as client,
    ):
        assert not codes(client.ask("select '" + "x" * 50_000 + "'"))
        client.send(b"Q" + struct.pack("!i", 100_001))
        assert codes(list(client.receive())) == ["08P01"]


def test_silent_sessions_and_logins_end(clinic_server: ClinicServer) -> None:
    limits = ClientLimits(login_seconds=1.0, idle_seconds=0.5)
    with running(clinic_server, limits=limits) as gateway:
        with raw_client(gateway.dsn()) as client:
            assert codes(list(client.receive())) == ["57P05"]
        with closing(connected(gateway)) as connection:
            assert connection.recv(10) == b""


def test_stopping_tells_every_client(clinic_server: ClinicServer) -> None:
    with running(clinic_server) as gateway, raw_client(gateway.dsn()) as client:
        client.ask("select 1")
        assert gateway.listener is not None
        gateway.call(gateway.listener.stop())
        assert codes(list(client.receive())) == ["57P01"]


def test_the_log_has_no_statements_and_no_values(
    gateway: ClinicGateway, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "kanon_pg.gateway"):
        with psycopg.connect(gateway.dsn(), autocommit=True) as client:
            client.execute("select count(*) from patients where ward <> %s", ["hush"])
            with pytest.raises(psycopg.Error):
                client.execute("select name from patients where name = 'hush'")
        with psycopg.connect(gateway.dsn(), autocommit=True):
            pass
    assert "refused" in caplog.text
    assert "hush" not in caplog.text
    assert "select" not in caplog.text


def test_what_waits_for_a_slow_client_stays_in_the_server(gateway: ClinicGateway) -> None:
    with raw_client(gateway.dsn()) as slow, psycopg.connect(gateway.clinic.superuser) as admin:
        for _ in range(40):  # 130 megabytes
            slow.send(WireMessage(b"Q", b"select number, filling from safe.numbers\0"))
        waiting = "select count(*) from pg_stat_activity where wait_event = 'ClientWrite'"
        while admin.execute(waiting).fetchone() != (1,):
            admin.rollback()
        assert len(b"".join(message.body for message in slow.until_ready())) > 3_000_000
