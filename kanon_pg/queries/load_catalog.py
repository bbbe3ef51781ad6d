"""Loads the part of the catalog that a query names, as a `CatalogSnapshot` for the checker.

The rules are those at the head of `kanon_pg.queries.check.catalog`. A relation is read only if it, its schema
and everything that it reads belong to somebody trusted: a superuser, the database's owner, ``kanon_owner``,
curators, or owners of protected relations. Otherwise its owner could exchange it while a query runs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import reader_role
from kanon_pg.db.statements import statement
from kanon_pg.errors import NotPermitted
from kanon_pg.queries.check.catalog import (
    CatalogSnapshot,
    Column,
    ColumnRole,
    Obstacle,
    Protection,
    Relation,
    RelationKind,
)
from kanon_pg.queries.check.findings import Refusal, Span
from kanon_pg.queries.check.options import QueryLimits
from kanon_pg.queries.ledgers import has_folder
from kanon_pg.queries.protection_rules import ProtectionRules, fetch_rules

_PIECE = re.compile(
    r"""'(?:[^']|'')*'
    |--[^\r\n]*
    |/\*.*?\*/
    |"((?:[^"]|"")+)"
    |([A-Za-z_][A-Za-z0-9_]*)""",
    re.VERBOSE | re.DOTALL,
)


def names_in(text: str) -> tuple[str, ...]:
    """Return every name in a text as the catalog would have it, in no particular order.

    What is left out does not exist for the check that follows, so a text that this function reads
    differently than the checker can only be refused.

    Parameters
    ----------
    text : str
        Any text; nothing is found in one that is too long to be checked.

    Returns
    -------
    tuple of str
        Distinct names: quoted ones as they are, others in lower case.

    Examples
    --------
    >>> sorted(names_in('select "Ward" from Stays -- "not"'))
    ['Ward', 'from', 'select', 'stays']
    """
    if len(text) > QueryLimits().characters:
        return ()
    found = {quoted.replace('""', '"') if quoted else word.lower() for quoted, word in _PIECE.findall(text)}
    return tuple(sorted(found - {""}))


READER = "kanon_reader"
"""The role that reads what queries are about."""

_KINDS = {
    "r": RelationKind.TABLE,
    "p": RelationKind.PARTITIONED,
    "v": RelationKind.VIEW,
    "m": RelationKind.MATERIALIZED,
    "f": RelationKind.FOREIGN,
}

_UNUSABLE_K = 2
"""The k of relations that no query may use anyway."""


@dataclass(frozen=True, slots=True)
class LoadedCatalog:
    """A part of the catalog, and the rules of what is protected in it.

    Parameters
    ----------
    rules : Mapping of int to ProtectionRules
        By the OID of a relation in the snapshot.
    """

    snapshot: CatalogSnapshot
    rules: Mapping[int, ProtectionRules]


@dataclass(frozen=True, slots=True)
class NamedRelation:
    """A relation whose name occurs in a query, and whether the reading role may read it."""

    oid: int
    schema: str
    name: str
    readable: bool


def candidates(db: Database, text: str, search_path: Sequence[str]) -> tuple[NamedRelation, ...]:
    """Return the relations whose names occur in a text, temporary and internal ones left out."""
    found = names_in(text)
    if not found:
        return ()
    rows = db.rows(statement("query_candidates"), list(found), list(search_path))
    return tuple(NamedRelation(**row) for row in rows)


def load_catalog(db: Database, text: str, search_path: Sequence[str], role: str) -> LoadedCatalog:
    """Load what a query may name.

    Parameters
    ----------
    search_path : sequence of str
        The analyst's schemas, in order.

    Returns
    -------
    LoadedCatalog
        Reads as many rows of the catalog as the named relations have, however many others there are.
    """
    oids = [candidate.oid for candidate in candidates(db, text, search_path)]
    relations = _relations(db, oids, role)
    rules = {relation.oid: own for relation, own in relations if own is not None}
    zone = db.row(statement("session_zone"))
    obstacle = _OWN_CLOCK if zone["has_own_rules"] else None
    shown = tuple(
        replace(relation, obstacle=relation.obstacle or obstacle) if relation.oid in rules else relation
        for relation, _ in relations
    )
    return LoadedCatalog(CatalogSnapshot(shown, tuple(search_path), in_utc=zone["in_utc"]), rules)


_OWN_CLOCK = Obstacle(
    "The session's time zone says by itself when clocks are set: a day could come twice.",
    "Name a time zone or an offset: SET timezone = 'Europe/Berlin'.",
)
"""A day that comes twice would be two ranges of moments in a condition that names one."""


def require_ledgers(db: Database, loaded: LoadedCatalog, folder: str | None) -> LoadedCatalog:
    """Mark protected relations that have no ledger of queries although they need one.

    Parameters
    ----------
    db : Database
        May read ``kanon.ledger``.
    folder : str or None
        Folder of the ledgers of queries, as in `kanon_pg.queries.ledgers.ledger_context`.
    """
    unrecorded = _unrecorded(db, loaded.rules, folder)
    shown = tuple(
        replace(relation, obstacle=_no_ledger(relation)) if relation.oid in unrecorded else relation
        for relation in loaded.snapshot.relations
    )
    return replace(loaded, snapshot=replace(loaded.snapshot, relations=shown))


def _unrecorded(db: Database, rules: Mapping[int, ProtectionRules], folder: str | None) -> set[int]:
    roots = {own.relation for own in rules.values() if own.ledger != "off" or has_folder(folder)}
    recorded = (
        {row["relation"] for row in db.rows(statement("fetch_ledgers"), list(roots))} if roots else set()
    )
    return {oid for oid, own in rules.items() if own.relation in roots - recorded}


def _no_ledger(relation: Relation) -> Obstacle:
    name = Identifier((relation.schema, relation.name))
    call = f"SELECT kanon.restart_ledger({Literal(str(name))});"
    return Obstacle(f"{name} has no ledger of queries here.", f"A curator can begin one: {call}")


def query_reader(db: Database, oids: Sequence[int]) -> int | None:
    """Return the reader with whose rights the relations of a query are read; None: the reading role itself.

    What superusers own runs trusted code. What others own is read together only if it is one owner's, and
    with the rights of the reader that has no others' tables: code of theirs finds nothing else.

    Raises
    ------
    Refusal
        If there is no such reader, or a relation that it may not read.
    """
    found = db.row(statement("query_reader"), list(oids))
    owners, reader = found["owners"], found["reader"]
    if not owners:
        return None
    if len(owners) > 1:
        raise Refusal(
            "Q109",
            Span(0, 0),
            "The tables of this query belong to several owners: code of one could read what is another's.",
            "Let one role own them, or a superuser.",
        )
    if reader is None:
        raise Refusal(
            "Q109",
            Span(0, 0),
            f"No role reads the tables of {Identifier.of(owners[0])} for queries.",
            "Protect one of them (again): SELECT kanon_protect(...);",
        )
    role = reader_role(reader)
    for row in db.rows(statement("closed_to_reader"), list(oids), role):
        name = Identifier.of(row["schema"], row["name"])
        raise Refusal(
            "Q109",
            Span(0, 0),
            f"{name} cannot be queried together with the other tables: the role {role} may not read it.",
            f"Its owner can allow it: GRANT USAGE ON SCHEMA {Identifier.of(row['schema'])} TO {role}; "
            f"GRANT SELECT ON {name} TO {role};",
        )
    try:
        with db.savepoint():
            db.row(statement("begin_reading"))
    except NotPermitted as error:
        raise Refusal("Q109", Span(0, 0), error.message, error.hint or "") from None
    return int(reader)


def load_relation(db: Database, oid: int, role: str) -> Relation:
    """Return one relation that exists, as a query would find it."""
    ((relation, _),) = _relations(db, [oid], role)
    return relation


def _relations(db: Database, oids: list[int], role: str) -> list[tuple[Relation, ProtectionRules | None]]:
    facts = db.rows(statement("query_relations"), oids, role) if oids else []
    known = [row for row in facts if row["known"] or row["dependent"] or row["selectable"]]
    columns = _by_relation(db, "query_columns", [row["oid"] for row in known], role)
    keys = _by_relation(db, "query_keys", [row["oid"] for row in known])
    found = []
    for row in known:
        own = fetch_rules(db, row["protected_by"]) if row["protected_by"] is not None else None
        found.append((_relation(db, row, own, columns[row["oid"]], keys[row["oid"]]), own))
    return found


def _by_relation(db: Database, name: str, oids: list[int], *arguments: str) -> Mapping[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for row in db.rows(statement(name), oids, *arguments) if oids else ():
        found[row["relation"]].append(row)
    return found


def _relation(
    db: Database, row: Row, rules: ProtectionRules | None, columns: list[Row], keys: list[Row]
) -> Relation:
    is_secret = row["known"] or row["dependent"]
    roles = _roles(db, row["declared_by"]) if is_secret else {}
    entity = next((name for name, role in roles.items() if role is None), None)
    return Relation(
        oid=row["oid"],
        schema=row["schema"],
        name=row["name"],
        kind=_KINDS[row["kind"]],
        columns=tuple(_column(column, row, roles) for column in columns if is_secret or column["selectable"]),
        protection=_protection(row, rules, entity) if is_secret else None,
        unique_keys=() if row["has_children"] else tuple(frozenset(key["columns"]) for key in keys),
        safe_to_read=row["plain"],
        obstacle=_obstacle(row, rules),
        single_table=row["kind"] in {"r", "m"} and not row["has_children"],
    )


def _roles(db: Database, declared_by: int | None) -> dict[str, ColumnRole | None]:
    """Return the role of each declared column; None stands for the column that identifies a person."""
    if declared_by is None:
        return {}
    row = db.row(statement("fetch_declaration"), declared_by)
    return {
        **dict.fromkeys(row["insensitive"], ColumnRole.INSENSITIVE),
        **dict.fromkeys(row["sensitive"], ColumnRole.SENSITIVE),
        **dict.fromkeys(row["quasi_identifiers"], ColumnRole.QUASI_IDENTIFIER),
        **dict.fromkeys(row["identifiers"], ColumnRole.IDENTIFIER),
        **({row["entity"]: None} if row["entity"] is not None else {}),
    }


def _column(column: Row, row: Row, roles: Mapping[str, ColumnRole | None]) -> Column:
    if row["declared_by"] is not None:
        role = roles.get(column["name"], ColumnRole.WITHHELD) or ColumnRole.IDENTIFIER
    else:
        is_person = column["is_key"] and row["known"]
        role = ColumnRole.WITHHELD if is_person else ColumnRole.QUASI_IDENTIFIER
    return Column(
        name=column["name"],
        type_name=column["type_name"],
        nullable=column["nullable"],
        role=role,
        deterministic=column["deterministic"],
        collation=column["collation"],
        one_scale=column["one_scale"],
        is_domain=column["is_domain"],
        shown_type=column["shown_type"],
    )


def _protection(row: Row, rules: ProtectionRules | None, entity: str | None) -> Protection:
    if rules is None:
        return Protection(_UNUSABLE_K, declared=False)
    return Protection(rules.k, entity=entity, extremes=rules.extremes)


def _obstacle(row: Row, rules: ProtectionRules | None) -> Obstacle | None:
    name = Identifier((row["schema"], row["name"]))
    if row["known"] and rules is None:
        call = f"SELECT kanon_protect({Literal(str(name))}, 5);"
        return Obstacle(
            f"{name} holds people and does not answer queries.", f"A curator can allow them: {call}"
        )
    if row["dependent"] and not row["known"]:
        return None
    if row["volatile"] is not None:
        return Obstacle(
            f"{name} cannot be queried: its definition calls {row['volatile']}, so that every reading of it "
            "finds other rows.",
            "Store its rows: CREATE MATERIALIZED VIEW ... AS TABLE ...; or leave the call out.",
            lasting=True,
        )
    if not row["trusted"]:
        return Obstacle(
            f"{name} cannot be queried: the owner of it, its schema or what it reads could exchange it.",
            "Let the owner of the database or a curator own them.",
        )
    if not row["readable"]:
        schema, role = Identifier((row["schema"],)), row["reader"]
        roles = READER if role in (None, READER) else f"{READER}, {role}"
        reason = (
            "no role reads it for all analysts"
            if role is None
            else f"the role {role}, which reads for all analysts, may not read it"
        )
        allow = (
            f"SELECT kanon.grant_read({Literal(str(name))}, true);"
            if role is None
            else f"GRANT USAGE ON SCHEMA {schema} TO {roles}; GRANT SELECT ON {name} TO {role};"
        )
        return Obstacle(
            f"{name} cannot be queried: {reason}.",
            f"Its owner can allow it: {allow}",
        )
    return None
