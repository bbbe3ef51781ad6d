"""What users ask of hierarchies: define, read from a table, build over a column, see, forget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanon_pg.core.hierarchy import GeneralizationHierarchy
from kanon_pg.db.catalog import RelationFacts, caller, describe, require_readable
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.errors import InputError
from kanon_pg.hierarchies import build, sources, storage
from kanon_pg.hierarchies.definition import HierarchyDefinition, read_definition
from kanon_pg.hierarchies.storage import StoredHierarchy
from kanon_pg.hierarchies.tree import tree_lines, tree_of

KINDS = ("rows", "table", "taxonomy", *build.NAMES)
"""Where a hierarchy can come from."""


@dataclass(frozen=True, slots=True)
class HierarchyContent:
    """A stored hierarchy with its values."""

    stored: StoredHierarchy
    hierarchy: GeneralizationHierarchy


def define(db: Database, name: str, definition: Any, *, role: str) -> StoredHierarchy:
    """Check a definition and store it, see `read_definition` and `kanon_pg.hierarchies.storage.store`."""
    return storage.store(db, name, read_definition(definition, KINDS), role)


def store(db: Database, name: str, definition: HierarchyDefinition, *, role: str) -> StoredHierarchy:
    """Store what `read_table` or `build_column` returned, see `kanon_pg.hierarchies.storage.store`."""
    return storage.store(db, name, definition, role)


def read_table(db: Database, relation: str, options: Any = None) -> HierarchyDefinition:
    """Read a hierarchy from a table with the caller's rights, see `kanon_pg.hierarchies.sources.read_table`.

    Raises
    ------
    UnknownName, NotPermitted
        If there is no such relation, or the caller may not read it.
    """
    facts = _readable(db, relation)
    require_readable(facts, facts.columns, caller(db))
    return sources.read_table(db, facts, options)


def build_column(
    db: Database, relation: str, column: str | None, spec: Any, options: Any = None
) -> HierarchyDefinition:
    """Build a hierarchy over a column with the caller's rights, see `kanon_pg.hierarchies.build.build`.

    Raises
    ------
    UnknownName, NotPermitted
        If there is no such column, or the caller may not read it.
    """
    facts = _readable(db, relation)
    if column is None:
        raise InputError("The column is NULL.", hint="Name the column that the hierarchy is for.")
    found = facts.column(column)
    require_readable(facts, (found,), caller(db))
    return build.build(db, facts, found, spec, options)


def content(db: Database, name: str, *, role: str) -> HierarchyContent:
    """Return the latest version of a hierarchy with its values."""
    found = storage.stored_hierarchy(db, name, role)
    return HierarchyContent(found, storage.read(db, found))


def show(db: Database, name: str, most: int | None, *, role: str) -> list[str]:
    """Return a hierarchy as the lines of a tree.

    Parameters
    ----------
    most : int
        Most nodes shown below each, >= 1.

    Raises
    ------
    InputError
        If `most` is no such number.
    UnknownName, NotPermitted
        See `kanon_pg.hierarchies.storage.stored_hierarchy`.
    """
    if most is None or most < 1:
        raise InputError(
            "most must be at least 1.", hint="It is how many nodes are shown below each; 10 is usual."
        )
    found = content(db, name, role=role)
    return list(tree_lines(tree_of(found.hierarchy, found.stored.output), most))


def drop(db: Database, name: str, *, role: str) -> None:
    """Forget a hierarchy, see `kanon_pg.hierarchies.storage.drop`."""
    storage.drop(db, name, role)


def hierarchies(db: Database) -> Sequence[Row]:
    """Return the stored hierarchies by name, in their latest versions."""
    return db.rows(statement("list_hierarchies"))


def _readable(db: Database, relation: str) -> RelationFacts:
    return describe(db, relation, caller(db))
