"""The report of a release for people: what was published, from what, and what became of the table.

Everything in it is of nobody or at least k people: see `kanon_pg.before_after.buckets`. It is data that JSON
has, the same through either interface; sentences are for readers who do not know this package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_pg import curves
from kanon_pg.audit.assessing import release_risk
from kanon_pg.audit.columns import audit_session
from kanon_pg.audit.request import RiskRequest
from kanon_pg.before_after.buckets import (
    MISSING,
    OTHER,
    SUPPRESSED,
    Bucket,
    Size,
    class_ranges,
    rounded,
    told,
)
from kanon_pg.before_after.counting import (
    BucketCounts,
    Buckets,
    ComparedColumn,
    Side,
    SizesOfClasses,
    buckets_of,
    sets_to_count,
    shows_what_is_there,
)
from kanon_pg.before_after.linked import compared_table
from kanon_pg.before_after.request import ReleaseReportRequest
from kanon_pg.before_after.sentences import guarantee, not_promised, proof
from kanon_pg.before_after.tables import association, count_error, known
from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.curves import DEFAULT_KS, CurveRequest
from kanon_pg.db.identifiers import Fragment
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.settings import exact_text, working_memory
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, UnknownName, as_given
from kanon_pg.relations.subject import Subject, no_rows, require_usable, resolve
from kanon_pg.release.linked.publishing import published_people
from kanon_pg.release.plan.base import require_readable_base
from kanon_pg.release.plan.planning import ReleasePlan, recorded_plan
from kanon_pg.release.plan.record import ReleaseRecord, existing_release
from kanon_pg.runner.parent import memory_budget

Report = dict[str, Any]
"""What JSON has; ``docs/how-to/report.md`` says what the keys mean."""

MOST_NAMED = 10
"""Values that vanished and are named, of each column."""

MOST_CHANGED = 10
"""Pairs of columns whose association changed most."""


def release_report(db: Database, request: ReleaseReportRequest, *, role: str) -> Report:
    """Return the report of a release.

    Parameters
    ----------
    role : str
        Whose rights count: it has to be allowed to read the base relation, if that is still there.

    Raises
    ------
    UnknownName
        If there is no such release, or a column of the base relation has another name now.
    NotPermitted
        If the role may not read the base relation.
    """
    request.check()
    record = existing_release(db, request.release)
    found = db.rows(statement("before_after/facts"), record.name)
    if not found:
        raise UnknownName(f"Release {as_given(record.name)} was dropped meanwhile.")
    facts, parameters = found[0], json.loads(found[0]["parameters"])
    tables = db.rows(statement("before_after/linked_tables"), record.name)
    report = _head(record, facts, parameters, tables)
    if record.storage is None or not record.has_base:
        return report | {
            "notes": ["The table was dropped, and the release with it: this is what is recorded of them."]
        }
    if request.curve and record.people_view is not None:
        raise InputError(
            "There is no curve over k of tables that are published together.",
            hint="Leave the curve out. kanon_curve has that of the person table by its own columns.",
        )
    subject = published_people(db, record, resolve(db, str(record.base), role=role), role)
    require_readable_base(db, subject.relation)
    plan = recorded_plan(db, record, subject.relation, models=PrivacyModels.of(parameters))
    require_usable(db, subject, tuple(column.facts for column in plan.quasi_identifiers))
    with working_memory(db, memory_budget(db)), exact_text(db):
        db.progress("comparing with the table")
        report |= _Comparison(db, record, facts, plan, subject, tables).report()
    if request.curve:
        report["curve"] = _curve(db, request, record, subject, role)
    return report


def _head(record: ReleaseRecord, facts: Row, parameters: Mapping[str, Any], tables: Sequence[Row]) -> Report:
    models = PrivacyModels.of(parameters)
    return {
        "release": record.name,
        "view": facts["view"],
        "table": facts["base"],
        "k": record.k,
        **({} if record.subsets is None else {"subsets": record.subsets}),
        "entity": record.entity,
        "published_by": facts["published_by"],
        "published_at": facts["published_at"],
        "refreshed_at": facts["refreshed_at"],
        "version": facts["version"],
        **{name: facts[name] for name in ("rows", "people", "classes", "smallest_class", "largest_class")},
        "average_class": round(facts["average_class"], 2),
        "suppressed_cells": facts["suppressed_cells"],
        "suppressed_share": _share(facts["suppressed_share"]),
        "guarantee": guarantee(record, models, parameters, tables),
        "not_promised": not_promised(record, models, parameters, tables),
        "proof": proof(facts),
        "notes": [],
    }


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A release beside its base relation, while it is counted."""

    db: Database
    record: ReleaseRecord
    facts: Row
    plan: ReleasePlan
    subject: Subject
    tables: Sequence[Row]

    @property
    def _k(self) -> int:
        return self.record.k

    def report(self) -> Report:
        """Return what only a look at both tells."""
        entity = self.plan.entity
        base = Side(
            self.db, self.plan, self.subject.source, None if entity is None else entity.expression,
            self.subject.relation,
        )  # fmt: skip
        person = None if entity is None else Fragment("kanon_person")
        release = Side(self.db, self.plan, self.record.stored, person)
        columns = self._columns()
        levels = self._levels(release)
        buckets = [
            buckets_of(column, base, release, self._k, _highest(column, levels, self.plan))
            for column in columns
        ]
        pairs, triples = sets_to_count(columns, buckets)
        before = base.tables(columns, buckets, [*pairs, *triples])
        if not before.whole.rows:
            raise no_rows(self.subject.relation)
        after = release.tables(columns, buckets, [*pairs, *triples])
        if not after.whole.rows:
            return {
                "rows": 0,
                "people": 0,
                "notes": ["The release shows no rows now: all of them are withheld."],
            }
        has_changed = self._has_changed(columns, before, after)
        sizes_before, sizes_after = base.class_sizes(), release.class_sizes()
        compared = list(zip(columns, buckets, strict=True))
        found = self._compared(compared, levels, (base, before), (release, after), has_changed=has_changed)
        is_told = found["table_rows"] is not None
        return {
            "people": after.whole.people,
            "smallest_class": min(sizes_after.people, default=0),
            **self._suppressed(levels, after.whole.rows),
            "notes": self._notes(has_changed=has_changed, is_told=is_told),
            "table_has_changed": has_changed,
            **found,
            "class_sizes": _class_ranges(sizes_before, sizes_after, self._k),
            "associations": _associations(columns, pairs, before, after),
            "counts": {"two": _errors(pairs, before, after), "three": _errors(triples, before, after)},
            "risk": self._risk(sizes_before, sizes_after),
            "linked": self._linked(
                [pair for pair in compared if pair[0].position is not None], base, release,
                has_changed=has_changed,
            ),
        }  # fmt: skip

    def _compared(
        self,
        columns: Sequence[tuple[ComparedColumn, Buckets]],
        levels: Sequence[tuple[tuple[int, ...], int]],
        before: tuple[Side, BucketCounts],
        after: tuple[Side, BucketCounts],
        *,
        has_changed: bool,
    ) -> Report:
        """Return the rows of both sides, and what became of each column."""
        (base, one), (release, other) = before, after
        is_told = _may_be_compared(one.whole, other.whole, self._k, has_changed=has_changed)
        is_same = not has_changed and one.whole == other.whole
        return {
            "rows": other.whole.rows,
            "table_rows": rounded(one.whole.rows, self._k) if is_told else None,
            "columns": [
                self._column(
                    column, buckets, levels, one, other, has_changed=has_changed, is_told=is_told,
                    is_same=is_same and column.position is None, by_person=base.entity is not None,
                )
                | {"vanished": self._vanished(column, buckets, levels, base, release) if is_told else None}
                for column, buckets in columns
            ],
        }  # fmt: skip

    def _linked(
        self,
        people: Sequence[tuple[ComparedColumn, Buckets]],
        base: Side,
        release: Side,
        *,
        has_changed: bool,
    ) -> list[Report]:
        """Return what became of the further tables."""
        there = dict[str, Row]()
        found: list[Report] = []
        for table in self.tables:
            report: Report = {
                "view": table["view"],
                "rows": 0,
                "table_rows": None,
                "columns": [],
                "counts": None,
            }
            above = json.loads(table["foreign_keys"])[0]["view"]
            is_there = table["is_shown"] and table["source"] is not None
            if is_there and (above == self.record.name or above in there):
                there[table["name"]] = table
                linked = compared_table(
                    table, there, people, base, release, self._k, with_models=table["has_models"]
                )
                (_, before), (_, after) = linked.base, linked.release
                if before.whole.rows and after.whole.rows:
                    report |= self._compared(
                        linked.columns, (), linked.base, linked.release, has_changed=has_changed
                    )
                    apart = before.whole.apart(after.whole)
                    # an error tells how many rows are left out, which rounding hides if they are fewer than k
                    if report["table_rows"] is not None and (not apart.rows or apart.people >= self._k):
                        report["counts"] = _errors(linked.pairs, before, after)
            found.append(report)
        return found

    def _columns(self) -> list[ComparedColumn]:
        generalized = dict(zip(self.record.generalized, self.record.nodes, strict=True))
        places = {column.facts.name: place for place, column in enumerate(self.plan.quasi_identifiers)}
        found: list[ComparedColumn] = []
        for facts in self.subject.relation.columns:
            position = places.get(facts.name)
            if position is not None:
                role = "quasi_identifier"
            elif facts in self.plan.sensitive:
                role = "sensitive"
            elif facts in self.plan.insensitive:
                role = "insensitive"
            else:
                continue
            column = ComparedColumn(len(found) + 1, facts, role, position)
            if position is not None and facts.name in generalized:
                hierarchy = self.plan.hierarchy_of(self.plan.quasi_identifiers[position])
                column = replace(column, generalized=hierarchy, nodes=generalized[facts.name])
            found.append(column)
        return found

    def _levels(self, release: Side) -> list[tuple[tuple[int, ...], int]]:
        """Return the levels of the quasi-identifiers and how many rows have them."""
        rows = release.db.rows(statement("before_after/patterns", storage=self.record.stored))
        return [(self.plan.levels.levels_of(row["pattern"]), row["rows"]) for row in rows]

    def _suppressed(self, levels: Sequence[tuple[tuple[int, ...], int]], rows: int) -> Report:
        heights = self.plan.levels.heights
        cells = sum(n * sum(map(int.__eq__, found, heights)) for found, n in levels)
        return {"suppressed_cells": cells, "suppressed_share": _share(cells / rows / len(heights))}

    def _has_changed(
        self, columns: Sequence[ComparedColumn], before: BucketCounts, after: BucketCounts
    ) -> bool:
        """Return whether the base relation may have other rows than those that were published.

        PostgreSQL's counters may count changes from before; where they do, the release is computed again.
        """
        unchanged = [column.place for column in columns if column.position is None]
        if before.whole != after.whole or any(before.sizes[one] != after.sizes[one] for one in unchanged):
            return True
        if self.facts["changes_since"] == 0:
            return False
        return not shows_what_is_there(self.db, self.plan, self.record)

    def _notes(self, *, has_changed: bool, is_told: bool) -> list[str]:
        k = self._k
        rounding = (
            f"Counts of the table's quasi-identifiers are rounded to multiples of {k}: exact ones, beside "
            "those of the release, would tell what is suppressed."
        )
        if not has_changed:
            return [rounding]
        changed = (
            "The table has changed since the release was published or refreshed: what is said of the table "
            "is about its rows now."
        )
        if is_told:
            return [changed, rounding]
        return [
            changed,
            f"Fewer than {k} people may have come, gone or changed, whom a comparison of values would show. "
            "So values before are left out; publish the table anew to see them.",
        ]

    def _column(
        self,
        column: ComparedColumn,
        buckets: Buckets,
        levels: Sequence[tuple[tuple[int, ...], int]],
        before: BucketCounts,
        after: BucketCounts,
        *,
        has_changed: bool,
        is_told: bool,
        is_same: bool,
        by_person: bool,
    ) -> Report:
        one, other = before.sizes[column.place], after.sizes[column.place]
        rows = after.whole.rows

        def bucket(number: int, label: str) -> Bucket:
            return Bucket(label, one.get(number, Size()) if is_told else None, other.get(number, Size()))

        labelled = [bucket(number, label) for number, label in enumerate(buckets.labels, 1)]
        labelled.append(bucket(MISSING, "(no value)"))
        if not is_told:  # what nobody sees in the release is somebody's in the table
            labelled = [found for found in labelled if found.after.rows]
        shown = told(
            labelled, bucket(OTHER, "(other values)"), self._k,
            has_changed=has_changed, by_person=by_person,
        )  # fmt: skip
        is_known = is_told and bool(shown)
        if is_told and not shown:
            labelled = [replace(found, before=None) for found in labelled if found.after.rows]
            shown = told(
                labelled, replace(bucket(OTHER, "(other values)"), before=None), self._k,
                has_changed=False, by_person=by_person,
            )  # fmt: skip
        suppressed = other.get(SUPPRESSED, Size()).rows
        return {
            "column": column.facts.name,
            "role": column.role,
            "type": column.facts.type,
            "suppressed_share": _share(suppressed / rows),
            "generalized_share": _share(_generalized(column, levels) / rows),
            "levels": _level_shares(column, levels, rows),
            "shown_level": buckets.level,
            "is_compared": is_known,
            "values": [
                {
                    "value": found.label,
                    "before": self._before(found, is_same=is_same),
                    "after": found.after.rows,
                }
                for found in shown
            ],
            "suppressed": suppressed,
        }

    def _before(self, bucket: Bucket, *, is_same: bool) -> int | None:
        """Return how many rows of the table are in a bucket, as it is told."""
        if bucket.before is None or is_same:
            return None if bucket.before is None else bucket.before.rows
        return rounded(bucket.before.rows, self._k)

    def _vanished(
        self,
        column: ComparedColumn,
        buckets: Buckets,
        levels: Sequence[tuple[tuple[int, ...], int]],
        base: Side,
        release: Side,
    ) -> Report | None:
        """Return which values of a column the release shows nowhere.

        None of a column that is published as it is or generalized, and of numbers in ranges.
        """
        position, is_linked = column.position, column.source is not None
        if buckets.bounds if is_linked else position is None or column.generalized is not None:
            return None
        if position is not None and not any(found[position] for found, _ in levels):
            return {"different": 0, "named": [], "others": 0}
        different, many = base.values(column, self._k, release.shown(column), MOST_NAMED)
        named = [{"value": row["label"], "before": rounded(row["rows"], self._k)} for row in many]
        others = different - len(named)
        if is_linked:  # rows that are left out may have a value each
            others = rounded(others, self._k)
        return {"different": len(named) + others, "named": named, "others": others}

    def _risk(self, before: SizesOfClasses, after: SizesOfClasses) -> Report:
        """Return the risk by the quasi-identifiers; and by all that is published but sensitive columns."""
        known = [column.facts.name for column in self.plan.quasi_identifiers]
        risk: Report = {
            "known": known,
            "before": _attackers(before, self._k),
            "after": _attackers(after, self._k),
            "with_insensitive": None,
        }
        if self.record.insensitive:
            call = RiskRequest(None, threshold=1 / self._k, uniques_seconds=0.0)
            with audit_session(self.db, call.time_limit) as worker:
                found = release_risk(worker, call, {"view": str(self.record.view)})
            risk["with_insensitive"] = {
                "known": [*known, *self.record.insensitive],
                "prosecutor": {
                    "highest": _share(found.prosecutor_risk),
                    "average": _share(found.prosecutor_average),
                },
                "journalist": {
                    "highest": _share(found.journalist_risk),
                    "average": _share(found.journalist_average),
                },
                "marketer": _share(found.marketer_risk),
                "share_above": _told_share(found.people_above, found.people, self._k),
            }
        return risk


