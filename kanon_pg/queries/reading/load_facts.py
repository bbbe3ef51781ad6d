"""Loads the facts that a query names: relations as the analyst may know them, links and functions.

- Only relations that the analyst may know are loaded: those of people, which are answered under the rule of
  k, and *public* ones: the analyst holds SELECT, and nothing in them depends on people (releases excepted,
  they are published).
- A partition or inheritance child is what its parent is. A view or materialized view over people has an
  obstacle unless it is declared and protected itself.
- A relation is read only if it, its schema and everything that it reads belong to somebody trusted: a
  superuser, the database's owner, ``kanon_owner``, curators, or owners of protected relations. Otherwise its
  owner could exchange it while a query runs.
- What is open is closed: a link that no longer holds, people that cannot be counted, and a view of which it
  is not known whose people it has, are obstacles.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import statement
from kanon_pg.errors import UnknownName
from kanon_pg.queries.reading.facts import Column, Facts, Link, Protection, Relation, Role, Volatility
from kanon_pg.queries.reading.scanner import Token, calls_in, scan, words

READER = "kanon_reader"
"""The role that reads what queries are about."""

_GRAMMAR = dict.fromkeys(("coalesce", "greatest", "least", "nullif", "trim"), Volatility.IMMUTABLE)
"""Functions that are PostgreSQL's grammar, and in no catalog."""

_PINNED = words(
    "age date date_part date_trunc extract overlaps time timestamp timestamptz make_timestamptz timetz"
    " timezone to_date to_timestamp array_to_string concat concat_ws format length numeric quote_literal"
    " quote_nullable to_char to_number"
)
"""Functions of which some depend on settings that are pinned, and on no more: never on the clock."""

_WITH_A_CLOCK = {"age": 2}
"""Those of them that depend on the clock with fewer arguments."""

_NO_K = 2
"""The k of relations that no query may use anyway."""


def load_facts(db: Database, text: str, search_path: Sequence[str], role: str) -> Facts:
    """Load what a text may name, with the rights of the analyst's role.

    It takes two statements, however many relations and links there are.
    """
    tokens = scan(text)
    names = names_in(tokens)
    rows = db.rows(statement("query_facts"), names, list(search_path), role) if names else ()
    relations = tuple(_relation(row) for row in rows if row["known"] or row["dependent"] or row["selectable"])
    return Facts(relations, tuple(search_path), _functions(db, tokens))


def names_in(tokens: Sequence[Token]) -> list[str]:
    """Return what may be a name in a text."""
    return sorted({token.text for token in tokens if token.kind in {"name", "word"}})


def load_relation(db: Database, schema: str, name: str, role: str) -> Relation:
    """Return one relation that exists, as a query would find it.

    Raises
    ------
    Refusal
        If its name cannot stand in a query.
    UnknownName
        If it is a relation of the system.
    """
    facts = load_facts(db, str(Identifier((schema, name))), (), role)
    relation = next((one for one in facts.relations if (one.schema, one.name) == (schema, name)), None)
    if relation is None:
        raise UnknownName(
            f"{Identifier((schema, name))} is no table of people: it is PostgreSQL's or kanon's own.",
            hint="Name a table or view of yours.",
        )
    return relation


def _functions(db: Database, tokens: Sequence[Token]) -> Mapping[str, Volatility]:
    calls = list(calls_in(tokens))
    names = sorted({name for name, _ in calls})
    clocked = {name for name, number in calls if _arguments(tokens, number + 1) < _WITH_A_CLOCK.get(name, 0)}
    volatilities = {name: _GRAMMAR[name] for name in names if name in _GRAMMAR}
    for row in db.rows(statement("query_functions"), names) if names else ():
        name = row["name"]
        if row["immutable"]:
            volatilities[name] = Volatility.IMMUTABLE
        elif name in _PINNED - clocked:
            volatilities[name] = Volatility.PINNED
        else:
            volatilities[name] = Volatility.OTHER
    return volatilities


