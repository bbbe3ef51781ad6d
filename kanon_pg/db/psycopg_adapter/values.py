"""Texts that PostgreSQL reads and writes, from and to Python values, by psycopg's own rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer

from kanon_pg.db.psycopg_adapter.connections import Connection
from kanon_pg.errors import InputError


def as_texts(connection: Connection, values: Sequence[Any]) -> list[str | None]:
    """Return Python values as the texts that PostgreSQL reads, by psycopg's own rules.

    Raises
    ------
    InputError
        psycopg has no rule for the type of a value.
    """
    transformer = Transformer(connection)
    found: list[str | None] = []
    for value in values:
        try:
            dumped = None if value is None else transformer.get_dumper(value, PyFormat.TEXT).dump(value)
        except psycopg.ProgrammingError as error:
            raise InputError(
                f"A parameter of type {type(value).__name__} has no form in SQL.", hint="Give its text."
            ) from error
        found.append(None if dumped is None else bytes(dumped).decode())
    return found


def type_number(connection: Connection, type_name: str) -> int:
    """Return the OID of a type of ``pg_catalog``, 0 if psycopg does not know it."""
    known = connection.adapters.types.get(type_name)
    return 0 if known is None else known.oid


def from_texts(connection: Connection, types: Sequence[int], row: Sequence[str | None]) -> tuple[Any, ...]:
    """Return the texts of a row as Python values, by psycopg's own rules for the types' OIDs."""
    transformer = Transformer(connection)
    return tuple(
        None if text is None else transformer.get_loader(oid, psycopg.pq.Format.TEXT).load(text.encode())
        for oid, text in zip(types, row, strict=True)
    )
