"""Databases with kanon, and a server of its own for what concerns roles, which belong to a whole server."""

from collections.abc import Iterator

import psycopg
import pytest

from kanon_pg.admin.install import python_path
from kanon_pg.admin.install.installer import install
from tests.fixtures.databases import Server, private_server


@pytest.fixture(scope="session")
def probe_answers() -> dict[tuple[str, ...], python_path.Answer]:
    return {}


@pytest.fixture
def probed_once(
    monkeypatch: pytest.MonkeyPatch, probe_answers: dict[tuple[str, ...], python_path.Answer]
) -> None:
    """Look once whether the server's Python can import the package: two thirds of an installation's time."""
    usual = python_path._probed

    def probed(
        probe: python_path.Probe, folders: list[str], marker: dict[str, str] | None = None
    ) -> python_path.Answer:
        if marker is not None:
            return usual(probe, folders, marker)
        if tuple(folders) not in probe_answers:
            probe_answers[tuple(folders)] = usual(probe, folders)
        return probe_answers[tuple(folders)]

    monkeypatch.setattr(python_path, "_probed", probed)


@pytest.fixture(scope="session")
def installed_template(server: Server) -> Iterator[str]:
    """Yield the name of a template database with kanon and the table patients."""
    with server.database("installed_template") as name:
        install(server.dsn(name))
        with psycopg.connect(server.dsn(name), autocommit=True) as connection:
            create_patients(connection)
        yield name


@pytest.fixture
def installed_dsn(server: Server, installed_template: str) -> Iterator[str]:
    """Yield a fresh database with kanon and the table patients."""
    with server.database("installed", installed_template) as name:
        with psycopg.connect(server.dsn(name), autocommit=True) as connection:
            # privileges of a database are not part of its template
            connection.execute(f"REVOKE TEMPORARY ON DATABASE {name} FROM PUBLIC")
        yield server.dsn(name)


@pytest.fixture
def db(installed_dsn: str) -> Iterator[psycopg.Connection]:
    """Yield a superuser's connection, in autocommit mode, to the database of `installed_dsn`."""
    with psycopg.connect(installed_dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def lonely_server() -> Iterator[Server]:
    """Start a server in which nobody else installs, creates or drops roles."""
    with private_server("lonely") as server:
        yield server


def create_patients(connection: psycopg.Connection) -> None:
    """Create a table of 60 people: two quasi-identifiers, an identifier and a sensitive column."""
    connection.execute(
        "CREATE TABLE public.patients AS SELECT i AS id, 20 + i % 6 AS age, "
        "(ARRAY['f', 'm'])[1 + i % 2] AS sex, 'd' || i % 4 AS diagnosis FROM generate_series(1, 60) AS i"
    )
    connection.execute("ALTER TABLE public.patients ADD PRIMARY KEY (id)")


def as_role(dsn: str, name: str) -> str:
    """Return a DSN with another user."""
    return psycopg.conninfo.make_conninfo(dsn, user=name)
