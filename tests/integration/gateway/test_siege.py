"""A gateway under siege: silent connections, logins that never end, and too many clients."""

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import psycopg
import pytest

from kanon_pg.gateway.protocol import WireMessage, notice_fields
from kanon_pg.gateway.state import ClientLimits
from tests.fixtures.gateways import ANALYST, ClinicGateway, ClinicServer, running
from tests.fixtures.raw_protocol import RawClient, raw_client, startup_packet

SSL_REQUEST = struct.pack("!IHH", 8, 1234, 5679)

Opened = Callable[..., socket.socket]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Yield what opens a connection from an address of this machine; all end with the test."""
    with ExitStack() as stack:

        def connect(gateway: ClinicGateway, source: str = "127.0.0.1") -> socket.socket:
            connection = socket.create_connection(
                ("127.0.0.1", gateway.port), timeout=60, source_address=(source, 0)
            )
            return stack.enter_context(closing(connection))

        yield connect


def login(gateway: ClinicGateway) -> bytes:
    return startup_packet((3, 0), {"user": ANALYST, "database": gateway.clinic.database})


def next_message(connection: socket.socket) -> WireMessage:
    return next(iter(RawClient(connection).receive()))


def counted(gateway: ClinicGateway, **more: str) -> int:
    """Return what an analyst who connects now is answered."""
    with psycopg.connect(gateway.dsn(**more)) as connection:
        return connection.execute("select count(*) from patients").fetchone()[0]  # type: ignore[index]


def test_silent_connections_keep_nobody_out(clinic_server: ClinicServer, opened: Opened) -> None:
    with running(clinic_server) as gateway:
        silent = [opened(gateway) for _ in range(150)]
        assert counted(gateway) == 1200
        limit = ClientLimits().unauthenticated
        # the analyst's own connection was one more
        for connection in silent[: 151 - limit]:
            assert connection.recv(100) == b""
        for connection in silent[151 - limit :]:
            connection.sendall(SSL_REQUEST)
            assert connection.recv(100) == b"N"


def test_silent_connections_of_one_address_do_not_end_those_of_others(
    clinic_server: ClinicServer, opened: Opened
) -> None:
    with running(clinic_server, limits=ClientLimits(unauthenticated=3)) as gateway:
        patient = opened(gateway, "127.0.0.2")
        crowd = [opened(gateway, "127.0.0.3") for _ in range(10)]
        for connection in crowd[:8]:
            assert connection.recv(100) == b""
        patient.sendall(login(gateway))
        assert next_message(patient).kind == b"R"


def test_logins_that_do_not_end_give_way_and_are_told(clinic_server: ClinicServer, opened: Opened) -> None:
    with running(clinic_server, limits=ClientLimits(unauthenticated=3)) as gateway:
        begun = [opened(gateway) for _ in range(3)]
        for connection in begun:
            connection.sendall(login(gateway))
            assert next_message(connection).kind == b"R"
        assert counted(gateway) == 1200
        fields = notice_fields(next_message(begun[0]).body)
        assert (fields[b"S"], fields[b"C"]) == (b"FATAL", b"53300")
        assert begun[0].recv(100) == b""


def test_logins_end_in_time(clinic_server: ClinicServer, opened: Opened) -> None:
    with running(clinic_server, limits=ClientLimits(login_seconds=1.0)) as gateway:
        begun, silent = opened(gateway), opened(gateway)
        begun.sendall(login(gateway))
        messages = list(RawClient(begun).receive())
        assert [message.kind for message in messages] == [b"R", b"E"]
        assert b"too long" in messages[-1].body
        assert silent.recv(100) == b""


def test_a_refusal_comes_after_the_request_for_encryption_and_in_postgresqls_words(
    clinic_server: ClinicServer, opened: Opened
) -> None:
    with (
        running(clinic_server, limits=ClientLimits(connections=1)) as gateway,
        raw_client(gateway.dsn()) as first,
    ):
        assert first.ask("select 1")
        late = opened(gateway)
        late.sendall(SSL_REQUEST)
        assert late.recv(100) == b"N"
        late.sendall(login(gateway))
        (error,) = RawClient(late).receive()
        fields = notice_fields(error.body)
        assert fields == {
            b"S": b"FATAL",
            b"V": b"FATAL",
            b"C": b"53300",
            b"M": b"sorry, too many clients already",
        }
        with pytest.raises(psycopg.OperationalError, match="FATAL:  sorry, too many clients already"):
            counted(gateway)


def test_an_address_has_a_bound_of_its_own(clinic_server: ClinicServer, opened: Opened) -> None:
    with (
        running(clinic_server, limits=ClientLimits(per_address=1)) as gateway,
        raw_client(gateway.dsn()) as first,
    ):
        assert first.ask("select 1")
        here, elsewhere = opened(gateway), opened(gateway, "127.0.0.2")
        for connection in (here, elsewhere):
            connection.sendall(login(gateway))
        fields = notice_fields(next_message(here).body)
        assert fields[b"C"] == b"53300"
        assert b"--per-address" in fields[b"H"]
        assert next_message(elsewhere).kind == b"R"


def test_a_place_is_given_back(clinic_server: ClinicServer) -> None:
    with running(clinic_server, limits=ClientLimits(connections=1)) as gateway:
        for _ in range(3):
            with raw_client(gateway.dsn()) as client:
                assert client.ask("select 1")
                client.send(WireMessage(b"X"))
                assert not list(client.receive())
            while gateway.keys:  # until the session has ended
                pass
            # the place is given back in the same step or the next one of the gateway's loop
            gateway.call(_nothing())


async def _nothing() -> None:
    return
