"""Suggests roles of columns through either interface; applies nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_pg.audit.columns import AuditSession, audit_columns, audit_session, comparable, look_up
from kanon_pg.audit.findings import Suggestion
from kanon_pg.audit.names import TEXTS, kind_of, lists_people, names_a_person
from kanon_pg.audit.request import SuggestRequest
from kanon_pg.audit.roles import ObservedColumn, suggestions_for
from kanon_pg.audit.values import look_of
from kanon_pg.core.packed import MAX_COLUMNS
from kanon_pg.db.catalog import ColumnFacts, require_readable
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import reading
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError
from kanon_pg.relations.subject import Subject, no_rows

_MOST_ROWS = 250_000
"""Rows that are looked at for statistics of columns; of larger relations about so many, drawn at random."""

_MOST_VALUES = 2_000
"""Rows of which values are looked at, about."""

_MOST_ANSWERS = 500
"""Columns of which one query answers: PostgreSQL has at most 1,664 columns of a result."""

_ARGUMENTS = {
    "identifier": "identifiers",
    "quasi_identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}


def suggest(db: Database, request: SuggestRequest) -> tuple[Suggestion, ...]:
    """Propose a role for each column of a relation, with reasons, in the relation's order."""
    request.check()
    known = look_up(db, request.relation)
    facts = known.relation.columns
    if not facts:
        raise InputError(
            f"Relation {known.relation.identifier} has no columns.", hint="Name a table that holds data."
        )
    require_readable(known.relation, facts, known.role)
    with audit_session(db, request.time_limit) as worker:
        suggestions = suggestions_for(_observe(worker, known))
    _notify(db, known, suggestions)
    return suggestions


def _observe(worker: AuditSession, known: Subject) -> list[ObservedColumn]:
    """Look at the columns of a relation: how full, how different, whose names, who determines whom."""
    db, facts = worker.db, known.relation.columns
    columns = comparable(db, known, facts)
    db.progress("counting")
    counts = _count_columns(db, known)
    if not counts["rows"]:
        raise no_rows(known.relation)
    statistics = _statistics(worker, known, columns, counts["rows"])
    references = db.rows(statement("suggest_references"), known.relation.oid)
    referred = {row["name"]: row["referred"] for row in references}
    tables = {name: table for name, table in referred.items() if lists_people(table)}
    repeated = _repeated(db, known, columns, tables)
    constant = _constant(db, known, columns, statistics, is_sample=counts["rows"] > _MOST_ROWS)
    values = _values(db, known, counts["rows"])
    return [
        replace(
            _observed(column, number, counts, statistics.get(column.name)),
            values=values.get(column.name, ()),
            look=look_of(column.base_type, values.get(column.name, ())),
            refers_to=referred.get(column.name),
            people=tables.get(column.name),
            # people of a linked table are those that the link leads to
            is_repeated=column.name in repeated and known.people is None,
            is_constant=column.name in constant,
        )
        for number, column in enumerate(facts)
    ]


def _notify(db: Database, known: Subject, suggestions: Sequence[Suggestion]) -> None:
    """Name the statements that do as proposed."""
    if any(one.role == "quasi_identifier" for one in suggestions):
        relation = known.relation.identifier
        statements = [declaring(relation, suggestions)]
        below = _linked(db, known, suggestions)
        statements += [
            f"SELECT kanon_link({Literal(row['child'])}, {Literal(row['parent'])});"
            for row in below
            if not row["is_linked"]
        ]
        if known.people is None:
            statements += publishing(relation, suggestions, tables=[row["child"] for row in below])
        db.notice(f"Nothing was declared. To do as proposed: {' '.join(statements)}")
        if below:
            db.notice(
                "Rows of other tables belong to these people. They are published together once they are "
                "linked by kanon_link; declare the roles of their columns first, which kanon_suggest "
                "proposes, too."
            )
    else:
        db.notice("No quasi-identifier is proposed: say yourself which columns others can know.")


