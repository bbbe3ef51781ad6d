"""The record of a release over time and the tables behind it: members, cohorts, who left, who waits."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from kanon_pg.db.catalog import ColumnFacts, RelationFacts, describe
from kanon_pg.db.identifiers import Identifier, derived_name
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import SCHEMA as BASES_SCHEMA
from kanon_pg.db.readers import define_base, drop_base, require_reader
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import ReleaseError, UnsuitableColumn, UnsuitableRelation
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.release.plan.base import OWNER
from kanon_pg.release.plan.over_time import OverTime, parse_over_time
from kanon_pg.release.plan.planning import ReleasePlan, recorded_plan
from kanon_pg.release.plan.record import ReleaseRecord
from kanon_pg.release.plan.request import AnonymizeRequest
from kanon_pg.release.publish.remembering import key_now

OWN_COLUMNS = ("kanon_row", "kanon_fingerprint", "kanon_who", "kanon_member", "kanon_same")
"""Names that the view of identities and the table of changes add to the columns of the base relation."""


@dataclass(frozen=True, slots=True)
class SeriesNames:
    """The relations behind a release over time."""

    current: Identifier
    """The view that gives each row of the base relation its identity, and the function that reads it."""
    members: Identifier
    """Published rows with their cells."""
    cohorts: Identifier
    departed: Identifier
    pending: Identifier
    """`cohorts`, `departed`, `pending`: what became of rows so far."""

    @classmethod
    def fresh(cls, release: str, generation: int) -> SeriesNames:
        """Return new names."""
        names = cls(*(scratch_name(release, generation, kind.name) for kind in fields(cls)))
        return replace(names, current=Identifier.of(BASES_SCHEMA, names.current.name))

    def parts(self) -> dict[str, Any]:
        """Return the names as templates have them."""
        return {kind.name: getattr(self, kind.name) for kind in fields(self)}


def scratch_name(release: str, generation: int, kind: str) -> Identifier:
    """Return the name of a relation of one publication."""
    return Identifier.of("kanon", derived_name(release, f"v{generation}", kind))


@dataclass(frozen=True, slots=True)
class Series:
    """What is recorded of a release over time."""

    version: int
    """The version that readers see."""
    request: AnonymizeRequest
    """The call that started it."""
    weights: dict[str, float]
    """Cost of a suppressed cell per quasi-identifier."""
    keys: tuple[str, ...]
    """Columns that identify a row."""
    key_view: Identifier | None
    """View of these columns; None if it was dropped."""
    relations: tuple[Identifier | None, ...]
    """Those of `SeriesNames`; None for one that was dropped, as with the base relation by CASCADE."""
    cohorts_ever: int = 0
    """Highest number of a cohort so far."""
    pending_people: int = 0
    longest_wait: int = 0
    withheld_rows: int = 0
    retained_rows: int = 0
    """`pending_people`, `longest_wait`, `withheld_rows`, `retained_rows`: figures of the version."""

    @property
    def rules(self) -> OverTime:
        """Its rules."""
        return parse_over_time(self.request.over_time) or OverTime()

    @property
    def names(self) -> SeriesNames:
        """The relations behind it.

        Raises
        ------
        ReleaseError
            If one of them is gone.
        """
        there = [name for name in self.relations if name is not None]
        if len(there) < len(self.relations):
            raise ReleaseError(
                "The base table of this release was dropped, or a column that the release shows; the version "
                "that readers see is its last.",
                hint="Remove it: SELECT kanon_drop(...);",
            )
        return SeriesNames(*there)


def find_series(db: Database, release: str) -> Series | None:
    """Return what is recorded of a release over time, None for an ordinary release."""
    rows = db.rows(statement("series/fetch_series"), release)
    if not rows:
        return None
    row = dict(rows[0])
    key_view, current, *tables = row.pop("relations")
    relations = (_named(BASES_SCHEMA, current), *(_named("kanon", table) for table in tables))
    read = {
        "request": AnonymizeRequest(**json.loads(row["request"])),
        "weights": json.loads(row["weights"]),
        "keys": tuple(row["keys"]),
    }
    return Series(**{**row, **read}, key_view=_named("kanon", key_view), relations=relations)


def _named(schema: str, name: str | None) -> Identifier | None:
    return None if name is None else Identifier.of(schema, name)


def forget_series(db: Database, release: str) -> Series | None:
    """Remove the record of a release over time; returns what it was, None for an ordinary release."""
    series = find_series(db, release)
    if series is not None:
        db.execute(statement("series/forget_series"), release)
    return series


def drop_series(db: Database, series: Series) -> None:
    """Drop the views and the tables of a release over time, after its storage."""
    if series.key_view is not None:
        db.execute(statement("drop_view", view=series.key_view))
    current, *tables = series.relations
    if current is not None:
        drop_base(db, current.name)
    for table in tables:
        if table is not None:
            db.execute(statement("drop_table", table=table))


def row_keys(db: Database, plan: ReleasePlan) -> tuple[str, ...]:
    """Return the columns that identify a row of the base relation.

    Raises
    ------
    UnsuitableRelation
        If nothing tells which row of a version is which row of the next.
    UnsuitableColumn
        If a column has a name that the tables of a series need.
    """
    for column in plan.base.columns:
        if column.name in OWN_COLUMNS:
            raise UnsuitableColumn(
                f"Column {column.identifier} has a name that releases over time need themselves.",
                hint="Rename the column, or use a view that renames it.",
            )
    found = db.rows(statement("series/row_keys"), plan.base.oid)
    if found:
        return tuple(found[0]["columns"])
    raise _without_key(plan.base)


def _without_key(base: RelationFacts) -> UnsuitableRelation:
    """Return the refusal of a relation of which nothing tells which row is which.

    By person and contents rows are not known: a row that changes would be another one, and somebody who
    knows what does not change in it could follow it through the versions, where it may be alone.
    """
    what = base.identifier
    return UnsuitableRelation(
        f"Nothing tells which row of {what} is which from one version to the next: it has no primary key.",
        hint=f"Give it one: ALTER TABLE {what} ADD PRIMARY KEY (...);"
        if base.can_have_key
        else "Publish a table that has a primary key, in place of what reads it.",
    )


def require_key(db: Database, record: ReleaseRecord, series: Series) -> None:
    """Refuse a base relation whose rows could have come by other identities since they were published.

    Raises
    ------
    UnsuitableRelation
        If the columns that identify a row are no key any more.
    """
    found = key_now(db, record.base, series.keys, series.key_view)
    if found["holds"]:
        return
    base, view = describe(db, str(record.base), OWNER).identifier, record.view
    are_there = len(found["columns"]) == len(series.keys)
    columns = ", ".join(str(Identifier.of(name)) for name in (found["columns"] if are_there else series.keys))
    make = f"Make {columns} the primary key again, or NOT NULL and UNIQUE"
    raise UnsuitableRelation(
        f"{view} knows the rows of {base} by {columns}, which no primary key or unique index tells apart any "
        "more: a row could be taken for another.",
        detail="Nothing was published; the version that readers see stays.",
        hint=(make if are_there else f"Rename columns back if they were renamed. {make}")
        + ". If other columns identify rows from now on, start a new series: kanon_anonymize with options => "
        """'{"over_time": {"new_series": true}}'.""",
    )


def create_series(
    db: Database,
    plan: ReleasePlan,
    request: AnonymizeRequest,
    names: SeriesNames,
    keys: tuple[str, ...],
    generation: int,
) -> Series:
    """Create the views and the tables of a release over time, but for the members."""
    _create_current(db, plan, names.current, keys)
    key_view = scratch_name(plan.name, generation, "keys")
    columns = [plan.base.column(name).identifier for name in keys]
    parts = {"view": key_view, "relation": plan.base.identifier, "keys": columns}
    db.execute(statement("series/create_key_view", **parts))
    db.execute(statement("series/create_cohorts", cohorts=names.cohorts))
    db.execute(statement("series/create_departed", departed=names.departed))
    db.execute(statement("series/create_pending", pending=names.pending))
    return Series(
        version=1,
        request=request,
        weights={column.facts.name: column.weight for column in plan.quasi_identifiers},
        keys=keys,
        key_view=key_view,
        relations=tuple(names.parts().values()),
    )


def store_series(db: Database, release: str, series: Series) -> None:
    """Record a release over time that starts."""
    own = asdict(series)
    relations = {kind: str(name) for kind, name in series.names.parts().items()}
    relations |= {"key_view": str(series.key_view), "current_rows": relations.pop("current")}
    keys = own.pop("keys")
    del own["relations"]
    columns = {**own, **relations, "release": release, "key_columns": keys}
    db.execute(statement("series/store_series"), json.dumps(columns, default=list))


def _create_current(db: Database, plan: ReleasePlan, current: Identifier, keys: tuple[str, ...]) -> None:
    entity = plan.entity
    columns = [
        {
            "name": column.identifier,
            "alias": Identifier.of(f"o{number}"),
            "hashed": CanonicalColumn(column, Identifier.of(f"o{number}")).hashed("plain"),
        }
        for number, column in enumerate(_kept_columns(plan), 1)
    ]
    key_columns = [
        CanonicalColumn(plan.base.column(name), Identifier.of(f"k{number}"))
        for number, name in enumerate(keys, 1)
    ]
    text = render(
        "series/current_rows",
        relation=plan.base.identifier,
        columns=columns,
        keys=[
            {"expression": key.expression, "alias": key.alias, "hashed": key.hashed("keyed")}
            for key in key_columns
        ],
        entity=None
        if entity is None
        else {
            "expression": entity.expression,
            "hashed": entity.hashed("seen"),
            "keyed": entity.hashed("keyed"),
        },
    )
    rows: int = db.row(statement("estimate_rows"), str(plan.base.identifier))["rows"]
    define_base(db, require_reader(db, plan.base), current, text, rows=rows)


def _kept_columns(plan: ReleasePlan) -> list[ColumnFacts]:
    """Columns that are published or identify people, in the base relation's order."""
    kept = {column.facts.name for column in plan.quasi_identifiers} | {c.name for c in plan.carried}
    if plan.entity is not None:
        kept.add(plan.entity.facts.name)
    return [column for column in plan.base.columns if column.name in kept]


def plan_of_series(db: Database, record: ReleaseRecord, series: Series) -> ReleasePlan:
    """Return the plan of a release over time from its record, whatever was declared since.

    The base relation has the columns of the view of identities, which follows renamed columns.
    """
    seen = described_as(db, series.names.current, describe(db, str(record.base), OWNER))
    request = series.request
    return recorded_plan(
        db,
        record,
        seen,
        weights=series.weights,
        models=request.models,
        hierarchies=request.requested_hierarchies,
    )


def described_as(db: Database, relation: Identifier, base: RelationFacts) -> RelationFacts:
    """Return the columns of one relation under the name of another."""
    found = describe(db, str(relation), OWNER)
    return replace(found, oid=base.oid, schema=base.schema, name=base.name)
