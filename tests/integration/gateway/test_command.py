"""The command, and what keeps a gateway from starting."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from kanon_pg.errors import DatabaseError, InstallError, KanonError, NotPermitted
from kanon_pg.gateway.listener import open_gateway
from tests.fixtures.gateways import ANALYST, SERVICE, ClinicServer

KANON = Path(sys.executable).with_name("kanon")


@contextmanager
def command(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [KANON, "gateway", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_end(clinic_server: ClinicServer, number: signal.Signals) -> None:
    with command("--dsn", clinic_server.dsn(SERVICE), "--port", "0", "--json") as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        assert said["host"] == "127.0.0.1"
        connection = psycopg.connect(clinic_server.dsn(ANALYST, said["port"]), autocommit=True)
        assert connection.execute("select count(*) from patients").fetchone() == (1200,)
        process.send_signal(number)
        _, log = process.communicate(timeout=60)
        assert process.returncode == 0
        assert "1 queries" in log
        assert "patients" not in log
        with pytest.raises(psycopg.OperationalError):
            connection.execute("select 1")


def test_it_listens_on_a_unix_socket(clinic_server: ClinicServer, tmp_path: Path) -> None:
    with command("--dsn", clinic_server.dsn(SERVICE), "--host", str(tmp_path), "--port", "7") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"listening on {tmp_path} port 7\n"
        dsn = clinic_server.dsn(ANALYST).replace("host=127.0.0.1", f"host={tmp_path}")
        with psycopg.connect(dsn, port=7) as connection:
            assert connection.execute("select 1").fetchone() == (1,)
        process.terminate()
        process.communicate(timeout=60)
    assert not list(tmp_path.iterdir())


def refused(clinic: ClinicServer, kind: type[KanonError], **options: object) -> KanonError:
    with pytest.raises(kind) as caught:
        asyncio.run(open_gateway(clinic.options(**options)))
    return caught.value


def test_the_database_must_be_there_with_kanon(clinic_server: ClinicServer) -> None:
    refused(clinic_server, DatabaseError, dsn=clinic_server.dsn(SERVICE, port=1))
    refused(clinic_server, InstallError, dsn=clinic_server.server.dsn("postgres"))


def test_an_address_that_is_taken_is_refused(clinic_server: ClinicServer) -> None:
    refused(clinic_server, KanonError, port=clinic_server.port)


def test_its_role_needs_rights_and_is_told_which(clinic_server: ClinicServer) -> None:
    with psycopg.connect(clinic_server.superuser, autocommit=True) as admin:
        admin.execute("revoke select on kanon.protected_names from gateway_service")
        try:
            error = refused(clinic_server, NotPermitted)
        finally:
            admin.execute("grant select on kanon.protected_names to gateway_service")
    assert error.hint is not None
    assert f'kanon.protected_names TO "{SERVICE}";' in error.hint
