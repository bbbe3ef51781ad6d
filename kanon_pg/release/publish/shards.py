"""The storage of a release on all nodes: which releases have one, how it is filled, how the view reads it.

`kanon_pg.release.plan.nodes` refuses where the nodes do not answer the owner role, or answer others.

A refresh fills a new storage by the old rules and swaps them.

Citus has no snapshot across nodes. So nothing that is promised rests on reading the base table twice: classes
are counted on what was stored, which no other session can change, small ones are removed from it, and the
recount reads the same rows. What the solver proved applies only if the figures agree.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Any

from kanon_pg.core.packed import ITEM_BYTES
from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe
from kanon_pg.db.citus import Distribution, distribution_of, owner_reads
from kanon_pg.db.identifiers import Fragment, Identifier, Literal, derived_name
from kanon_pg.db.protocol import Database
from kanon_pg.db.settings import created_everywhere, setting
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import ReleaseError
from kanon_pg.relations.counting import HASH_SEED
from kanon_pg.release.plan.base import OWNER
from kanon_pg.release.plan.nodes import require_closed
from kanon_pg.release.plan.planning import ReleasePlan, recorded_plan
from kanon_pg.release.plan.record import SHARDS_SCHEMA, ReleaseRecord
from kanon_pg.release.publish.recount import recount
from kanon_pg.release.publish.storage import StorageNames, storage_parts
from kanon_pg.release.publish.view import swap_view


@dataclass(frozen=True, slots=True)
class Shards:
    """How the storage of a release is distributed."""

    distribution: Distribution
    """That of the base table."""
    by_person: bool
    """Whether rows move to the shards of their people, because the base table is distributed by something
    else. Otherwise each row stays on its node."""


def shards_of(db: Database, plan: ReleasePlan, *, remembers: bool = False) -> Shards | None:
    """Return how nodes store a release; None if the coordinator does, with a notice where that costs."""
    distribution = distribution_of(db, plan.base.identifier)
    if distribution is None:
        return None
    reason = "its versions are remembered." if remembers else _needs_one_place(db, plan)
    if reason is not None:
        db.notice(
            f"All rows of {plan.base.identifier} travel to the coordinator, which stores the release: "
            f"{reason}"
        )
        return None
    entity = plan.entity
    return Shards(distribution, by_person=entity is not None and entity.facts.name != distribution.column)


def _needs_one_place(db: Database, plan: ReleasePlan) -> str | None:
    if not owner_reads(db, plan.base.oid):
        return f"nodes store as {OWNER}, which runs no code of others, and so tables of superusers only."
    if plan.models:
        return "privacy models (l, p, t) compare classes with all rows."
    if plan.generalized:
        return "it has hierarchies."
    if plan.subsets is not None:
        return "option subsets compares all rows."
    people = () if plan.entity is None else (plan.entity,)
    for column in (*plan.quasi_identifiers, *people):
        if column.is_spelled_by_others:
            return (
                f"one value of column {column.output} of type {column.facts.type} may have several "
                "spellings, and all rows say which is taken. Another type, for example text, avoids that."
            )
    return None


_SEED_BYTES = 2 * ITEM_BYTES


def reader_of(storage: Identifier) -> Identifier:
    """Return the name of the function through which the view of a release reads its storage."""
    return Identifier.of(SHARDS_SCHEMA, derived_name(storage.name, "rows"))


def create_shards(
    db: Database, plan: ReleasePlan, shards: Shards, names: StorageNames, *, k: int
) -> Fragment:
    """Create and fill the storage of a release on all nodes, without classes of fewer than `k` people.

    Returns
    -------
    Fragment
        What the view of the release reads.

    Raises
    ------
    InstallError
        If others than the owner role may use its schema on a node.
    """
    require_closed(db)
    parts = _parts(plan, shards, names)
    with setting(db, "client_min_messages", "warning"):
        parts["rules"] = _create_rules(db, parts, names)
        db.execute(statement("distributed/create_shards", **parts, seed=Literal("")))
        _distribute(db, plan, shards, names.storage)
        seed = secrets.token_hex(_SEED_BYTES)
        db.execute(statement("distributed/fill_shards", **parts, seed=Fragment("$1")), seed)
        db.execute(statement("drop_table", table=parts["rules"]))
        _remove_small(db, parts, names.storage, k=k)
    return _create_reader(db, plan, names.storage)


def refresh_shards(db: Database, record: ReleaseRecord, base: RelationFacts, generation: int) -> Identifier:
    """Store the rows that the base table has now, by the rules of before, and show them instead.

    Returns
    -------
    Identifier
        The new storage.

    Raises
    ------
    ReleaseError
        If the table is not distributed any more, or not in a way that the release can follow.
    VerificationFailed
        If a class is too small, which would be a defect.
    """
    plan = recorded_plan(db, record, base)
    shards = shards_of(db, plan)
    if shards is None:
        raise ReleaseError(
            f"{base.identifier} is not distributed as it was when the release was published, or no "
            "superuser's any more.",
            hint="Publish it anew with kanon_anonymize.",
        )
    names = StorageNames(
        storage=Identifier.of(SHARDS_SCHEMA, derived_name(record.name, f"v{generation}")),
        mapping=record.mapping,
        parts=record.parts,
    )
    shown = create_shards(db, plan, shards, names, k=record.k)
    if db.row(statement("count_rows", relation=names.storage))["rows"]:
        recount(db, plan, names.storage, k=record.k, on_nodes=True)
    swap_view(db, plan, shown, k=record.k)
    drop_shards(db, record.stored)
    return names.storage


def drop_shards(db: Database, storage: Identifier) -> None:
    """Drop the storage of a release on all nodes, and what its view read."""
    with created_everywhere(db):
        db.execute(statement("distributed/drop_reader", reader=reader_of(storage)))
        db.execute(statement("drop_table", table=storage))


def _parts(plan: ReleasePlan, shards: Shards, names: StorageNames) -> dict[str, Any]:
    place = plan.base.column(shards.distribution.column).identifier
    parts = storage_parts(plan) | {
        "place": place,
        "by_person": shards.by_person,
        "storage": names.storage,
        "mapping": names.mapping,
        "parts": names.parts,
        "row_seed": Fragment("rules.seed"),
        "hash_seed": HASH_SEED,
    }
    for column, found in zip(plan.quasi_identifiers, parts["columns"], strict=True):
        found["stored_hash"] = replace(column, alias=column.output).hashed("s")
    return parts


def _create_rules(db: Database, parts: dict[str, Any], names: StorageNames) -> Identifier:
    """Put together what says which pattern a row has; returns the name of that table.

    Citus sends it to all nodes with the statement that stores. A reference table would do the same, but one
    that was created in this transaction is known to one connection to each node alone, and shards to others.
    """
    rules = Identifier.of(SHARDS_SCHEMA, derived_name(names.storage.name, "rules"))
    chances = Identifier.of(SHARDS_SCHEMA, derived_name(names.storage.name, "chances"))
    if names.parts is not None:
        db.execute(
            statement(
                "distributed/create_chances",
                **parts | {"row_seed": Fragment("divided.seed")},
                chances=chances,
            )
        )
    db.execute(statement("distributed/create_rules", **parts, rules=rules, chances=chances))
    if names.parts is not None:
        db.execute(statement("drop_table", table=chances))
    return rules


def _distribute(db: Database, plan: ReleasePlan, shards: Shards, storage: Identifier) -> None:
    if shards.by_person:
        db.row(statement("distributed/distribute"), str(storage), shards.distribution.shards)
    else:
        db.row(statement("distributed/distribute_like"), str(storage), str(plan.base.identifier))


def _remove_small(db: Database, parts: dict[str, Any], storage: Identifier, *, k: int) -> None:
    small = Identifier.of(SHARDS_SCHEMA, derived_name(storage.name, "small"))
    db.execute(statement("distributed/collect_small", **parts, small=small, k=k))
    if db.row(statement("count_rows", relation=small))["rows"]:
        db.execute(statement("distributed/remove_small", **parts, small=small))
    db.execute(statement("drop_table", table=small))


def _create_reader(db: Database, plan: ReleasePlan, storage: Identifier) -> Fragment:
    stored = describe(db, str(storage), OWNER)
    names = [c.facts.name for c in plan.quasi_identifiers] + [c.name for c in plan.carried]
    columns = [stored.column(column.name) for column in plan.base.columns if column.name in names]
    parts = [{"output": column.identifier, "type": Fragment(column.plain_type)} for column in columns]
    people = () if plan.entity is None else (plan.entity.facts,)
    reader = reader_of(storage)
    body = render("distributed/reader_body", stored=parts, storage=storage)
    db.execute(
        statement(
            "distributed/create_reader",
            reader=reader,
            base=plan.base.identifier,
            read=[column.identifier for column in (*columns, *people)],
            stored=parts,
            body=Literal(body.text),
        )
    )
    db.execute(statement("distributed/close_reader", reader=reader))
    db.execute(statement("distributed/open_reader", reader=reader))
    return render("distributed/read_shards", reader=reader, stored=[_collated(column) for column in columns])


def _collated(column: ColumnFacts) -> dict[str, Any]:
    """A function's result has the collation of its type, not of the column."""
    schema, name = column.collation_schema, column.collation_name
    own = schema is not None and name is not None and (schema, name) != ("pg_catalog", "default")
    return {
        "output": column.identifier,
        "collation": Identifier.of(schema or "", name or "") if own else None,
    }
