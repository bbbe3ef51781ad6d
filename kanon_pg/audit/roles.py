"""Which role a column is proposed to have, and why: rules over names, keys, types and statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_pg.audit.findings import Suggestion
from kanon_pg.audit.names import (
    NUMBERS,
    NamedRole,
    is_a_number,
    is_seldom_known,
    is_widely_known,
    kind_of,
    may_be_a_weight,
    names_a_person,
    role_by_name,
)
from kanon_pg.audit.values import Look, hierarchy_for
from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.errors import in_words

_NUMBERING = frozenset({"uuid", "inet", "cidr", "macaddr", "macaddr8"})
"""Types of ``pg_catalog`` whose values number people, devices or connections."""

_MEASURED = frozenset({"float4", "float8", "numeric", "money", "timestamp", "timestamptz", "interval"})
"""Types whose values may differ in nearly all rows without naming anybody."""

_NEARLY_UNIQUE = 0.95
_REPEATED_RATIO = 0.5
"""Different values per row up to which it is no accident that a column tells the value of another one."""

_FREE_TEXT_LENGTH = 40
_FREE_TEXT_RATIO = 0.5
_OFTEN_SINGLE = 0.01

_EXACT_RATIO = 0.1
_EXACT_VALUES = 100
"""Different values per row, and different values, from which a number is so exact that hardly any of its
cells could be published as a quasi-identifier."""

_FEW_VALUES = 10
_FEW_RATIO = 0.01
"""Different values, and different values per row, up to which no column can name people."""

MOST_QUASI_IDENTIFIERS = 10
"""Quasi-identifiers that are proposed. More of them single everybody out, so that a release of them all has
hardly a cell left; whoever knows what others can know adds to them."""


@dataclass(frozen=True, slots=True)
class ObservedColumn:
    """A column and what was counted of it."""

    facts: ColumnFacts
    rows: int
    missing: float
    length: float | None
    distinct: int | None
    single: int | None
    """`distinct`, `single`: different values, and those that one row has; None if that cannot be counted."""
    determined_by: tuple[tuple[str, float], ...]
    """Columns that determine it, with the share of rows in which they do."""
    determines: tuple[str, ...]
    separation: float = 0.0
    refers_to: str | None = None
    """Table to which it refers by a foreign key."""
    people: str | None = None
    """The same, if that is named like a list of people."""
    is_repeated: bool = False
    is_constant: bool = False
    """Whether all rows have the same value, NULL being one: who differs by having a value at all is singled
    out by it."""
    values: tuple[str, ...] = ()
    """Some of its values, with repetitions."""
    look: Look | None = None
    """What these look like."""

    @property
    def ratio(self) -> float | None:
        """Different values / rows with a value; None without any."""
        filled = self.rows * (1 - self.missing)
        return None if self.distinct is None or not filled else min(1.0, self.distinct / filled)

    @property
    def is_exact_number(self) -> bool:
        """Whether it has numbers that are different in many rows."""
        return (
            self.facts.base_type in NUMBERS
            and (self.ratio or 0.0) >= _EXACT_RATIO
            and (self.distinct or 0) > _EXACT_VALUES
        )

    @property
    def has_few_values(self) -> bool:
        """Whether its values are too few to name people."""
        return (
            self.distinct is not None
            and self.distinct <= _FEW_VALUES
            and self.distinct <= _FEW_RATIO * self.rows
        )

    @property
    def may_tell_people_apart(self) -> bool:
        """Whether key constraints or its name say that a value stands for a person."""
        return self.people is not None or names_a_person(self.facts.name)


def suggestions_for(columns: Sequence[ObservedColumn]) -> tuple[Suggestion, ...]:
    """Return the proposed role of each column with reasons, the deciding one first.

    The rules, the first that applies: keys, references to people, types that number things, constants, names
    of what is withheld, values that look like addresses or accounts, other names, what else values look like,
    free text, exact numbers, values that nearly every row has for itself. What nothing speaks for may be a
    quasi-identifier: others may know it. Then whatever tells the value of an identifier becomes one, and the
    identifier that stands for a person in several rows becomes the entity, by which people are counted. Of
    the quasi-identifiers those stay that others know best, by their names or values, and among these those
    that tell most rows apart. All others are withheld, as columns are that a declaration does not mention.
    """
    decided = [_decide(column) for column in columns]
    named = _identifiers(columns, decided)
    for number, column in enumerate(columns):
        dependent = [name for name in column.determines if name in named]
        role = decided[number][0]
        # A number with a value of its own in every row tells everything, which is no sign of an
        # identifier; one that is the same in several rows and tells whose they are stands for a person.
        if dependent and (
            role == "quasi_identifier" or (role == "withheld" and (column.ratio or 1) < _NEARLY_UNIQUE)
        ):
            decided[number] = "identifier", f"Its value tells that of {dependent[0]}, an identifier."
    _withhold(columns, decided)
    hidden = _identifiers(columns, decided)
    entity = _entity(columns, decided)
    return tuple(
        _suggestion(_beside_published(column, hidden), *_proposed(column, role, reason, entity))
        for column, (role, reason) in zip(columns, decided, strict=True)
    )


def _withhold(columns: Sequence[ObservedColumn], decided: list[tuple[str, str]]) -> None:
    """Keep the quasi-identifiers that others know best and that tell most rows apart; withhold the others."""
    linking = [number for number, (role, _) in enumerate(decided) if role == "quasi_identifier"]
    exact = {column.facts.name for column in columns if (column.ratio or 0.0) > _REPEATED_RATIO}
    chosen: list[str] = []
    for number in sorted(linking, key=lambda number: _rank(columns[number])):
        determinants = [
            name
            for name, share in columns[number].determined_by
            if share == 1 and name in chosen and name not in exact
        ]
        if determinants:
            decided[number] = "withheld", f"{determinants[0]} always tells its value: one of both is enough."
        elif len(chosen) < MOST_QUASI_IDENTIFIERS:
            chosen.append(columns[number].facts.name)
        else:
            reason = decided[number][1].removesuffix(".")
            decided[number] = (
                "withheld",
                f"{reason}; but {MOST_QUASI_IDENTIFIERS} others are better known or tell more rows apart.",
            )


def _rank(column: ObservedColumn) -> tuple[int, float]:
    """Return how well others know a column, best known first, and how many rows it tells apart."""
    name, named = column.facts.name, _named(column)
    looks_known = named is None and column.look is not None and column.look.widely_known
    if looks_known or is_widely_known(name):
        known = 0
    elif named is None:
        known = 3
    else:
        known = 2 if is_seldom_known(name) else 1
    return known, -column.separation


def _entity(columns: Sequence[ObservedColumn], decided: Sequence[tuple[str, str]]) -> ObservedColumn | None:
    """Return the column by which people should be counted; None if every row seems to be a person."""
    candidates = [
        column
        for column, (role, _) in zip(columns, decided, strict=True)
        if role == "identifier" and column.is_repeated and column.may_tell_people_apart
    ]
    return max(candidates, key=lambda one: (one.people is not None, one.distinct or 0), default=None)


def _proposed(
    column: ObservedColumn, role: str, reason: str, entity: ObservedColumn | None
) -> tuple[str, tuple[str, ...]]:
    if column is not entity:
        return role, (reason,)
    return "entity", (
        reason,
        "Several rows have the same value: they are one person's, so count people by it.",
    )


def _identifiers(columns: Sequence[ObservedColumn], decided: Sequence[tuple[str, str]]) -> set[str]:
    return {
        column.facts.name for column, (role, _) in zip(columns, decided, strict=True) if role == "identifier"
    }


def _beside_published(column: ObservedColumn, hidden: set[str]) -> ObservedColumn:
    """Forget that identifiers tell the value: they are never published."""
    return replace(
        column,
        determined_by=tuple((name, share) for name, share in column.determined_by if name not in hidden),
    )


def _suggestion(column: ObservedColumn, role: str, reasons: tuple[str, ...]) -> Suggestion:
    if role == "sensitive" and column.is_exact_number:
        reasons = (*reasons, "Whoever knows the exact number finds the row: think of publishing ranges.")
    return Suggestion(
        column=column.facts.name,
        role=role,
        reasons=(*reasons, *_observations(column)),
        distinct_values=column.distinct,
        distinct_ratio=column.ratio,
        unique_values=column.single,
        missing=column.missing,
        restored_by=tuple(name for name, _ in column.determined_by),
        hierarchy=_hierarchy(column) if role == "quasi_identifier" else None,
    )


def _hierarchy(column: ObservedColumn) -> Mapping[str, Any] | None:
    """Return what would generalize a quasi-identifier; numbers of known topics may be codes unless exact."""
    facts = column.facts
    is_measured = _named(column) is None or column.is_exact_number
    return hierarchy_for(facts.name, facts.base_type, column.values, column.look, is_measured=is_measured)


def _decide(column: ObservedColumn) -> tuple[str, str]:
    stands_for = _what_it_stands_for(column)
    if stands_for is not None:
        return "identifier", stands_for
    if column.is_constant:
        return "insensitive", "All rows have the same value."
    named, look = _named(column), column.look
    if look is not None and (named is None or (look.is_certain and named.role != "withheld")):
        return look.role, f"Its values look like {look.topic}{_CONSEQUENCE[look.role]}."
    if named is not None:
        return named.role, f"Its name suggests {named.topic}{_CONSEQUENCE[named.role]}."
    if column.distinct is None:
        return "identifier", f"Type {column.facts.type} has no equality, so nobody can check what it tells."
    return _by_statistics(column)


def _named(column: ObservedColumn) -> NamedRole | None:
    """Return the role by name, unless the values contradict it."""
    named = role_by_name(column.facts.name, kind_of(column.facts.base_type))
    if named is None:
        return None
    if named.role == "identifier" and column.has_few_values:
        return None
    # A number that is as exact as a weight of a survey is hardly what somebody weighs.
    is_weight = may_be_a_weight(column.facts.name) and column.is_exact_number
    return None if is_weight else named


def _what_it_stands_for(column: ObservedColumn) -> str | None:
    """Return how keys or the type say that a value stands for one row or person; None if they don't."""
    facts = column.facts
    if facts.is_key:
        return "It is a key: every row has its own value."
    if column.people is not None:
        return f"It refers to {column.people}, by its name a table of people."
    # what hardly differs from row to row refers to a list of wards, countries and the like
    if column.refers_to is not None and (column.ratio or 0.0) >= _EXACT_RATIO:
        return f"It refers to rows of {column.refers_to}; tables published together have pseudonyms for it."
    if facts.base_type in _NUMBERING:
        return f"Values of type {facts.type} stand for one person, device or connection."
    return None


