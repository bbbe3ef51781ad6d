"""Enables and disables queries on a relation."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from kanon_pg.db.catalog import RelationFacts, describe, require_readable
from kanon_pg.db.citus import reads_tables_of_citus
from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, NotPermitted, UnknownName, UnsuitableColumn, UnsuitableRelation
from kanon_pg.queries.check.bind.columns import is_usable, why_unusable
from kanon_pg.queries.check.catalog import ColumnRole, Relation
from kanon_pg.queries.ledgers import begin_ledger, has_folder
from kanon_pg.queries.load_catalog import load_relation
from kanon_pg.queries.protection_rules import rules_from_arguments
from kanon_pg.relations.beside_queries import check_beside_queries


def protect(
    db: Database, relation: str, k: Any, options: Any, *, role: str, folder: str | None = None
) -> None:
    """Enable queries on a relation, or change the rules under which it answers them.

    Parameters
    ----------
    k : int
        Fewest people behind every part of an answer, 2 to 100.
    options : mapping or None
        Further fields of `kanon_pg.queries.protection_rules.ProtectionRules`.
    folder : str, optional
        Folder of the ledgers of queries, as in `kanon_pg.queries.ledgers.ledger_context`.

    Raises
    ------
    InputError
        For every invalid argument, and for a relation without declared roles, because then it is unknown
        which of its columns identify people.
    LedgerError
        If the relation has a ledger of queries whose files are missing or damaged.
    """
    facts = describe(db, relation, role)
    rules = rules_from_arguments(facts.oid, k, options)
    require_readable(facts, facts.columns, role)
    _require_lasting_table(db, facts)
    _require_declared(db, facts)
    db.execute(statement("store_protection"), facts.oid, json.dumps(asdict(rules)), role)
    made = load_relation(db, facts.oid, role)
    if made.obstacle is not None:
        kind = UnsuitableRelation if made.obstacle.lasting else NotPermitted
        raise kind(made.obstacle.sentence, hint=made.obstacle.hint)
    if not made.safe_to_read:
        raise UnsuitableRelation(
            f"Relation {facts.identifier} cannot answer queries: reading it may run code of others.",
            hint="Temporary and foreign tables, tables with row-level security and views that call functions "
            "cannot. Take a materialized view or a copy, or let a superuser own the functions.",
        )
    _check_types(db, facts, made)
    if made.protection is None or made.protection.entity is None:
        _count_rows_as_people(db, facts)
    check_beside_queries(db, relation=facts.oid)
    if rules.ledger != "off" or has_folder(folder):
        begin_ledger(db, facts.oid, role, folder=folder)


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
            detail="The ledger knows rows by where a table has them, which Citus does not tell.",
            hint="Publish a release (kanon_anonymize), or protect a copy: CREATE MATERIALIZED VIEW ...;",
        )


def _check_types(db: Database, facts: RelationFacts, made: Relation) -> None:
    """Refuse a column of persons whose type queries do not read, and name others of such types."""
    unusable = [item for item in made.columns if not is_usable(item) and item.role is not ColumnRole.WITHHELD]
    entity = made.protection.entity if made.protection is not None else None
    for column in unusable:
        if column.name == entity:
            raise UnsuitableColumn(
                f"The people of {facts.identifier} cannot be counted: {why_unusable(column)}.",
                hint="Declare a column of a number, text or uuid that names a person: "
                "SELECT kanon_declare(..., entity => 'person_id');",
            )
    for column in unusable:
        if column.role is not ColumnRole.IDENTIFIER:
            name = Identifier((column.name,))
            db.notice(f"Column {name} of {facts.identifier} cannot be queried: {why_unusable(column)}.")


def _count_rows_as_people(db: Database, facts: RelationFacts) -> None:
    """Say that every row counts as a person; those of a view cannot be told apart."""
    if facts.kind == "v":
        raise UnsuitableColumn(
            f"The people of the view {facts.identifier} cannot be counted.",
            hint="Declare the column that names a person: SELECT kanon_declare(..., entity => 'person');",
        )
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
    """Disable queries on a relation and revoke the rights granted for them; the ledger of queries stays.

    Raises
    ------
    UnknownName
        If the relation does not exist or answers no queries.
    """
    facts = describe(db, relation, role)
    require_readable(facts, facts.columns, role)
    if not db.rows(statement("forget_protection"), facts.oid):
        raise UnknownName(
            f"Relation {facts.identifier} does not answer queries.",
            hint="SELECT * FROM kanon.protections lists those that do.",
        )