def _arguments(tokens: Sequence[Token], place: int) -> int:
    """Return how many arguments stand in the parentheses that open at a place."""
    depth = count = 0
    for token in tokens[place:]:
        is_sign = token.kind == "sign"
        depth += (is_sign and token.text in "([") - (is_sign and token.text in ")]")
        if depth == 0:
            break
        if depth == 1:
            count += is_sign and token.text == ","
    return count + 1


@dataclass(frozen=True, slots=True)
class _RelationRow:
    """A row of ``query_facts``, and its parts that are JSON."""

    row: Row
    columns: Sequence[Mapping[str, Any]]
    keys: Sequence[Sequence[str]]

    @property
    def name(self) -> Identifier:
        return Identifier((self.row["schema"], self.row["name"]))

    @property
    def literal(self) -> Literal:
        return Literal(str(self.name))

    @property
    def is_about_people(self) -> bool:
        found: bool = self.row["known"] or self.row["dependent"]
        return found

    @property
    def is_linked(self) -> bool:
        return self.row["linked_by"] is not None

    @property
    def space(self) -> int | None:
        """OID of the relation whose people these are, if it is one that is known."""
        spaces: Sequence[int | None] = self.row["spaces"] or ()
        return spaces[0] if len(spaces) == 1 else None

    @property
    def person(self) -> tuple[str, ...]:
        """The columns that identify a person in it; empty if it is linked, or nothing does."""
        if self.is_linked:
            return ()
        if self.row["entity"] is not None:
            return (self.row["entity"],)
        if self.row["kind"] not in {"r", "p"}:
            return ()
        return tuple(self.row["primary_key"] or (self.keys[0] if self.keys else ()))

    @property
    def uncountable(self) -> str | None:
        """Why its people cannot be counted, as the end of a sentence."""
        if self.is_linked:
            return None
        if not self.person:
            return "it has no key, and no column is declared as its entity"
        columns = {column["name"]: column for column in self.columns}
        for name in self.person:
            if name not in columns:
                return f"column {Identifier((name,))} is gone, or may not be read"
            if not columns[name]["is_built_in"]:
                return f"the type of column {Identifier((name,))} is not PostgreSQL's own"
        return None


def _relation(row: Row) -> Relation:
    columns = json.loads(row["columns"] or "[]")
    built_in = {column["name"] for column in columns if column["is_built_in"]}
    keys = [key for key in json.loads(row["keys"] or "[]") if set(key) <= built_in]
    known = _RelationRow(row, columns, keys)
    roles = _roles(row)
    link = None
    if known.is_linked and row["spaces"][0] is not None:
        link = Link(tuple(row["link_columns"]), row["link_parent"], tuple(row["link_parent_columns"]))
    why = next(chain(_about_people(known), _about_reading(known)), None)
    right = next(_about_rights(known), None)
    return Relation(
        oid=row["oid"],
        schema=row["schema"],
        name=row["name"],
        columns=tuple(
            Column(
                name=column["name"],
                number=column["number"],
                type_name=column["type_name"],
                role=roles.get(column["name"], Role.WITHHELD) if known.is_about_people else Role.KNOWN,
                is_built_in=column["is_built_in"],
                is_number=column["is_number"],
                is_filled=column["is_filled"],
            )
            for column in columns
            if known.is_about_people or column["selectable"]
        ),
        key=tuple(keys[0]) if keys else (),
        unique_keys=tuple(frozenset(key) for key in keys),
        links=() if link is None else (link,),
        protection=_protection(known) if known.is_about_people else None,
        obstacle=why or right,
        is_allowed=why is not None or right is None,
    )


def _roles(row: Row) -> dict[str, Role]:
    """Return the roles of declared columns; all others are withheld."""
    if row["declared_by"] is None:
        return {}
    roles = {
        **dict.fromkeys(row["insensitive"], Role.KNOWN),
        **dict.fromkeys(row["quasi_identifiers"], Role.KNOWN),
        **dict.fromkeys(row["sensitive"], Role.SECRET),
        **dict.fromkeys(row["identifiers"], Role.WITHHELD),
    }
    if row["entity"] is not None:
        roles[row["entity"]] = Role.WITHHELD
    return roles


