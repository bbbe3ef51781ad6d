"""Counts a release again, by plain SQL, on what will be published.

Nothing here is shared with the solver or with the guard of the view: classes are the published cells
as a reader sees them (types with several spellings of one value are compared as text).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.queries import Statement, statement
from kanon_pg.errors import VerificationFailed
from kanon_pg.release.canonical import CanonicalColumn
from kanon_pg.release.plan import ReleasePlan
from kanon_pg.release.recount_levels import recount_levels


@dataclass(frozen=True, slots=True)
class Recount:
    """What a release contains.

    Parameters
    ----------
    rows, people, classes : int
        Published rows, distinct people, and classes as readers tell them apart.
    guarded_classes : int
        Classes as the guard tells them apart, by the levels of their cells as well.
    smallest_class, largest_class : int
        People in the smallest and largest class.
    average_class : float
        Mean people per class.
    suppressed_cells : int
        Suppressed cells.
    weighted_cost : float
        Suppressed cells times the weights of their columns, and generalized ones times their loss.
    certainty_penalty : float
        Mean over all quasi-identifier cells of the share of values that they stand for, 0 to 1.
    generalization_height : float
        Mean over the same cells of level by height, 0 to 1.
    """

    rows: int
    people: int
    classes: int
    guarded_classes: int
    smallest_class: int
    average_class: float
    largest_class: int
    suppressed_cells: int
    weighted_cost: float
    certainty_penalty: float
    generalization_height: float


def recount(
    db: Database, plan: ReleasePlan, storage: Identifier, *, k: int, nodes: tuple[Identifier, ...] = ()
) -> Recount:
    """Count the classes of a filled storage and check the guarantee.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    plan : ReleasePlan
        What is published.
    storage : Identifier
        The materialized view.
    k : int
        Fewest people per class.
    nodes : tuple of Identifier
        The table of each generalized column.

    Raises
    ------
    VerificationFailed
        If a class is smaller than `k`, a cell that is marked as suppressed has a value, or a generalized
        cell is not one of its hierarchy.
    """
    columns = plan.quasi_identifiers
    by_pattern = db.rows(_counting(plan, storage, "recount_storage", "pattern"))
    _require_guarantee(by_pattern, k)
    rows = _total(by_pattern, "rows")
    seen = by_pattern
    if plan.generalized:  # nodes of one name, and NULL, look the same at several levels
        seen = db.rows(_counting(plan, storage, "recount_seen", "kanon_pattern"))
    classes, memberships = _total(seen, "classes"), _total(seen, "memberships")
    people = rows if plan.entity is None else db.row(statement("count_people", storage=storage))["people"]
    suppressed = [(row["rows"], _suppressed(plan, row["pattern"])) for row in by_pattern]
    plain = {column for column in columns if plan.hierarchy_of(column) is None}
    stars = [(n, [column.weight for column in hidden if column in plain]) for n, hidden in suppressed]
    plain_cells = sum(n * len(weights) for n, weights in stars)
    levels = recount_levels(db, plan, storage, nodes)
    return Recount(
        rows=rows,
        people=people,
        classes=classes,
        guarded_classes=_total(by_pattern, "classes"),
        smallest_class=min(row["smallest"] for row in seen),
        average_class=memberships / classes,
        largest_class=max(row["largest"] for row in seen),
        suppressed_cells=sum(n * len(hidden) for n, hidden in suppressed),
        weighted_cost=float(sum(n * sum(weights) for n, weights in stars)) + levels.weighted,
        certainty_penalty=(plain_cells + levels.shares) / (rows * len(columns)),
        generalization_height=(plain_cells + levels.heights) / (rows * len(columns)),
    )


def _counting(plan: ReleasePlan, storage: Identifier, query: str, pattern: str) -> Statement:
    """Return a query that counts classes, in terms of a name of the pattern vector."""
    return statement(
        query,
        storage=storage,
        entity=plan.entity is not None,
        columns=[
            {"cell": _as_seen(plan, c), "alias": c.alias, "is_suppressed": plan.suppressed_in(pattern, j)}
            for j, c in enumerate(plan.quasi_identifiers)
        ],
    )


def _as_seen(plan: ReleasePlan, column: CanonicalColumn) -> Fragment:
    generalized = plan.hierarchy_of(column)
    is_exact = column.is_exact if generalized is None else generalized.output == "text"
    return Fragment(f"{column.output}" if is_exact else f"{column.output}::text")


def _suppressed(plan: ReleasePlan, pattern: int) -> list[CanonicalColumn]:
    fields = plan.levels
    levels = zip(plan.quasi_identifiers, fields.levels_of(pattern), fields.heights, strict=True)
    return [column for column, level, height in levels if level == height]


def _require_guarantee(by_pattern: Sequence[Row], k: int) -> None:
    if not by_pattern:
        raise VerificationFailed(
            "The release is empty.", hint="Did the base table change meanwhile? Run it again."
        )
    smallest = min(row["smallest"] for row in by_pattern)
    if smallest < k:
        raise VerificationFailed(
            f"The recount found a class of {smallest} people, fewer than {k}; nothing was published.",
            hint="This is a defect: please report it.",
        )
    if any(row["leaks"] for row in by_pattern):
        raise VerificationFailed(
            "The recount found values in cells marked as suppressed; nothing was published.",
            hint="This is a defect: please report it.",
        )


def _total(rows: Sequence[Row], name: str) -> int:
    return sum(int(row[name]) for row in rows)
