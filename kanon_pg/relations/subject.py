"""Subject of an operation: a relation, the role whose rights count, and the roles of the columns.

Roles are the declared ones; of a release, those of its record. Where there are none, or the caller may not
see them, each operation says what it takes instead.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanon_pg.core.json_numbers import is_number
from kanon_pg.core.packed import MAX_COLUMNS
from kanon_pg.db.catalog import (
    ColumnFacts,
    RelationFacts,
    describe,
    describe_readable,
    require_equality,
    require_readable,
)
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, UnsuitableColumn, UnsuitableRelation
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.relations.links import LinkedPeople, linked_people

RELEASE_SCHEMA = "safe"
SUPPRESSED_COLUMN = "kanon_suppressed"

LOSSES = ("certainty_penalty", "generalization_height", "entropy_loss", "marginal_divergence")
"""Measures of a release that are recorded when it is published."""

_MOST_WEIGHT = 1e100
"""So that costs of whole tables stay finite."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Roles of a relation's columns."""

    identifiers: tuple[str, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    """`identifiers`, `quasi_identifiers`, `sensitive`, `insensitive`: column names; a column has at most one
    of these roles."""
    entity: str | None = None
    weights: Mapping[str, float] | None = None

    @classmethod
    def of_row(cls, row: Row) -> Roles:
        """Read a row of one of the queries ``roles_...`` or ``fetch_declaration``."""
        return cls(
            identifiers=tuple(row["identifiers"]),
            quasi_identifiers=tuple(row["quasi_identifiers"]),
            sensitive=tuple(row["sensitive"]),
            insensitive=tuple(row["insensitive"]),
            entity=row["entity"],
            weights=json.loads(row["weights"]) if row["weights"] else None,
        )

    def groups(self) -> dict[str, tuple[str, ...]]:
        """Return the column names by role."""
        return {
            "identifiers": self.identifiers,
            "quasi_identifiers": self.quasi_identifiers,
            "sensitive": self.sensitive,
            "insensitive": self.insensitive,
        }

    def without(self, names: Container[str]) -> Roles:
        """Return the roles of other columns than some; people are rows, and weights are 1."""
        identifiers, quasi, sensitive, insensitive = (
            tuple(name for name in group if name not in names) for group in self.groups().values()
        )
        return Roles(identifiers, quasi, sensitive, insensitive)

    def role_of(self, name: str) -> str | None:
        """Return the role of a column, in the singular."""
        singular = {"identifiers": "identifier", "quasi_identifiers": "quasi_identifier"}
        roles = (singular.get(role, role) for role, names in self.groups().items() if name in names)
        return next(roles, None)

    def names(self) -> Iterator[str]:
        """Yield every column that has a role, a weight, or names people."""
        for group in self.groups().values():
            yield from group
        yield from (self.weights or {})
        if self.entity is not None:
            yield self.entity

    def check(self, relation: RelationFacts) -> None:
        """Refuse unknown columns, columns with two roles and weights that are not positive numbers."""
        seen: dict[str, str] = {}
        for role, names in self.groups().items():
            for name in names:
                if name is None:
                    raise InputError(f"A column name in {role} is NULL.", hint="Give column names only.")
                column = relation.column(name)
                if name in seen:
                    both = role if seen[name] == role else f"{seen[name]} and {role}"
                    raise UnsuitableColumn(
                        f"Column {column.identifier} is named twice: in {both}.",
                        hint="Give each column one role.",
                    )
                seen[name] = role
        if self.entity is not None:
            _refuse_several(relation, self.entity)
            relation.column(self.entity)
        _check_weights(relation, self.weights)


def _refuse_several(relation: RelationFacts, entity: str) -> None:
    """Refuse columns in place of the one that identifies people, and say how to make one of them."""
    known = {column.name: column.identifier for column in relation.columns}
    named = [name.strip() for name in entity.strip("{}").split(",")]
    if entity in known or len(named) == 1 or not known.keys() >= set(named):
        return
    texts = ", ".join(f"{known[name]}::text" for name in named)
    raise InputError(
        "The entity is one column; several are named.",
        hint="Where they identify a person together, make one column of them, and name that: "
        f"ALTER TABLE {relation.identifier} ADD person text[] GENERATED ALWAYS AS (ARRAY[{texts}]) STORED; "
        "or have a view with such a column.",
    )


def _check_weights(relation: RelationFacts, weights: Any) -> None:
    if weights is None:
        return
    if not isinstance(weights, Mapping):
        raise InputError(
            "weights must be a JSON object of column names and numbers.",
            hint='For example: {"age": 2, "zip": 0.5}',
        )
    for name, weight in weights.items():
        column = relation.column(name)
        if not is_number(weight) or not 0 < weight <= _MOST_WEIGHT:
            raise InputError(
                f"The weight of column {column.identifier} is not a positive number.",
                hint="A weight is the cost of one suppressed cell; 1 is the default.",
            )


def stored_declaration(db: Database, relation: RelationFacts) -> Roles | None:
    """Return the declaration of a relation as the owner role sees it, None if there is none."""
    rows = db.rows(statement("fetch_declaration"), relation.oid)
    return Roles.of_row(rows[0]) if rows else None


@dataclass(frozen=True, slots=True)
class Subject:
    """A relation and what is known of it."""

    relation: RelationFacts
    role: str
    roles: Roles | None = None
    suppressed: ColumnFacts | None = None
    release: str | None = None
    """Name of the release, if the caller may know of it."""
    knows_releases: bool = False
    """Whether the caller may read which releases there are."""
    counts_people: bool = False
    """Whether classes of the release have k people, of which the caller knows no more than that."""
    hidden_people: int | None = None
    """People in a release that does not tell which rows are the same person's, when it was published."""
    losses: Mapping[str, Any] = field(default_factory=dict)
    """What a release lost when it was published, by names of `LOSSES`."""
    people: LinkedPeople | None = None
    """Whose rows a linked table has, as far as the caller may know."""

    @property
    def source(self) -> Identifier | Fragment:
        """Relation to count people in: itself, or its rows with the person of each."""
        return self.relation.source if self.people is None else self.people.source

    @property
    def is_release(self) -> bool:
        """Whether it is a view in which kanon publishes."""
        return self.suppressed is not None

    @property
    def hides_people(self) -> bool:
        """Whether it is a release that does not tell which rows are the same person's."""
        return self.hidden_people is not None

    @property
    def entity(self) -> CanonicalColumn | None:
        """Column that identifies a person; None: each row is a person."""
        if self.people is not None:
            return entity_column(self.people.column)
        name = None if self.roles is None else self.roles.entity
        return None if name is None else entity_column(self.relation.column(name))

    @property
    def entity_name(self) -> str | None:
        """Name of what identifies a person, with that of its table where the relation is linked."""
        if self.people is not None:
            return f"{self.people.relation.name}.{', '.join(self.people.person)}"
        return None if self.entity is None else self.entity.facts.name

    def columns(self, names: Iterable[str]) -> tuple[ColumnFacts, ...]:
        """Return columns by name in the given order, each once."""
        given = tuple(dict.fromkeys(names))
        if any(name is None for name in given):
            raise InputError("A column name is NULL.", hint="Leave it out of the list.")
        return tuple(self.relation.column(name) for name in given)

    def quasi_identifiers(self, *, but: Sequence[str] = ()) -> tuple[ColumnFacts, ...]:
        """Return the known quasi-identifiers; where none are known, all columns but keys and `but`."""
        if self.roles is not None:
            return self.columns(self.roles.quasi_identifiers)
        return tuple(
            column
            for column in self.without_identifiers()
            if column != self.suppressed and column.name not in but
        )

    def without_identifiers(self) -> tuple[ColumnFacts, ...]:
        """Return all columns but identifiers: declared ones, and keys that have no other role."""
        known = self.roles or Roles()
        mentioned = {name for group in known.groups().values() for name in group}
        hidden = {*known.identifiers, known.entity}
        return tuple(
            column
            for column in self.relation.columns
            if column.name not in hidden and (not column.is_key or column.name in mentioned)
        )


def entity_column(column: ColumnFacts) -> CanonicalColumn:
    """Return the column that identifies people, under the alias ``person``."""
    return CanonicalColumn(column, Identifier.of("person"))


def resolve(db: Database, relation: str | None, *, role: str | None = None) -> Subject:
    """Look up a relation and what is known of it.

    Parameters
    ----------
    relation : str or None
        As SQL writes it.
    role : str, optional
        For operations that act as the owner role, which knows every declaration: the requesting role, which
        must be allowed to read the whole relation. Unless given, the caller's own rights count, and roles are
        known as far as the caller may see them.
    """
    if role is not None:
        facts = describe_readable(db, relation, role)
        roles = _still_there(facts, stored_declaration(db, facts))
        if roles is None or roles.entity is None:
            _refuse_rows_of_people(db, facts)
        return Subject(facts, role, roles, people=linked_people(db, facts, role))
    context = db.row(statement("known_to_caller"))
    facts = describe(db, relation, context["role"])
    known = {"role": context["role"], "knows_releases": context["releases"]}
    suppressed = _suppressed_column(facts)
    if suppressed is None:
        if context["published_roles"]:
            _refuse_rows_of_people(db, facts)
        rows = db.rows(statement("roles_declared"), facts.oid) if context["declarations"] else ()
        people = linked_people(db, facts, context["role"]) if context["declarations"] else None
        roles = _still_there(facts, Roles.of_row(rows[0]) if rows else None)
        return Subject(facts, roles=roles, people=people, **known)
    if context["releases"]:
        rows = db.rows(statement("roles_released"), facts.oid)
    else:
        rows = db.rows(statement("roles_published"), facts.oid) if context["published_roles"] else ()
    if not rows:
        return Subject(facts, suppressed=suppressed, **known)
    row = rows[0]
    return Subject(
        facts,
        roles=Roles.of_row(row),
        suppressed=suppressed,
        release=row["release"],
        counts_people=row["counts_people"],
        hidden_people=row["hidden_people"],
        losses={name: row[name] for name in LOSSES},
        **known,
    )


def _refuse_rows_of_people(db: Database, facts: RelationFacts) -> None:
    """Refuse a further table of a release: what else is published says which of its cells are suppressed."""
    if facts.schema != RELEASE_SCHEMA or _suppressed_column(facts) is not None:
        return
    for row in db.rows(statement("roles_published"), facts.oid):
        people = Identifier.of(RELEASE_SCHEMA, row["release"])
        raise UnsuitableRelation(
            f"{facts.identifier} shows rows of the people of {people}, so its rows are no people.",
            hint=f"Take {people}: the class of a person is the same in all tables of a release.",
        )


def _still_there(relation: RelationFacts, roles: Roles | None) -> Roles | None:
    if roles is not None:
        relation.require_declared(roles.names())
    return roles


def _suppressed_column(relation: RelationFacts) -> ColumnFacts | None:
    if relation.schema != RELEASE_SCHEMA:
        return None
    candidates = (c for c in relation.columns if c.name == SUPPRESSED_COLUMN and c.type == "name[]")
    return next(candidates, None)


ROWS_ARE_PEOPLE = "Whose rows they are is not published, so each row counts as a person."
"""Said of a release whose people the operation cannot count."""


def notice_unknown_roles(db: Database, subject: Subject) -> None:
    """Tell the caller which roles are assumed in a release whose roles they may not know."""
    if subject.is_release and subject.roles is None:
        db.notice(
            "The roles of this release's columns are unknown; all of them count as quasi-identifiers, and "
            "each row as a person."
        )


def require_usable(
    db: Database,
    subject: Subject,
    columns: tuple[ColumnFacts, ...],
    *,
    also_read: tuple[ColumnFacts, ...] = (),
) -> None:
    """Refuse unless columns can be read and compared, and people be told apart."""
    entity = () if subject.entity is None or subject.people is not None else (subject.entity.facts,)
    require_readable(subject.relation, (*columns, *entity, *also_read), subject.role)
    require_equality(db, columns, "be a quasi-identifier")
    if entity:
        require_equality(db, entity, "identify people")


def require_quasi_identifiers(relation: RelationFacts, columns: Sequence[object]) -> None:
    """Refuse no quasi-identifier, and more than a release can have."""
    if not columns:
        raise no_quasi_identifier(relation)
    if len(columns) > MAX_COLUMNS:
        raise InputError(
            f"{len(columns)} quasi-identifiers are more than the {MAX_COLUMNS} that a release can have.",
            hint="Name only those that others could link: quasi_identifiers => '{zip,sex}'; "
            f"SELECT * FROM kanon_suggest({Literal(str(relation.identifier))}) proposes which.",
        )


def no_quasi_identifier(relation: RelationFacts) -> InputError:
    """Return the refusal where no quasi-identifier is given, declared or left over."""
    return InputError(
        f"No quasi-identifier is left in {relation.identifier}.",
        hint="Name the columns that others could link: quasi_identifiers => '{zip,sex}'.",
    )


def no_rows(relation: RelationFacts, detail: str | None = None) -> InputError:
    """Return the refusal of a relation of which the caller sees no row."""
    return InputError(
        f"Relation {relation.identifier} has no rows.",
        detail=detail,
        hint="Load data first, or check row-level security policies.",
    )


def refuse_identifying(subject: Subject, names: Iterable[str]) -> None:
    """Refuse columns that are declared to identify people, which no release publishes."""
    known = subject.roles or Roles()
    for name in names:
        if name not in known.identifiers and name != known.entity:
            continue
        column = subject.relation.column(name).identifier
        if name in known.identifiers:
            raise UnsuitableColumn(
                f"Column {column} is declared as an identifier, which is never published.",
                hint="Leave it out, or declare it with another role first.",
            )
        raise UnsuitableColumn(
            f"Column {column} identifies people (entity), so it cannot be published.",
            hint="Leave it out, or declare it as identifier only; people are still counted by it.",
        )
