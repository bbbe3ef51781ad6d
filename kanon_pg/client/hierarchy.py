"""Python API, the part about generalization hierarchies.

Tables are read with the rights of the login; what was read is then checked anew and stored as the owner role.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_pg.client.transactions import as_login, as_owner
from kanon_pg.db.protocol import Row
from kanon_pg.db.psycopg_adapter import Connection
from kanon_pg.hierarchies import defining
from kanon_pg.hierarchies.defining import HierarchyContent
from kanon_pg.hierarchies.definition import HierarchyDefinition
from kanon_pg.hierarchies.storage import StoredHierarchy
from kanon_pg.release.settings import exact_text


def define_hierarchy(
    target: str | Connection,
    hierarchy: str,
    rows: Sequence[Sequence[str | None]],
    options: Mapping[str, Any] | None = None,
) -> StoredHierarchy:
    """Store a hierarchy that is written out, as the next version of its name.

    Parameters
    ----------
    target : str or psycopg.Connection
        A DSN, or an open connection that is not inside a transaction.
    hierarchy : str
        Its name.
    rows : list of list of str
        Per value the value, then its nodes from level 1.
    options : mapping, optional
        ``output`` (type of the nodes), ``description``, ``shared``.

    Raises
    ------
    KanonError
        Any error of the tree; nothing is changed then.
    """
    listed = [list(row) if isinstance(row, tuple) else row for row in rows]
    definition = {**(options or {}), "rows": listed if isinstance(rows, list | tuple) else None}
    with as_owner(target) as (db, role):
        return defining.define(db, hierarchy, definition, role=role)


def load_hierarchy(
    target: str | Connection, hierarchy: str, relation: str, options: Mapping[str, Any] | None = None
) -> StoredHierarchy:
    """Store a hierarchy that is in a table, see `kanon_pg.hierarchies.sources.read_table`."""
    with as_login(target, None) as db, exact_text(db):
        found = defining.read_table(db, relation, options)
    return _store(target, hierarchy, found)


def build_hierarchy(
    target: str | Connection,
    hierarchy: str,
    relation: str,
    column_name: str,
    spec: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
) -> StoredHierarchy:
    """Build a hierarchy over a column and store it, see `kanon_pg.hierarchies.build.build`."""
    with as_login(target, None) as db, exact_text(db):
        found = defining.build_column(db, relation, column_name, spec, options)
    return _store(target, hierarchy, found)


def hierarchy_content(target: str | Connection, hierarchy: str) -> HierarchyContent:
    """Return a stored hierarchy with its values and nodes."""
    with as_owner(target) as (db, role):
        return defining.content(db, hierarchy, role=role)


def show_hierarchy(target: str | Connection, hierarchy: str, most: int = 10) -> list[str]:
    """Return a stored hierarchy as the lines of a tree, with so many nodes below each at most."""
    with as_owner(target) as (db, role):
        return defining.show(db, hierarchy, most, role=role)


def drop_hierarchy(target: str | Connection, hierarchy: str) -> None:
    """Forget a stored hierarchy with all its versions; releases made with it stay as they are."""
    with as_owner(target) as (db, role):
        defining.drop(db, hierarchy, role=role)


def hierarchies(target: str | Connection) -> Sequence[Row]:
    """Return all stored hierarchies by name, in their latest versions."""
    with as_owner(target) as (db, _):
        return defining.hierarchies(db)


def _store(target: str | Connection, hierarchy: str, found: HierarchyDefinition) -> StoredHierarchy:
    with as_owner(target) as (db, role):
        return defining.store(db, hierarchy, found, role=role)
