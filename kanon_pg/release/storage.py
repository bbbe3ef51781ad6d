"""Writes the two relations behind a release: the mapping and the guarded materialized view."""

from __future__ import annotations

from typing import Any

from kanon_pg.db.failures import UNIQUE_VIOLATION
from kanon_pg.db.identifiers import Fragment, Identifier, derived_name
from kanon_pg.db.protocol import Database, PackedColumn
from kanon_pg.db.queries import statement
from kanon_pg.errors import DatabaseError, ReleaseError
from kanon_pg.release.plan import ReleasePlan


def storage_names(plan: ReleasePlan, generation: int) -> tuple[Identifier, Identifier]:
    """Return fresh names for the materialized view and the mapping of a release."""
    return (
        Identifier.of("kanon", derived_name(plan.name, f"v{generation}")),
        Identifier.of("kanon", derived_name(plan.name, f"v{generation}", "mapping")),
    )


def write_mapping(db: Database, mapping: Identifier, keys: bytes, patterns: bytes) -> None:
    """Create the table that says which columns to suppress for which row type.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    mapping : Identifier
        The table to create.
    keys, patterns : bytes
        Row type hashes and masks of suppressed columns, packed, equal lengths.

    Raises
    ------
    ReleaseError
        If two row types have the same hash: the primary key, on which the view's counts rely, refuses it.
    """
    db.execute(statement("create_mapping", mapping=mapping))
    db.load(mapping, [PackedColumn("row_type", keys), PackedColumn("pattern", patterns)])
    try:
        db.execute(statement("index_mapping", mapping=mapping))
    except DatabaseError as error:
        if error.server_state != UNIQUE_VIOLATION:
            raise
        raise ReleaseError(
            "Two row types have the same 64-bit hash.", hint="This is very rare; please report it."
        ) from error
    db.execute(statement("analyze", relation=mapping))


def create_storage(
    db: Database, plan: ReleasePlan, storage: Identifier, mapping: Identifier, *, k: int, hash_seed: int
) -> None:
    """Create and fill the materialized view whose own definition withholds classes below `k`.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    plan : ReleasePlan
        What to publish.
    storage, mapping : Identifier
        The view to create and the table it reads.
    k : int
        Fewest people per class.
    hash_seed : int
        Seed of the row type's hash in `mapping`.
    """
    db.execute(
        statement(
            "create_storage",
            **storage_parts(plan),
            storage=storage,
            mapping=mapping,
            k=k,
            hash_seed=hash_seed,
        )
    )
    db.execute(statement("analyze", relation=storage))


def storage_parts(plan: ReleasePlan) -> dict[str, Any]:
    """Return what the templates of the storage need to know of a plan."""
    suppressible = {
        column.facts.name: {
            "expression": column.expression,
            "alias": column.alias,
            "output": column.output,
            "stored": column.stored("counted"),
            "suppressed": column.suppressed,
            "bit": 1 << position,
            "base_hash": column.hashed("base"),
            "masked_hash": column.hashed("masked"),
        }
        for position, column in enumerate(plan.quasi_identifiers)
    }
    carried = {
        column.name: {
            "expression": column.identifier,
            "alias": Identifier.of(f"c{number}"),
            "output": column.identifier,
            "stored": Fragment(f"counted.c{number}"),
        }
        for number, column in enumerate(plan.carried, 1)
    }
    everything = {**suppressible, **carried}
    entity = plan.entity
    return {
        "relation": plan.base.identifier,
        "columns": list(suppressible.values()),
        "carried": list(carried.values()),
        "published": [everything[c.name] for c in plan.base.columns if c.name in everything],
        "entity": None
        if entity is None
        else {"expression": entity.expression, "hashed": entity.hashed("counted")},
        "all_suppressed": (1 << len(plan.quasi_identifiers)) - 1,
    }
