"""Stored hierarchies: each name has versions, of which the latest counts.

Releases copy what they use, so storing or dropping a hierarchy changes no release. The values are those of
somebody's table: only who stored a hierarchy may see or use it, unless it is shared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kanon_pg.core.hierarchy import GeneralizationHierarchy
from kanon_pg.db.failures import UNIQUE_VIOLATION
from kanon_pg.db.history import record_event
from kanon_pg.db.identifiers import Fragment, Identifier, array_element
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, InputError, NameTaken, NotPermitted, UnknownName, as_given
from kanon_pg.hierarchies.definition import HierarchyDefinition
from kanon_pg.hierarchies.ranges import ELEMENTS


@dataclass(frozen=True, slots=True)
class StoredHierarchy:
    """One version of a stored hierarchy.

    Its values are in ``kanon.hierarchy_value`` under (`name`, `version`): per value the nodes of level 1 to
    ``height - 1`` in the text form of the type `output`.
    """

    name: str
    version: int
    kind: str
    output: str
    height: int
    nodes: tuple[int, ...]
    """Different nodes per level, from the values to the top."""


def stored_hierarchy(db: Database, name: str, role: str, version: int | None = None) -> StoredHierarchy:
    """Return a hierarchy that a role may use, in the latest version unless one is given."""
    row = _find(db, name, version, role)
    if not row["usable"]:
        raise NotPermitted(
            f"Hierarchy {Identifier((name,))} belongs to another role, which does not share it.",
            hint='Its maker can store it anew with the option {"shared": true}.',
        )
    return StoredHierarchy(
        name, row["version"], row["kind"], row["output"], row["height"], tuple(row["nodes"])
    )


def held_hierarchy(db: Database, name: str, role: str) -> StoredHierarchy:
    """Look a hierarchy up, as `stored_hierarchy` does, that cannot be dropped until the transaction ends."""
    if not db.rows(statement("hierarchy_hold"), name):
        raise _unknown(name)
    return stored_hierarchy(db, name, role)


def store(db: Database, name: str | None, definition: HierarchyDefinition, role: str) -> StoredHierarchy:
    """Store a hierarchy as the next version of its name.

    The definition is checked already; only ranges are checked here, by the database.
    """
    if name is None:
        raise InputError("The name of the hierarchy is NULL.", hint="Give it a name, for example 'ages'.")
    Identifier.of(name)
    hierarchy = definition.hierarchy
    db.execute(statement("hierarchy_lock"))
    version: int = db.row(statement("hierarchy_next_version"), name)["version"]
    if version > 1:
        _require_owned(db, name, role)
    fields = (
        definition.options.description,
        definition.kind,
        json.dumps(dict(definition.spec)),
        definition.output,
        hierarchy.height,
        list(hierarchy.node_counts),
        definition.options.shared,
    )
    _insert(db, name, version, fields, role)
    _insert_values(db, name, version, hierarchy)
    if definition.output in ELEMENTS:
        _require_nested_ranges(db, name, version, definition)
    record_event(db, "hierarchy_store", Identifier.of(name), role, version=version, kind=definition.kind)
    return stored_hierarchy(db, name, role, version)


def drop(db: Database, name: str, role: str) -> None:
    """Forget a hierarchy with all its versions; releases that were made with it keep their copies."""
    _require_owned(db, name, role)
    db.execute(statement("hierarchy_drop"), name)
    record_event(db, "hierarchy_drop", Identifier.of(name), role)


def read(db: Database, stored: StoredHierarchy) -> GeneralizationHierarchy:
    """Return the values of a stored hierarchy with their nodes, in their order as texts."""
    return hierarchy_in(db.rows(statement("hierarchy_rows"), stored.name, stored.version))


def hierarchy_in(rows: Sequence[Row]) -> GeneralizationHierarchy:
    """Return the hierarchy in rows of a value each, with the nodes above it, from the lowest up."""
    levels = zip(*(row["nodes"] for row in rows), strict=True)
    return GeneralizationHierarchy(tuple(row["value"] for row in rows), tuple(levels))


def _insert(db: Database, name: str, version: int, fields: tuple[Any, ...], role: str) -> None:
    try:
        with db.savepoint():
            db.execute(statement("hierarchy_insert"), name, version, *fields, role)
    except DatabaseError as error:
        if error.server_state != UNIQUE_VIOLATION:
            raise
        raise NameTaken(
            f"Another call has stored hierarchy {Identifier((name,))} since this transaction began.",
            hint="Repeat the call in a transaction of its own.",
        ) from error


def _insert_values(db: Database, name: str, version: int, hierarchy: GeneralizationHierarchy) -> None:
    above = hierarchy.levels[0] if hierarchy.levels else ("",) * len(hierarchy.values)
    arrays = _node_arrays(hierarchy)
    nodes = [arrays[node] for node in above]
    db.execute(statement("hierarchy_insert_values"), name, version, list(hierarchy.values), nodes)


def _node_arrays(hierarchy: GeneralizationHierarchy) -> dict[str, str]:
    """Return per node of level 1 the text of an array with it and the nodes above it.

    One text for all values below it, because an array per level would have a text for each value.
    """
    arrays = {"": ""}  # above the last level
    above: tuple[str, ...] = ("",) * len(hierarchy.values)
    for nodes in reversed(hierarchy.levels):
        parents = dict(zip(nodes, above, strict=True))
        arrays = {node: f"{array_element(node)},{arrays[parent]}" for node, parent in parents.items()}
        above = nodes
    return {node: f"{{{array.removesuffix(',')}}}" for node, array in arrays.items()}


def _find(db: Database, name: str, version: int | None, role: str) -> Any:
    rows = db.rows(statement("hierarchy_find"), name, version, role)
    if not rows:
        raise _unknown(name, version)
    return rows[0]


def _unknown(name: str, version: int | None = None) -> UnknownName:
    which = f"hierarchy {as_given(name)}"
    return UnknownName(
        f"There is no {which}." if version is None else f"There is no version {version} of {which}.",
        hint="SELECT * FROM kanon.hierarchies lists them.",
    )


def _require_owned(db: Database, name: str, role: str) -> None:
    if not _find(db, name, None, role)["owned"]:
        raise NotPermitted(
            f"Hierarchy {Identifier((name,))} belongs to another role.",
            hint="Choose another name, or ask its maker.",
        )


def _nodes_with_parents(hierarchy: GeneralizationHierarchy) -> Iterator[tuple[int, str, str | None]]:
    """Yield each node once: its level, itself, and the node above it, None below the top."""
    for level, (nodes, above) in enumerate(pairwise(hierarchy.levels), 1):
        for node, parent in dict(zip(nodes, above, strict=True)).items():
            yield level, node, parent
    for node in set(hierarchy.levels[-1] if hierarchy.levels else ()):
        yield len(hierarchy.levels), node, None


def _require_nested_ranges(db: Database, name: str, version: int, definition: HierarchyDefinition) -> None:
    output, element = definition.output, ELEMENTS[definition.output]
    nodes = list(_nodes_with_parents(definition.hierarchy))
    command = statement(
        "hierarchy_broken_ranges", element=Fragment(element), range=Fragment(f"pg_catalog.{output}")
    )
    try:
        with db.savepoint():
            broken = db.row(command, name, version, *([node[part] for node in nodes] for part in range(3)))
    except DatabaseError as error:
        if not (error.server_state or "").startswith("22"):
            raise
        raise InputError(
            f"Values of the hierarchy are not of type {element}, or nodes not of type {output}.",
            hint="Give ranges as PostgreSQL writes them, for example [20,30).",
        ) from error
    for key, sentence in _BROKEN.items():
        if broken[key] is not None:
            raise InputError(
                f"The hierarchy is not monotone: {sentence.format(broken[key])}.",
                hint="Every range must hold its values and lie within one range of the level above.",
            )


_BROKEN = {
    "misplaced": "a range of level {} does not hold its own value",
    "torn": "a range of level {} does not lie within the range above it",
    "overlapping": "ranges of level {} overlap",
}