def _linked(db: Database, known: Subject, suggestions: Sequence[Suggestion]) -> Sequence[Row]:
    """Return the tables whose rows belong to the people of a table that has a row for each."""
    if known.people is not None or known.is_release or any(one.role == "entity" for one in suggestions):
        return ()
    found = db.rows(statement("suggest_linked"), known.relation.oid)
    has_people = lists_people(known.relation.name) or any(
        column.is_key and names_a_person(column.name) for column in known.relation.columns
    )
    return found if has_people or any(row["is_linked"] for row in found) else ()


def declaring(relation: Identifier | str, suggestions: Sequence[Suggestion], between: str = ", ") -> str:
    """Return the statement that declares what is proposed for a relation: its quoted name."""
    arguments = [str(Literal(str(relation)))]
    for role, argument in _ARGUMENTS.items():
        names = [one.column for one in suggestions if one.role == role]
        if names:
            arguments.append(f"{argument} => ARRAY[{', '.join(str(Literal(name)) for name in names)}]")
    arguments += [f"entity => {Literal(one.column)}" for one in suggestions if one.role == "entity"]
    return f"SELECT kanon_declare({between.join(arguments)});"


def publishing(
    relation: Identifier | str, suggestions: Sequence[Suggestion], k: int = 5, tables: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the statement that publishes a relation, if there are proposed hierarchies or other tables."""
    hierarchies = {one.column: one.hierarchy for one in suggestions if one.hierarchy is not None}
    if not (hierarchies or tables):
        return ()
    arguments = [str(Literal(str(relation))), str(k)]
    if hierarchies:
        arguments.append(f"hierarchies => {Literal(json.dumps(hierarchies, ensure_ascii=False))}")
    if tables:
        arguments.append(f"tables => ARRAY[{', '.join(str(Literal(one)) for one in tables)}]::regclass[]")
    return (f"SELECT * FROM kanon_anonymize({', '.join(arguments)});",)


def _in_parts(columns: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield columns in parts of which one query answers."""
    for first in range(0, len(columns), _MOST_ANSWERS):
        yield columns[first : first + _MOST_ANSWERS]


def _count_columns(db: Database, known: Subject) -> Row:
    """Return the number of rows, and per column how many lack a value and how long texts are."""
    columns = [
        {
            "name": column.identifier,
            "is_text": column.base_type in TEXTS,
            "missing": Identifier.of(f"missing_{number}"),
            "length": Identifier.of(f"length_{number}"),
        }
        for number, column in enumerate(known.relation.columns)
    ]
    counts: dict[str, Any] = {}
    with reading(db, known.relation):
        for some in _in_parts(columns):
            command = statement("suggest_columns", relation=known.relation.identifier, columns=some)
            counts |= db.read(command)[0]
    return counts


@dataclass(frozen=True, slots=True)
class _Statistics:
    """Counts of one column's values, NULL being one, and its determinants and dependents."""

    rows: int
    distinct: int
    single: int
    separation: float
    determined_by: tuple[tuple[str, float], ...]
    determines: tuple[str, ...]


def _statistics(
    worker: AuditSession, known: Subject, columns: Sequence[ColumnFacts], rows: int
) -> dict[str, _Statistics]:
    """Return the statistics of columns by name, of as many at a time as fit into row types."""
    if len(columns) > MAX_COLUMNS:
        worker.db.notice(
            f"Whether columns tell each other was looked at among {MAX_COLUMNS} at a time, in their order."
        )
    if rows > _MOST_ROWS:
        worker.db.notice(f"Values are counted in about {_MOST_ROWS:,} of {rows:,} rows, drawn at random.")
    source = _sampled(known, rows, _MOST_ROWS)
    statistics: dict[str, _Statistics] = {}
    is_complete = True
    for first in range(0, len(columns), MAX_COLUMNS):
        some = columns[first : first + MAX_COLUMNS]
        counted = worker.count_rows(known, source, audit_columns(some))
        if not counted.rows:  # a sample of few rows may have none
            continue
        answer = worker.run("columns", counted.row_types, share=len(some) / (len(columns) - first))
        is_complete = is_complete and answer["is_complete"]
        statistics |= {
            column.name: _statistics_of(place, some, counted.rows, answer)
            for place, column in enumerate(some)
        }
    if not is_complete:
        worker.db.notice("The time did not suffice to look at all pairs of columns.")
    return statistics


def _statistics_of(
    place: int, columns: Sequence[ColumnFacts], rows: int, answer: Mapping[str, Any]
) -> _Statistics:
    dependencies = answer["dependencies"]
    return _Statistics(
        rows=rows,
        **answer["profiles"][place],
        determined_by=tuple(
            (columns[one["determinant"]].name, one["share"])
            for one in dependencies
            if one["dependent"] == place
        ),
        determines=tuple(
            columns[one["dependent"]].name for one in dependencies if one["determinant"] == place
        ),
    )


def _sampled(known: Subject, rows: int, most: int) -> Identifier | Fragment:
    """Return about so many rows of a relation as what a query reads, all if there are not more."""
    relation = known.relation.identifier
    if rows <= most:
        return relation
    return Fragment(f"(SELECT * FROM {relation} WHERE pg_catalog.random() < {most / rows!r}) AS sampled")


def _values(db: Database, known: Subject, rows: int) -> dict[str, tuple[str, ...]]:
    """Return some values of the columns by name: of texts the beginnings."""
    columns = [
        {
            "name": column.name,
            "text": column.text(str(column.identifier)),
            "alias": Identifier.of(f"values_{number}"),
        }
        for number, column in enumerate(known.relation.columns)
        if kind_of(column.base_type) != "other"
    ]
    source = _sampled(known, rows, _MOST_VALUES)
    found: dict[str, tuple[str, ...]] = {}
    with reading(db, known.relation):
        for some in _in_parts(columns):
            (values,) = db.read(statement("suggest_values", source=source, columns=some))
            found |= {one["name"]: tuple(values[one["alias"].name] or ()) for one in some}
    return found


def _repeated(
    db: Database, known: Subject, columns: Sequence[ColumnFacts], tables: Mapping[str, str]
) -> frozenset[str]:
    """Return the columns that may stand for a person and of which several rows have the same value.

    Counted in all rows, since those of one person are seldom in a sample together.
    """
    chosen = [
        column
        for column in columns
        if not column.is_key and (column.name in tables or names_a_person(column.name))
    ]
    return _those_that_are(db, "suggest_repeated", known, chosen)


def _constant(
    db: Database,
    known: Subject,
    columns: Sequence[ColumnFacts],
    statistics: Mapping[str, _Statistics],
    *,
    is_sample: bool,
) -> frozenset[str]:
    """Return the columns that are the same in all rows; what a sample says is checked in all of them."""
    chosen = [
        column for column in columns if column.name in statistics and statistics[column.name].distinct == 1
    ]
    varying = _those_that_are(db, "suggest_varying", known, chosen) if is_sample else frozenset()
    return frozenset(column.name for column in chosen) - varying


def _those_that_are(
    db: Database, query: str, known: Subject, columns: Sequence[ColumnFacts]
) -> frozenset[str]:
    """Return the names of the columns for which a query with one answer per column says yes."""
    if not columns:
        return frozenset()
    chosen = [
        {"name": column.identifier, "alias": Identifier.of(f"answer_{number}")}
        for number, column in enumerate(columns)
    ]
    with reading(db, known.relation):
        (answers,) = db.read(statement(query, relation=known.relation.identifier, columns=chosen))
    return frozenset(column.name for number, column in enumerate(columns) if answers[f"answer_{number}"])


def _observed(facts: ColumnFacts, number: int, counts: Row, counted: _Statistics | None) -> ObservedColumn:
    missing = counts[f"missing_{number}"]
    return ObservedColumn(
        facts=facts,
        rows=0 if counted is None else counted.rows,
        missing=missing / counts["rows"],
        length=counts.get(f"length_{number}"),
        distinct=None if counted is None else counted.distinct - (missing > 0),
        single=None if counted is None else counted.single - (missing == 1),
        determined_by=() if counted is None else counted.determined_by,
        determines=() if counted is None else counted.determines,
        separation=0.0 if counted is None else counted.separation,
    )