def _attackers(sizes: SizesOfClasses, k: int) -> Report:
    """Return the risk by the three attackers; no register is known but the table itself."""
    found = {"highest": _share(sizes.highest), "average": _share(sizes.average)}
    above = sum(people for size, people in sizes.people.items() if size < k)
    return {
        "prosecutor": found,
        "journalist": found,
        "marketer": _share(sizes.marketer),
        "share_above": _told_share(above, sum(sizes.people.values()), k),
    }


def _told_share(people: int, of: int, k: int) -> float | None:
    """Return a share of people, None if it or the rest is of fewer than k."""
    return None if 0 < people < k or 0 < of - people < k else _share(people / of)


def _class_ranges(before: SizesOfClasses, after: SizesOfClasses, k: int) -> list[Report]:
    one, other = class_ranges(before.people.items(), k), class_ranges(after.people.items(), k)
    return [
        {
            "from": low,
            "to": high,
            "before": rounded(one.get((low, high), 0), k),
            "after": other.get((low, high), 0),
        }
        for low, high in sorted({*one, *other})
    ]


def _highest(column: ComparedColumn, levels: Sequence[tuple[tuple[int, ...], int]], plan: ReleasePlan) -> int:
    """Return the highest level at which cells of a column are shown."""
    if column.position is None:
        return 0
    top = plan.levels.heights[column.position]
    return max((found[column.position] for found, _ in levels if found[column.position] < top), default=0)


