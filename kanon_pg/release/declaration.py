"""Roles of columns: what a data owner declared, and what holds without a declaration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_pg.db.catalog import (
    ColumnFacts,
    RelationFacts,
    caller,
    describe,
    require_equality,
    require_readable,
)
from kanon_pg.db.identifiers import Identifier, Literal, derived_name
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.errors import InputError, UnknownName, UnsuitableColumn
from kanon_pg.release.advice import tell_repeated_identifiers
from kanon_pg.release.base import require_suitable
from kanon_pg.release.canonical import CanonicalColumn, canonical_columns

_MOST_WEIGHT = 1e100
"""So that costs of whole tables stay finite."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """Declared roles of a relation's columns.

    Parameters
    ----------
    identifiers, quasi_identifiers, sensitive, insensitive : tuple of str
        Column names; a column has at most one of these roles.
    entity : str or None
        Column that identifies a person who may have several rows.
    weights : mapping of str to float
        Cost of a suppressed cell per column, > 0; 1 where not mentioned.
    """

    identifiers: tuple[str, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    entity: str | None = None
    weights: Mapping[str, float] | None = None

    def names(self) -> Iterator[str]:
        """Yield every column that it names."""
        for group in self.roles().values():
            yield from group
        yield from (self.weights or {})
        if self.entity is not None:
            yield self.entity

    def roles(self) -> dict[str, tuple[str, ...]]:
        """Return the column names by role."""
        return {
            "identifiers": self.identifiers,
            "quasi_identifiers": self.quasi_identifiers,
            "sensitive": self.sensitive,
            "insensitive": self.insensitive,
        }


def declare(
    db: Database,
    relation: str,
    identifiers: Sequence[str] | None = (),
    quasi_identifiers: Sequence[str] | None = (),
    sensitive: Sequence[str] | None = (),
    insensitive: Sequence[str] | None = (),
    entity: str | None = None,
    weights: Mapping[str, float] | None = None,
    *,
    role: str | None = None,
) -> None:
    """Record the roles of a relation's columns and create its view of row types.

    Parameters
    ----------
    relation : str
        The relation, as SQL writes it.
    identifiers, quasi_identifiers, sensitive, insensitive, entity, weights
        See `Declaration`; replaces an earlier declaration.
    role : str, optional
        Whose rights count; the caller's unless given.

    Raises
    ------
    InputError
        If nothing is declared; for unknown or repeated columns, unsuitable types, bad weights and
        missing rights.
    """
    role = caller(db) if role is None else role
    facts = describe(db, relation, role)
    require_suitable(db, facts)
    declaration = Declaration(
        identifiers=tuple(identifiers or ()),
        quasi_identifiers=tuple(quasi_identifiers or ()),
        sensitive=tuple(sensitive or ()),
        insensitive=tuple(insensitive or ()),
        entity=entity,
        weights=weights,
    )
    _require_something(facts, declaration)
    check_roles(facts, declaration)
    quasi = tuple(facts.column(name) for name in declaration.quasi_identifiers)
    require_readable(facts, facts.columns, role)
    if quasi:
        require_equality(db, facts, quasi)
    if entity is not None:
        require_equality(db, facts, (facts.column(entity),), "identify people")
    _warn_of_record(db, facts, declaration)
    columns = canonical_columns(quasi, {})
    _drop_row_types_view(db, _row(db, facts))
    view = _create_row_types_view(db, facts, columns, declaration, role) if columns else None
    db.execute(
        statement("store_declaration"),
        facts.oid,
        *(list(names) for names in declaration.roles().values()),
        entity,
        json.dumps(dict(weights)) if weights else None,
        view,
        role,
    )
    if entity is None:
        tell_repeated_identifiers(db, facts, declaration.identifiers)


def _warn_of_record(db: Database, facts: RelationFacts, new: Declaration) -> None:
    """Say what follows for queries if other columns are declared than before."""
    if not db.row(statement("is_protected"), facts.oid)["protected"]:
        return
    old = declared(db, facts) or Declaration()
    known, wanted = ({name for names in one.roles().values() for name in names} for one in (old, new))
    if known != wanted or old.entity != new.entity:
        name = Literal(str(facts.identifier))
        db.notice(
            f"Other columns of {facts.identifier} are declared than before: queries are withheld until "
            f"their record begins anew: SELECT kanon.restart_ledger({name});"
        )


def undeclare(db: Database, relation: str, *, role: str | None = None) -> None:
    """Forget a declaration and drop its view of row types.

    Raises
    ------
    UnknownName
        If the relation does not exist or has no declaration.
    InputError
        If the relation answers queries.
    """
    role = caller(db) if role is None else role
    facts = describe(db, relation, role)
    require_readable(facts, facts.columns, role)
    if db.row(statement("is_protected"), facts.oid)["protected"]:
        raise InputError(
            f"Relation {facts.identifier} answers queries under the rules of its declaration.",
            hint="Declare it anew instead, or end the queries first: SELECT kanon_unprotect(...);",
        )
    found = db.rows(statement("forget_declaration"), facts.oid)
    if not found:
        raise UnknownName(
            f"Relation {facts.identifier} has no declaration.",
            hint="SELECT * FROM kanon.declarations lists them.",
        )
    _drop_row_types_view(db, found[0])


def _drop_row_types_view(db: Database, row: Row | None) -> None:
    if row is not None and row["row_types_view"]:
        db.execute(statement("drop_view_if_exists", view=Identifier.of("kanon", row["row_types_view"])))


def _row(db: Database, facts: RelationFacts) -> Row | None:
    found = db.rows(statement("fetch_declaration"), facts.oid)
    return found[0] if found else None


def declared(db: Database, facts: RelationFacts) -> Declaration | None:
    """Return the declaration of a relation, None if there is none."""
    row = _row(db, facts)
    if row is None:
        return None
    return Declaration(
        identifiers=tuple(row["identifiers"]),
        quasi_identifiers=tuple(row["quasi_identifiers"]),
        sensitive=tuple(row["sensitive"]),
        insensitive=tuple(row["insensitive"]),
        entity=row["entity"],
        weights=json.loads(row["weights"]) if row["weights"] else None,
    )


def check_roles(facts: RelationFacts, declaration: Declaration) -> None:
    """Refuse unknown columns, columns with two roles and weights that are not positive numbers.

    Raises
    ------
    InputError
        With a sentence for the first thing that is wrong.
    """
    seen: dict[str, str] = {}
    for role, names in declaration.roles().items():
        for name in names:
            if name is None:
                raise InputError(f"A column name in {role} is NULL.", hint="Give column names only.")
            column = facts.column(name)
            if name in seen:
                both = role if seen[name] == role else f"{seen[name]} and {role}"
                raise UnsuitableColumn(
                    f"Column {column.identifier} is named twice: in {both}.",
                    hint="Give each column one role.",
                )
            seen[name] = role
    if declaration.entity is not None:
        facts.column(declaration.entity)
    _check_weights(facts, declaration.weights)


def _require_something(facts: RelationFacts, declaration: Declaration) -> None:
    if not any(declaration.roles().values()) and declaration.entity is None and not declaration.weights:
        raise InputError(
            f"No column of {facts.identifier} is given a role.",
            hint="Name at least the columns that others could link: quasi_identifiers => '{zip,sex}'. "
            "To forget a declaration: SELECT kanon_undeclare(...);",
        )


def _check_weights(facts: RelationFacts, weights: Any) -> None:
    if weights is None:
        return
    if not isinstance(weights, Mapping):
        raise InputError(
            "weights must be a JSON object of column names and numbers.",
            hint='For example: {"age": 2, "zip": 0.5}',
        )
    for name, weight in weights.items():
        column = facts.column(name)
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not 0 < weight <= _MOST_WEIGHT:
            raise InputError(
                f"The weight of column {column.identifier} is not a positive number.",
                hint="A weight is the cost of one suppressed cell; 1 is the default.",
            )


def _create_row_types_view(
    db: Database,
    facts: RelationFacts,
    columns: tuple[CanonicalColumn, ...],
    declaration: Declaration,
    role: str,
) -> str:
    name = derived_name(facts.schema, facts.name, "row_types")
    if db.rows(statement("other_row_types_view"), name, facts.oid):
        name = derived_name(facts.schema, facts.name, "row_types", str(facts.oid))
    taken: set[str] = {column.facts.name for column in columns}
    db.execute(
        statement(
            "create_row_types_view",
            view=Identifier.of("kanon", name),
            relation=facts.identifier,
            relation_name=Literal(str(facts.identifier)),
            columns=[
                {
                    "expression": c.expression,
                    "alias": c.alias,
                    "output": c.output,
                    "name": Literal(c.facts.name),
                }
                for c in columns
            ],
            entity=_entity(facts, declaration.entity),
            rows=Identifier.of(_free_name("rows", taken)),
            people=Identifier.of(_free_name("people", taken)),
        )
    )
    db.execute(statement("grant_select", relation=Identifier.of("kanon", name), role=Identifier((role,))))
    return name


def _entity(facts: RelationFacts, entity: str | None) -> dict[str, Any] | None:
    return None if entity is None else {"expression": entity_column(facts.column(entity)).expression}


def entity_column(column: ColumnFacts) -> CanonicalColumn:
    """Return the column that identifies people, under the alias ``person``."""
    return CanonicalColumn(column, Identifier.of("person"))


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name