_CONSEQUENCE = {
    "identifier": "",
    "withheld": "",
    "quasi_identifier": ", which others may know",
    "sensitive": ", which nobody should learn about a person",
}


def _by_statistics(column: ObservedColumn) -> tuple[str, str]:
    ratio = column.ratio or 0.0
    is_long = column.length is not None and column.length >= _FREE_TEXT_LENGTH
    if is_long and ratio >= _FREE_TEXT_RATIO:
        return "identifier", "It looks like free text, which may name people."
    if column.is_exact_number and not is_a_number(column.facts.name):
        return "withheld", "Hardly a cell of a number so exact could be published; ranges of it could."
    if ratio >= _NEARLY_UNIQUE and column.facts.base_type not in _MEASURED:
        which = "row with a value" if column.missing else "row"
        return "identifier", f"Nearly every {which} has its own."
    return "quasi_identifier", "Nothing says that others cannot know it."


def _observations(column: ObservedColumn) -> list[str]:
    """Return sentences about what was counted."""
    observations = []
    if column.distinct is not None:
        values = "1 value" if column.distinct == 1 else f"{column.distinct:,} different values"
        observations.append(f"{values} in {column.rows:,} rows.")
    if column.single and not column.facts.is_key and column.single > _OFTEN_SINGLE * (column.distinct or 0):
        observations.append(f"{column.single:,} of them in one row only.")
    if column.missing:
        observations.append(f"{column.missing:.1%} of the rows have no value.")
    if column.determined_by:
        observations.append(f"{_listed(column.determined_by)}: suppressing this column alone hides nothing.")
    return observations


def _listed(determined_by: Sequence[tuple[str, float]]) -> str:
    parts = [name if share == 1 else f"{name} (in {share:.1%} of the rows)" for name, share in determined_by]
    verb = "tells" if len(parts) == 1 else "each tell"
    return f"{in_words(parts)} {verb} its value"