def _generalized(column: ComparedColumn, levels: Sequence[tuple[tuple[int, ...], int]]) -> int:
    if column.position is None or column.generalized is None:
        return 0
    top = column.generalized.height
    return sum(rows for found, rows in levels if 0 < found[column.position] < top)


def _level_shares(
    column: ComparedColumn, levels: Sequence[tuple[tuple[int, ...], int]], rows: int
) -> list[float]:
    """Return the share of cells at each level of a hierarchy, the top last."""
    if column.position is None or column.generalized is None:
        return []
    return [
        _share(sum(n for found, n in levels if found[column.position] == level) / rows)
        for level in range(column.generalized.height + 1)
    ]


def _may_be_compared(before: Size, after: Size, k: int, *, has_changed: bool) -> bool:
    """Return whether rows of nobody, fewer than k, or those of k people came, went or are left out."""
    apart = before.apart(after)
    return apart.people >= k or (not has_changed and apart.rows < k)


def _associations(
    columns: Sequence[ComparedColumn],
    pairs: Sequence[tuple[int, ...]],
    before: BucketCounts,
    after: BucketCounts,
) -> Report:
    names = {column.place: column.facts.name for column in columns}
    found: list[Report] = []
    for pair in pairs:
        one, other = association(before.tables[pair]), association(known(after.tables[pair]))
        if one is not None:
            found.append(
                {
                    "columns": [names[place] for place in pair],
                    "before": round(one, 2),
                    "after": None if other is None else round(other, 2),
                }
            )
    found.sort(key=lambda one: (-abs(one["before"] - (one["after"] or 0.0)), one["columns"]))
    return {"pairs": len(found), "changed_most": found[:MOST_CHANGED]}


