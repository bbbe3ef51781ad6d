"""The hospital in each of its worlds, on the tests' server."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from tests.fixtures.databases import Server
from tests.query.people import World, load

Worlds = Mapping[World, psycopg.Connection[Any]]


@pytest.fixture(scope="session")
def bare_worlds(server: Server) -> Iterator[Worlds]:
    """Yield a superuser's connection to a database without any guard, for each world."""
    with ExitStack() as stack:
        connections = {}
        for world in World:
            name = stack.enter_context(server.database("hospital"))
            connection = stack.enter_context(psycopg.connect(server.dsn(name), autocommit=True))
            load(connection, world)
            connections[world] = connection
        yield connections
