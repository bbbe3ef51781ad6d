"""Enables and disables queries on a relation."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from kanon_pg.db.catalog import RelationFacts, describe, require_readable
from kanon_pg.db.citus import reads_tables_of_citus
from kanon_pg.db.history import record_event
from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, NotPermitted, UnknownName, UnsuitableRelation, as_given
from kanon_pg.queries.noise.mechanism import capacity
from kanon_pg.queries.protection_rules import ProtectionRules, rules_from_arguments
from kanon_pg.queries.reading.facts import Relation, Role
from kanon_pg.queries.reading.load_facts import load_relation
from kanon_pg.queries.record.records import begin_record
from kanon_pg.relations.beside_queries import check_beside_queries
from kanon_pg.relations.subject import stored_declaration


def protect(
    db: Database, relation: str, k: Any, options: Any, *, role: str, folder: str | None = None
) -> None:
    """Enable queries on a relation, or change the rules under which it answers them.

    Raises
    ------
    InputError
        For every invalid argument, and for a relation without declared roles, because then it is unknown
        which of its columns identify people.
    LedgerError
        If there is a record about its people that is missing or damaged.
    """
    facts = describe(db, relation, role)
    rules = rules_from_arguments(facts.oid, k, options)
    require_readable(facts, facts.columns, role)
    _require_lasting_table(db, facts)
    _require_declared(db, facts)
    _require_noise(db, facts, rules)
    stored = asdict(rules) | {"exact_for": [str(Identifier((name,))) for name in rules.exact_for]}
    db.execute(statement("store_protection"), facts.oid, json.dumps(stored), role)
    made = load_relation(db, facts.schema, facts.name, role)
    if made.obstacle is not None:
        sentence, hint = made.obstacle
        kind = UnsuitableRelation if made.is_allowed else NotPermitted
        raise kind(sentence, hint=hint)
    _name_unusable_columns(db, facts, made)
    declared = stored_declaration(db, facts)
    if not made.links and (declared is None or declared.entity is None):
        _count_rows_as_people(db, facts)
    check_beside_queries(db, relation=facts.oid)
    if made.protection is not None:
        begin_record(db, made.protection.space, rules.k, role, folder=folder)
    record_event(db, "protect", facts.identifier, role, k=rules.k, noise=rules.noise is not None)


def _require_noise(db: Database, facts: RelationFacts, rules: ProtectionRules) -> None:
    """Refuse roles that do not exist, bounds of columns that do not, and noise that nothing can draw."""
    missing = db.rows(statement("missing_roles"), list(rules.exact_for)) if rules.exact_for else ()
    if missing:
        raise UnknownName(
            f"There is no role {as_given(missing[0]['name'])}, which exact_for names.",
            hint="Name roles that exist; members of them are answered exactly.",
        )
    if rules.noise is None:
        return
    unknown = [name for name in rules.noise.bounds if name not in {one.name for one in facts.columns}]
    if unknown:
        raise UnknownName(
            f"{facts.identifier} has no column {as_given(unknown[0])}, which bounds names.",
            hint="Bounds belong to columns of this relation.",
        )
    capacity(rules.noise.epsilon, rules.noise.delta)


def _require_lasting_table(db: Database, facts: RelationFacts) -> None:
    """Refuse temporary relations, those of the server and of this package, and what reads tables of Citus."""
    if facts.temporary:
        raise UnsuitableRelation(
            f"Relation {facts.identifier} is temporary: only one session can see it.",
            hint="Copy it into an ordinary table: CREATE TABLE ... AS TABLE ...;",
        )
    if facts.schema in {"kanon", "safe", "information_schema"} or facts.schema.startswith("pg_"):
        raise UnsuitableRelation(
            f"Relation {facts.identifier} belongs to kanon_pg or the server itself.",
            hint="Name a table of your own.",
        )
    if reads_tables_of_citus(db, facts.oid):
        raise UnsuitableRelation(
            f"Relation {facts.identifier} cannot answer queries: its rows are in tables of Citus.",
            detail="One statement reads blocks in one snapshot, and Citus has none for all nodes.",
            hint="Publish a release (kanon_anonymize), or protect a copy: CREATE MATERIALIZED VIEW ...;",
        )


def _name_unusable_columns(db: Database, facts: RelationFacts, made: Relation) -> None:
    """Name the columns of types that queries do not read."""
    for column in made.columns:
        if not column.is_built_in and column.role is not Role.WITHHELD:
            name = Identifier((column.name,))
            db.notice(
                f"Column {name} of {facts.identifier} cannot be queried: type {column.type_name} is not "
                "PostgreSQL's own."
            )


def _count_rows_as_people(db: Database, facts: RelationFacts) -> None:
    """Say that every row counts as a person."""
    db.notice(
        f"Every row of {facts.identifier} counts as a person. If people may have several rows, declare "
        "the column that names them: SELECT kanon_declare(..., entity => 'person_id');"
    )


def _require_declared(db: Database, facts: RelationFacts) -> None:
    """Refuse a relation without a declaration of which columns identify people."""
    rows = db.rows(statement("fetch_declaration"), facts.oid)
    if not rows or not any(rows[0][role] for role in ("quasi_identifiers", "sensitive", "insensitive")):
        name = Literal(str(facts.identifier))
        raise InputError(
            f"Relation {facts.identifier} has no declared columns that queries could use.",
            hint=f"Declare what its columns mean first; SELECT * FROM kanon_suggest({name}) proposes it.",
        )


def unprotect(db: Database, relation: str, *, role: str) -> None:
    """Disable queries on a relation and revoke the rights granted for them; the record of answers stays."""
    facts = describe(db, relation, role)
    require_readable(facts, facts.columns, role)
    if not db.rows(statement("forget_protection"), facts.oid):
        raise UnknownName(
            f"Relation {facts.identifier} does not answer queries.",
            hint="SELECT * FROM kanon.protections lists those that do.",
        )
    record_event(db, "unprotect", facts.identifier, role)
