"""The client's interface: `Database` over a psycopg connection. Nothing else imports psycopg."""

from kanon_pg.db.psycopg_adapter.answers import (
    TUPLES,
    Column,
    Cursor,
    RowFactory,
    RowMaker,
    checked_factory,
    row_maker,
    shape,
)
from kanon_pg.db.psycopg_adapter.connections import (
    Connection,
    Endpoint,
    connect,
    endpoint,
    no_statement_left,
    repeatable_read,
)
from kanon_pg.db.psycopg_adapter.database import PsycopgDatabase
from kanon_pg.db.psycopg_adapter.failures import mapped_errors
from kanon_pg.db.psycopg_adapter.values import as_texts, from_texts, type_number

__all__ = [
    "TUPLES",
    "Column",
    "Connection",
    "Cursor",
    "Endpoint",
    "PsycopgDatabase",
    "RowFactory",
    "RowMaker",
    "as_texts",
    "checked_factory",
    "connect",
    "endpoint",
    "from_texts",
    "mapped_errors",
    "no_statement_left",
    "repeatable_read",
    "row_maker",
    "shape",
    "type_number",
]