def _protection(known: _RelationRow) -> Protection:
    row = known.row
    space = row["oid"] if known.space is None else known.space
    return Protection(row["k"] or _NO_K, space, known.person, row["protected_by"] or 0)


_Obstacle = tuple[str, str]
"""Why a relation cannot be queried, and what to do about it."""


def _about_people(known: _RelationRow) -> Iterator[_Obstacle]:
    row, name = known.row, known.name
    if not known.is_about_people:
        return
    protect = f"SELECT kanon_protect({known.literal}, 5);"
    if not row["known"]:
        yield (
            f"{name} reads tables of people, and is not declared itself.",
            f"A curator can allow it: SELECT kanon_declare({known.literal}, ...); {protect}",
        )
    if row["protected_by"] is None:
        yield f"{name} holds people and does not answer queries.", f"A curator can allow them: {protect}"
    if row["declared_by"] is None:
        yield (
            f"{name} has no declaration any more, so that nobody knows what its columns mean.",
            f"A curator can declare it: SELECT kanon_declare({known.literal}, ...);",
        )
    if known.is_linked and known.space is None:
        yield (
            f"The link of {name} leads to nobody any more, so that its people cannot be counted.",
            "A curator can link it anew (kanon_link); SELECT * FROM kanon.links shows where it led.",
        )
    if known.is_linked and row["entity"] is not None:
        yield (
            f"{name} is linked, and is declared with an entity of its own.",
            f"A curator can declare it without one: SELECT kanon_declare({known.literal}, ...);",
        )
    if known.space is None:
        yield (
            f"It is not known whose people {name} has: it reads several tables.",
            "A curator can declare or link the table that has them, or protect a table in place of the view.",
        )
    if known.uncountable is not None:
        yield (
            f"The people of {name} cannot be counted: {known.uncountable}.",
            f"Where every row is a person, give it a primary key: ALTER TABLE {name} ADD PRIMARY KEY (...); "
            f"else declare who they are: SELECT kanon_declare({known.literal}, ..., entity => 'person_id');",
        )


def _about_reading(known: _RelationRow) -> Iterator[_Obstacle]:
    row, name = known.row, known.name
    if row["volatile"] is not None:
        yield (
            f"{name} cannot be queried: its definition calls {row['volatile']}, so that every reading of it "
            "finds other rows.",
            "Store its rows: CREATE MATERIALIZED VIEW ... AS TABLE ...; or leave the call out.",
        )
    if not row["plain"]:
        yield (
            f"{name} cannot be queried: reading it may run code of others.",
            "Temporary and foreign tables, tables with row-level security and views that call functions "
            "cannot. Take a materialized view or a copy, or let a superuser own the functions.",
        )


def _about_rights(known: _RelationRow) -> Iterator[_Obstacle]:
    row, name = known.row, known.name
    if not row["trusted"]:
        yield (
            f"{name} cannot be queried: the owner of it, its schema or what it reads could exchange it.",
            "Let the owner of the database or a curator own them.",
        )
    schema, role = Identifier((row["schema"],)), row["reader"]
    reader = "no role" if role is None else f"the role {role}"
    allow = f"SELECT kanon.grant_read({known.literal}, true);"
    if not row["readable"]:
        roles = READER if role in (None, READER) else f"{READER}, {role}"
        if role is not None:
            allow = f"GRANT USAGE ON SCHEMA {schema} TO {roles}; GRANT SELECT ON {name} TO {role};"
        yield (
            f"{name} cannot be queried: {reader}, which reads for all analysts, may not read it.",
            f"Its owner can allow it: {allow}",
        )
    if row["unread"] is not None:
        yield (
            f"{name} cannot be queried: {reader}, which reads for all analysts, may not read "
            f"{row['unread']}, to which its link leads.",
            f"The owner of that can allow it: {allow}",
        )
