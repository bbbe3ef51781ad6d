"""Attacks on the gateway itself: smuggled statements, changed meanings, malformed messages, floods."""

import logging
import socket
import struct
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from kanon_pg.gateway.protocol import WireMessage, notice_fields
from kanon_pg.gateway.state import ClientLimits
from tests.fixtures.gateways import ANALYST, ClinicGateway, ClinicServer, running
from tests.fixtures.raw_protocol import SYNC, RawClient, bind, execute, parse, raw_client, startup_packet


def codes(replies: list[WireMessage]) -> list[str]:
    return [notice_fields(one.body)[b"C"].decode() for one in replies if one.kind == b"E"]


@pytest.fixture
def raw(gateway: ClinicGateway) -> Iterator[RawClient]:
    with raw_client(gateway.dsn()) as client:
        yield client


@pytest.mark.parametrize("text", ["select * from salaries", "select * from hidden_view", "table visits"])
def test_what_passes_has_the_analysts_rights_only(raw: RawClient, text: str) -> None:
    assert codes(raw.ask(text)) in (["42501"], ["KA901"])


def test_a_changed_search_path_does_not_uncover_a_table(client: psycopg.Connection) -> None:
    for path in ("safe, public", "pg_temp, public", "nowhere", '"$user", public'):
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


SMUGGLED = [
    "select name from patients",
    "select 1; select name from patients",
    "select name from only patients",
    'select * from U&"p\\0061tients"',
    "with p as (table patients) select * from p",
    "select (select name from patients limit 1)",
    "select patients from patients",
    "select count(*), (select max(name) from patients) from wards",
    "explain analyze select name from patients",
    "select query_to_xml('select name from patients', true, true, '')",
    "declare c cursor for select name from patients",
    "copy (select name from patients) to stdout",
    "copy patients to stdout",
    "do $$ begin perform name from patients; end $$",
    "set role kanon_reader",
    "set session authorization postgres",
    "select kanon.serve_query()",
    "select * from salaries",
    "select * from hidden_view",
]


@pytest.mark.parametrize("text", SMUGGLED)
def test_people_are_not_reached_in_either_protocol(raw: RawClient, text: str) -> None:
    assert codes(raw.ask(text))
    raw.send(parse(text), bind(), execute(), SYNC)
    assert codes(raw.until_ready())
    assert not codes(raw.ask("rollback"))


def test_a_statement_is_known_by_its_name_until_it_has_another_text(raw: RawClient) -> None:
    raw.send(parse("select name from patients", b"mine"), bind(name=b"mine"), execute(), SYNC)
    assert codes(raw.until_ready()) == ["KA901"]
    assert codes(raw.ask("execute mine")) == ["42501"]
    raw.send(WireMessage(b"C", b"Smine\0"), parse("select 1", b"mine"), bind(name=b"mine"), execute(), SYNC)
    assert not codes(raw.until_ready())


@pytest.mark.parametrize(
    "message",
    [WireMessage(b"p", b"again\0"), WireMessage(b"y"), b"Q\0\0\0\3", b"Q\x7f\xff\xff\xff", b"\0" * 10],
)
def test_malformed_messages_end_the_session(raw: RawClient, message: WireMessage | bytes) -> None:
    raw.send(message, SYNC)
    replies = list(raw.receive())
    assert codes(replies) == ["08P01"]
    assert notice_fields(replies[-1].body)[b"S"] == b"FATAL"


@pytest.mark.parametrize(
    "message",
    [
        WireMessage(b"Q", b""),
        WireMessage(b"P", b"\0select 1"),
        WireMessage(b"B", b"\0\0"),
        WireMessage(b"B", b""),
    ],
)
def test_other_malformed_messages_are_the_servers(raw: RawClient, message: WireMessage) -> None:
    raw.send(parse("select count(*) from patients"), message, SYNC)
    assert codes(raw.until_ready()) == ["08P01"]


def test_debug_messages_tell_nothing_of_an_answer(raw: RawClient) -> None:
    """What the server says within a query is the same, whatever becomes of the query."""
    raw.ask("set client_min_messages to debug5")
    replies = raw.ask("select count(*) from patients") + raw.ask(
        "select avg(cost) from patients where ward = 'x'"
    )
    said = [notice_fields(one.body)[b"M"] for one in replies if one.kind == b"N"]
    assert not [one for one in said if b"ubtransaction" in one and b"savepoint" in one]


def test_data_of_a_copy_that_never_began_is_ignored(raw: RawClient) -> None:
    raw.send(WireMessage(b"d", b"x"), WireMessage(b"c"), WireMessage(b"f", b"no\0"))
    assert not codes(raw.ask("select 1"))


def test_options_of_the_protocol_are_negotiated_by_the_server(gateway: ClinicGateway) -> None:
    with closing(connected(gateway)) as connection:
        given = {"user": ANALYST, "database": gateway.clinic.database, "_pq_.x": "y"}
        connection.sendall(startup_packet((3, 9999), given))
        answer = next(iter(RawClient(connection).receive()))
        assert answer.kind == b"v"
        assert b"_pq_.x" in answer.body


@pytest.mark.parametrize(
    "parameters", [{"user": ANALYST, "database": "postgres"}, {"user": ANALYST}], ids=str
)
def test_another_database_is_not_served(gateway: ClinicGateway, parameters: dict[str, str]) -> None:
    with closing(connected(gateway)) as connection:
        connection.sendall(startup_packet((3, 0), parameters))
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
