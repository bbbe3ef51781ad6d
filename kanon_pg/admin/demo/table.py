"""Puts the generated patients into a table of the demo's database."""

from __future__ import annotations

import pyarrow as pa

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.psycopg_adapter import Connection, PsycopgDatabase
from kanon_pg.db.queries import statement
from kanon_pg.tables.load import append_batches


def create_patients(connection: Connection, patients: pa.Table) -> int:
    """Create the table `patients` and fill it by COPY, in the connection's transaction.

    Parameters
    ----------
    connection : psycopg.Connection
        Open, to a database that has no such table.
    patients : pyarrow.Table
        What `kanon_pg.admin.demo.patients.patients` returned.

    Returns
    -------
    int
        Rows stored.
    """
    db = PsycopgDatabase(connection)
    db.execute(statement("demo_create_patients"))
    table = Identifier.of("patients")
    rows = append_batches(connection, table, patients.column_names, patients.to_batches())
    db.execute(statement("analyze", relation=table))
    return rows
