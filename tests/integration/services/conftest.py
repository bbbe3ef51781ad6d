"""A database for the tests of a module, which make tables of their own in it."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.fixtures.audits import COLUMNS, PEOPLE
from tests.fixtures.databases import Server
from tests.fixtures.services import ODD, THINGS, Services, declare_all


@pytest.fixture(scope="module")
def prepared(server: Server, kanon_template: str) -> Iterator[psycopg.Connection]:
    """Yield a superuser's connection to a database with people, things and what is refused."""
    with (
        server.database("services", kanon_template) as name,
        psycopg.connect(server.dsn(name), autocommit=True) as connection,
    ):
        connection.execute((PEOPLE + THINGS + ODD).encode())
        services = Services(connection)
        services.declare(
            "of_persons",
            identifiers=["id"],
            quasi_identifiers=COLUMNS,
            sensitive=["illness"],
            entity="person",
        )
        declare_all(services)
        yield connection


@pytest.fixture
def services(prepared: psycopg.Connection) -> Services:
    return Services(prepared)
