"""TLS between client and gateway, with a certificate made for the test."""

import socket
import ssl
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from kanon_pg.errors import InputError
from kanon_pg.gateway.listener import require_private, tls_for_clients
from kanon_pg.gateway.state import ClientLimits
from tests.fixtures.gateways import ANALYST, ENDLESS, ClinicGateway, ClinicServer, cancelling, running
from tests.fixtures.raw_protocol import startup_packet

SSL_REQUEST = struct.pack("!IHH", 8, 1234, 5679)
GSS_REQUEST = struct.pack("!IHH", 8, 1234, 5680)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


@pytest.fixture(scope="module")
def gateway(clinic_server: ClinicServer, certificate: tuple[Path, Path]) -> Iterator[ClinicGateway]:
    with running(clinic_server, certificate=certificate[0], key=certificate[1]) as gateway:
        yield gateway


def connected(gateway: ClinicGateway) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", gateway.port), timeout=20)
    connection.settimeout(20)
    return connection


def test_the_certificate_is_checked_and_the_password_passes(
    gateway: ClinicGateway, certificate: tuple[Path, Path]
) -> None:
    dsn = gateway.dsn(sslmode="verify-full", sslrootcert=str(certificate[0]))
    with psycopg.connect(dsn) as connection:
        assert connection.pgconn.ssl_in_use
        assert connection.execute("select count(*) from patients").fetchone() == (1200,)
        rows = connection.execute("select number, filling from safe.numbers").fetchall()
        assert len(rows) == 30_000


def test_without_encryption_nobody_gets_in(gateway: ClinicGateway) -> None:
    with pytest.raises(psycopg.OperationalError, match="encrypted connections only"):
        psycopg.connect(gateway.dsn(sslmode="disable"))


def test_a_request_to_cancel_comes_through(gateway: ClinicGateway) -> None:
    dsn = gateway.dsn(sslmode="require")
    with (
        psycopg.connect(dsn) as connection,
        cancelling(connection.cancel_safe),
        pytest.raises(psycopg.errors.QueryCanceled),
    ):
        connection.execute(ENDLESS)


def test_a_request_to_cancel_need_not_be_encrypted(gateway: ClinicGateway) -> None:
    """Older versions of libpq do not encrypt it."""
    with psycopg.connect(gateway.dsn(sslmode="require"), autocommit=True) as connection:
        (key,) = gateway.keys

        def cancel() -> None:
            with connected(gateway) as other:
                other.sendall(struct.pack("!IHH", 8 + len(key), 1234, 5678) + key)
                assert other.recv(1) == b""

        with cancelling(cancel), pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(ENDLESS)


def test_bytes_before_the_handshake_are_not_taken_for_encrypted_ones(gateway: ClinicGateway) -> None:
    with connected(gateway) as connection:
        connection.sendall(SSL_REQUEST + struct.pack("!IHH", 9, 3, 0) + b"\0")
        answer = connection.recv(100)
        assert answer[:1] in (b"S", b"E")
        assert b"R\0" not in answer
        # after S the plain bytes are a broken handshake; before it they are refused
        assert answer[:1] == b"E" or connection.recv(100)[:1] in (b"", b"\x15")


def test_a_client_too_many_is_told_so_behind_encryption(
    clinic_server: ClinicServer, certificate: tuple[Path, Path]
) -> None:
    limits = ClientLimits(connections=1)
    with (
        running(clinic_server, certificate=certificate[0], key=certificate[1], limits=limits) as gateway,
        psycopg.connect(gateway.dsn(sslmode="require")),
        pytest.raises(psycopg.OperationalError, match="FATAL:  sorry, too many clients already"),
    ):
        psycopg.connect(gateway.dsn(sslmode="require"))


def test_handshakes_that_do_not_end_give_way(
    clinic_server: ClinicServer, certificate: tuple[Path, Path]
) -> None:
    limits = ClientLimits(unauthenticated=1)
    with (
        running(clinic_server, certificate=certificate[0], key=certificate[1], limits=limits) as gateway,
        connected(gateway) as begun,
    ):
        begun.sendall(SSL_REQUEST)
        assert begun.recv(1) == b"S"
        with psycopg.connect(gateway.dsn(sslmode="require")) as connection:
            assert connection.execute("select 1").fetchone() == (1,)
        assert begun.recv(100) == b""


def test_encryption_by_gssapi_is_declined(gateway: ClinicGateway) -> None:
    with connected(gateway) as connection:
        connection.sendall(GSS_REQUEST)
        assert connection.recv(1) == b"N"
        connection.sendall(SSL_REQUEST)
        assert connection.recv(1) == b"S"


def test_requests_do_not_go_on_for_ever(gateway: ClinicGateway) -> None:
    with connected(gateway) as connection:
        for _ in range(3):
            connection.sendall(GSS_REQUEST)
            assert connection.recv(1) == b"N"
        assert b"Too many requests" in connection.recv(1000)


def test_files_that_are_no_certificate_are_refused(tmp_path: Path) -> None:
    for content in (None, "", "not a certificate"):
        path = tmp_path / "certificate.pem"
        if content is not None:
            path.write_text(content)
        with pytest.raises(InputError):
            tls_for_clients(path, path)
    assert tls_for_clients(None, None) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
def test_without_a_certificate_other_machines_cannot_connect(host: str) -> None:
    with pytest.raises(InputError):
        require_private(host, encrypted=False)
    require_private(host, encrypted=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "/run/gateway"])
def test_without_a_certificate_this_machine_can(host: str) -> None:
    require_private(host, encrypted=False)


def handshake(gateway: ClinicGateway, *protocols: str) -> ssl.SSLSocket:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context.wrap_socket(connected(gateway))


def test_encryption_may_begin_at_once_as_in_postgresql_17(gateway: ClinicGateway) -> None:
    with handshake(gateway, "postgresql") as encrypted:
        encrypted.sendall(startup_packet((3, 0), {"user": ANALYST, "database": gateway.clinic.database}))
        assert encrypted.recv(1) == b"R"


def test_a_handshake_for_another_protocol_is_refused(gateway: ClinicGateway) -> None:
    with handshake(gateway) as encrypted:
        assert b"ALPN" in encrypted.recv(1000)


def test_libpq_begins_with_encryption(gateway: ClinicGateway) -> None:
    if psycopg.pq.version() < 170_000:
        pytest.skip("DIRECT TLS BY LIBPQ IS NOT TESTED: its version is older than 17")
    with psycopg.connect(gateway.dsn(sslmode="require", sslnegotiation="direct")) as connection:
        assert connection.execute("select count(*) from patients").fetchone() == (1200,)
