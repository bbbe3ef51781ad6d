"""The client's interface: `Database` over a psycopg connection. Nothing else imports psycopg."""

from kanon_pg.db.psycopg_adapter.answers import (
    TUPLES,
    Column,
    Cursor,
    RowFactory,
    RowMaker,
    as_texts,
    checked_factory,
    from_texts,
    row_maker,
    shape,
    type_number,
)
from kanon_pg.db.psycopg_adapter.connections import (
    Connection,
    Endpoint,
    connect,
    endpoint,
    mapped_errors,
    no_statement_left,
    repeatable_read,
)
from kanon_pg.db.psycopg_adapter.database import PsycopgDatabase

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
