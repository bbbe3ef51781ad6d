"""Finds, or builds, the hierarchies that a call asks for."""

from __future__ import annotations

import json

from kanon_pg.db.catalog import RelationFacts
from kanon_pg.db.identifiers import Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import render
from kanon_pg.errors import InputError
from kanon_pg.hierarchies.build import build
from kanon_pg.hierarchies.storage import held_hierarchy
from kanon_pg.release.canonical import CanonicalColumn
from kanon_pg.release.generalized import GeneralizedColumn, require_fit
from kanon_pg.release.hierarchy_argument import HierarchyWish


def plan_hierarchies(
    db: Database,
    base: RelationFacts,
    columns: tuple[CanonicalColumn, ...],
    wishes: tuple[HierarchyWish, ...],
    role: str,
) -> tuple[GeneralizedColumn, ...]:
    """Return the generalized ones of the quasi-identifiers, in their order.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    base : RelationFacts
        The base relation.
    columns : tuple of CanonicalColumn
        The quasi-identifiers.
    wishes : tuple of HierarchyWish
        What the call asks for.
    role : str
        Whose hierarchies may be used.

    Raises
    ------
    UnknownName
        If there is no such column or hierarchy.
    NotPermitted
        If a hierarchy is somebody else's.
    InputError
        If a wish cannot be fulfilled.
    """
    wished = {base.column(wish.column).name: wish for wish in wishes}
    chosen = {column.facts.name for column in columns}
    for name in wished:
        if name not in chosen:
            raise InputError(
                f"Column {base.column(name).identifier} has a hierarchy, but is not a quasi-identifier.",
                hint="Only cells of quasi-identifiers are generalized; leave the hierarchy out.",
            )
    return tuple(
        _generalized(db, base, column, wished[column.facts.name], role)
        for column in columns
        if column.facts.name in wished
    )


def _generalized(
    db: Database, base: RelationFacts, column: CanonicalColumn, wish: HierarchyWish, role: str
) -> GeneralizedColumn:
    if wish.hierarchy is None:
        built = build(db, base, column.facts, wish.builder)
        require_fit(column, wish, built.hierarchy.height)
        return GeneralizedColumn(
            column, wish, built.output, built.hierarchy.height, rows=json.dumps(built.hierarchy.rows())
        )
    stored = held_hierarchy(db, wish.hierarchy, role)
    require_fit(column, wish, stored.height)
    source = render("stored_nodes", name=Literal(stored.name), version=stored.version)
    return GeneralizedColumn(column, wish, stored.output, stored.height, source=source)