def _errors(sets: Sequence[tuple[int, ...]], before: BucketCounts, after: BucketCounts) -> Report | None:
    """Return the error of the counts of some tables, the mean over the tables."""
    if not sets:
        return None
    errors = [count_error(before.tables[one], after.tables[one]) for one in sets]
    scaled = [one.scaled for one in errors if one.scaled is not None]
    return {
        "tables": len(errors),
        "as_published": round(sum(one.as_published for one in errors) / len(errors), 3),
        "scaled": round(sum(scaled) / len(scaled), 3) if scaled else None,
    }


def _curve(
    db: Database, request: ReleaseReportRequest, record: ReleaseRecord, subject: Subject, role: str
) -> list[Report] | None:
    """Return what other k would cost by suppression alone."""
    people = db.row(statement("before_after/facts"), record.name)["people"]
    ks = sorted({k for k in (*DEFAULT_KS, record.k) if k <= people})
    asked = CurveRequest(
        str(subject.relation.identifier),
        ks,
        quasi_identifiers=record.quasi_identifiers,
        time_limit=request.time_limit,
    )
    return [
        {"k": point.k, "suppressed_share": _share(point.suppressed_share), "optimal": point.optimal}
        for point in curves.curve(db, asked, role=role).points
    ]


def _share(value: float) -> float:
    return round(value, 4)
