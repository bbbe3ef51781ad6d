"""What is measured: a relation with the roles of its columns, from the call, a declaration or a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe, require_equality, require_readable
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import statement
from kanon_pg.errors import InputError, UnsuitableColumn

RELEASE_SCHEMA = "safe"
SUPPRESSED_COLUMN = "kanon_suppressed"
LOSSES = ("certainty_penalty", "generalization_height", "entropy_loss", "marginal_divergence")
"""Measures of a release that are recorded when it is published."""


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What a declaration or the record of a release says."""

    quasi_identifiers: tuple[ColumnFacts, ...]
    sensitive: tuple[ColumnFacts, ...] = ()
    entity: ColumnFacts | None = None
    losses: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subject:
    """A relation and the roles of its columns.

    Parameters
    ----------
    relation : RelationFacts
        What to measure.
    quasi_identifiers : tuple of ColumnFacts
        At least one; their types have an equality.
    sensitive : tuple of ColumnFacts
        None of them a quasi-identifier.
    entity : ColumnFacts or None
        What identifies a person; None: each row is a person.
    suppressed : Identifier or None
        In a release the column that lists the suppressed columns of a row.
    losses : mapping of str to (float or None)
        What a release with its own quasi-identifiers lost when it was published, by names of `LOSSES`.
    """

    relation: RelationFacts
    quasi_identifiers: tuple[ColumnFacts, ...]
    sensitive: tuple[ColumnFacts, ...]
    entity: ColumnFacts | None
    suppressed: Identifier | None
    losses: Mapping[str, Any] = field(default_factory=dict)

    @property
    def aliases(self) -> tuple[Identifier, ...]:
        """Names of the quasi-identifiers inside queries, free of the user's names."""
        return tuple(Identifier.of(f"q{number}") for number in range(1, len(self.quasi_identifiers) + 1))

    @property
    def keys(self) -> Fragment:
        """What rows of one class agree on, as a list for GROUP BY."""
        names = [str(alias) for alias in self.aliases]
        if self.suppressed is not None:
            names.append("suppressed")
        return Fragment(", ".join(names))

    def common_parts(self) -> dict[str, object]:
        """Return what all queries about this subject interpolate, but for the columns."""
        return {
            "relation": self.relation.identifier,
            "keys": self.keys,
            "suppressed": self.suppressed,
            "entity": None if self.entity is None else self.entity.identifier,
        }

    def column_parts(self) -> list[dict[str, object]]:
        """Return name, alias and quoted text of each quasi-identifier."""
        return [
            {"column": column.identifier, "alias": alias, "label": Literal(column.name)}
            for column, alias in zip(self.quasi_identifiers, self.aliases, strict=True)
        ]


def resolve_subject(
    db: Database,
    relation: str | None,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
) -> Subject:
    """Find out what to measure and check that it can be measured.

    What the call does not name comes from the release (relations of schema ``safe``) or the
    declaration, as far as the caller may know these; otherwise every column is a quasi-identifier
    except single-column keys. A column named in the call leaves the other role's default.

    Raises
    ------
    UnknownName
        If the relation or a column does not exist.
    InputError
        If the relation is NULL, a column has two roles, or no quasi-identifier is left.
    NotPermitted
        If the caller may not read the columns.
    UnsuitableColumn
        If a column's type has no equality.
    """
    context = db.row(statement("measure_context"))
    facts = describe(db, relation, context["role"])
    asked_qis, asked_sensitive = _columns(facts, quasi_identifiers), _columns(facts, sensitive)
    _refuse_two_roles(asked_qis or (), asked_sensitive or ())
    suppressed = _suppressed_column(facts)
    recorded = _recorded_roles(db, facts, context, released=suppressed is not None)
    known = recorded or _Recorded(_without_keys(facts))
    if asked_sensitive is None:
        asked_sensitive = tuple(c for c in known.sensitive if c not in (asked_qis or ()))
    if asked_qis is None:
        if suppressed is not None and recorded is None:
            db.notice(
                "The roles of this release's columns are unknown; all others count as quasi-identifiers."
            )
        asked_qis = tuple(c for c in known.quasi_identifiers if c not in asked_sensitive)
    losses = known.losses if asked_qis == known.quasi_identifiers else {}
    subject = Subject(facts, asked_qis, asked_sensitive, known.entity, suppressed, losses)
    _check(db, subject, context["role"])
    return subject


def _suppressed_column(facts: RelationFacts) -> Identifier | None:
    if facts.schema != RELEASE_SCHEMA:
        return None
    found = [c for c in facts.columns if c.name == SUPPRESSED_COLUMN and c.type == "name[]"]
    return found[0].identifier if found else None


def _recorded_roles(db: Database, facts: RelationFacts, context: Row, *, released: bool) -> _Recorded | None:
    """Roles of columns, and losses of a release; None if nothing is recorded or readable."""
    if released and context["releases"]:
        query, readable = "measure_released", True
    elif released:
        query, readable = "measure_published", context["published_roles"]
    else:
        query, readable = "measure_declared", context["declarations"]
    found = db.rows(statement(query), facts.oid) if readable else []
    if not found:
        return None
    roles = found[0]
    if not released:
        named = (*roles["quasi_identifiers"], *roles["sensitive"], roles["entity"])
        facts.require_declared([name for name in named if name is not None])
    return _Recorded(
        _columns(facts, roles["quasi_identifiers"]) or (),
        _columns(facts, roles["sensitive"]) or (),
        None if roles["entity"] is None else facts.column(roles["entity"]),
        {name: roles[name] for name in LOSSES} if released else {},
    )


def _without_keys(facts: RelationFacts) -> tuple[ColumnFacts, ...]:
    own = _suppressed_column(facts)
    return tuple(c for c in facts.columns if not c.is_key and c.identifier != own)


def _columns(facts: RelationFacts, names: Sequence[str] | None) -> tuple[ColumnFacts, ...] | None:
    if names is None:
        return None
    if any(name is None for name in names):
        raise InputError("A column name is NULL.", hint="Leave it out of the list.")
    return tuple(facts.column(name) for name in dict.fromkeys(names))


def _refuse_two_roles(quasi_identifiers: Sequence[ColumnFacts], sensitive: Sequence[ColumnFacts]) -> None:
    for column in quasi_identifiers:
        if column in sensitive:
            raise InputError(
                f"Column {column.identifier} is named both as quasi-identifier and as sensitive.",
                hint="Name each column once.",
            )


def _check(db: Database, subject: Subject, role: str) -> None:
    relation = subject.relation
    if not subject.quasi_identifiers:
        raise InputError(
            f"No quasi-identifier is left in {relation.identifier}.",
            hint="Name at least one, for example quasi_identifiers => '{zip, birth_date, sex}'.",
        )
    entity = () if subject.entity is None else (subject.entity,)
    read = subject.quasi_identifiers + subject.sensitive + entity
    if subject.suppressed is not None:
        read += (relation.column(SUPPRESSED_COLUMN),)
    require_readable(relation, read, role)
    require_equality(db, relation, subject.quasi_identifiers + entity)
    for column in subject.sensitive:
        try:
            require_equality(db, relation, (column,))
        except UnsuitableColumn as error:
            raise UnsuitableColumn(
                f"Sensitive column {column.identifier} of type {column.type} cannot be measured: "
                "the type has no equality.",
                hint="Leave it out, or cast it in a view (for example json to jsonb).",
            ) from error
