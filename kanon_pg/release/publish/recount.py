"""Counts a release again, by plain SQL, on what will be published.

Nothing here is shared with the solver or with the guard of the view: classes are the published cells as a
reader sees them (where one value has several spellings, these are compared). What generalized cells cost is
counted by the release's own tables. The figures of privacy models are those of ``kanon_measure``, computed
by its own query; with the guard they share nothing but the definitions. Only if a release holds what was
solved, the solver's proofs apply to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from kanon_pg.core.privacy_models import ModelRules, PrivacyModels
from kanon_pg.core.solving import SolveOutcome
from kanon_pg.db.catalog import equality
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import reading
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import DEFECT, VerificationFailed
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.relations.counting import Counted, are_many_classes, fingerprint
from kanon_pg.release.plan.generalized import GeneralizedColumn, float_literal, node_parts
from kanon_pg.release.plan.planning import ReleasePlan


@dataclass(frozen=True, slots=True)
class Recount:
    """What a release contains; nothing, by default."""

    rows: int = 0
    people: int = 0
    classes: int = 0
    """`rows`, `people`, `classes`: published rows, distinct people, and classes as readers tell them
    apart."""
    guarded_classes: int = 0
    """Classes as the guard tells them apart, by the levels of their cells as well."""
    smallest_class: int = 0
    average_class: float = 0.0
    """Mean people per class."""
    largest_class: int = 0
    """`smallest_class`, `largest_class`: people in the smallest and largest class."""
    suppressed_cells: int = 0
    """Suppressed cells."""
    weighted_cost: float = 0.0
    """Suppressed cells times the weights of their columns, and generalized ones times their loss."""
    certainty_penalty: float = 0.0
    """Mean over all quasi-identifier cells of the share of values that they stand for, 0 to 1."""
    generalization_height: float = 0.0
    """Mean over the same cells of level by height, 0 to 1."""


def recount(
    db: Database,
    plan: ReleasePlan,
    storage: Identifier,
    *,
    k: int,
    nodes: tuple[Identifier, ...] = (),
    on_nodes: bool = False,
) -> Recount:
    """Count the classes of a filled storage and check the guarantee.

    Parameters
    ----------
    nodes : tuple of Identifier
        The table of each generalized column.
    on_nodes : bool
        Whether the rows are on all nodes of Citus, those of one person on one of them.

    Raises
    ------
    VerificationFailed
        If a class is smaller than `k`, a cell that is marked as suppressed has a value, or a generalized
        cell is not one of its hierarchy.
    """
    columns = plan.quasi_identifiers
    by_pattern = db.rows(_counting(plan, storage, nodes, on_nodes=on_nodes))
    _require_guarantee(by_pattern, k if plan.subsets is None else 0)
    rows = _total(by_pattern, "rows")
    seen: Sequence[Row] = by_pattern
    if plan.generalized:  # nodes of one name, and NULL, look the same at several levels
        seen = [{name: by_pattern[0][f"seen_{name}"] for name in _SEEN}]
    smallest = min(row["smallest"] for row in seen)
    if plan.subsets is not None:
        smallest = fewest_alike(db, storage, _columns(plan), plan.subsets, entity=plan.entity is not None)
        _require_fewest(smallest, k, plan.subsets)
    classes, memberships = _total(seen, "classes"), _total(seen, "memberships")
    people = rows if plan.entity is None else count_people(db, storage, on_nodes=on_nodes)
    suppressed = [(row["rows"], _suppressed(plan, row["pattern"])) for row in by_pattern]
    plain = {column for column in columns if plan.hierarchy_of(column) is None}
    stars = [(n, [column.weight for column in hidden if column in plain]) for n, hidden in suppressed]
    plain_cells = sum(n * len(weights) for n, weights in stars)
    weighted, shares, heights = _level_costs(plan, by_pattern[0])
    return Recount(
        rows=rows,
        people=people,
        classes=classes,
        guarded_classes=_total(by_pattern, "classes"),
        smallest_class=smallest,
        average_class=memberships / classes,
        largest_class=max(row["largest"] for row in seen),
        suppressed_cells=sum(n * len(hidden) for n, hidden in suppressed),
        weighted_cost=float(sum(n * sum(weights) for n, weights in stars)) + weighted,
        certainty_penalty=(plain_cells + shares) / (rows * len(columns)),
        generalization_height=(plain_cells + heights) / (rows * len(columns)),
    )


def count_people(db: Database, storage: Identifier, *, on_nodes: bool) -> int:
    """Count the people whose rows a release has."""
    query = "distributed/count_people" if on_nodes else "count_people"
    people: int = db.row(statement(query, storage=storage))["people"]
    return people


_SEEN = ("classes", "memberships", "smallest", "largest")
"""What is counted of classes as readers tell them apart."""


def _counting(
    plan: ReleasePlan, storage: Identifier, nodes: tuple[Identifier, ...], *, on_nodes: bool
) -> Statement:
    """Return the statement that counts classes, and what generalized cells cost."""
    return statement(
        "recount_storage",
        storage=storage,
        generalized=[
            _generalized_parts(plan, column, table)
            for column, table in zip(plan.generalized, nodes, strict=True)
        ],
        entity=plan.entity is not None,
        on_nodes=on_nodes,
        columns=_columns(plan),
    )


def _columns(plan: ReleasePlan) -> list[dict[str, Any]]:
    return [
        {
            "cell": as_seen(plan, c, str(c.output)),
            "alias": c.alias,
            "is_suppressed": plan.suppressed_in("pattern", j),
        }
        for j, c in enumerate(plan.quasi_identifiers)
    ]


def fewest_alike(
    db: Database, storage: Identifier, columns: list[dict[str, Any]], size: int, *, entity: bool
) -> int:
    """Return how many people at least share what a storage shows of `size` columns.

    Parameters
    ----------
    columns : list of dict
        How each quasi-identifier is read, see ``recount/stored_rows``.
    """
    chosen = list(combinations(columns, size))
    found: int = db.row(
        statement(
            "recount_subsets",
            storage=storage, columns=columns, combinations=chosen, entity=entity, on_nodes=False,
        )
    )["smallest"]  # fmt: skip
    return found


def _require_fewest(smallest: int, k: int, size: int) -> None:
    if smallest < k:
        raise VerificationFailed(
            f"The recount found {smallest} people, fewer than {k}, who alone share what is shown of {size} "
            "columns; nothing was published.",
            hint=DEFECT,
        )


def as_seen(plan: ReleasePlan, column: CanonicalColumn, cell: str) -> Fragment:
    """Return what tells published cells of a column apart as readers do: equal ones may look different."""
    generalized = plan.hierarchy_of(column)
    if generalized is not None:
        return generalized.look(cell)
    return Fragment(cell) if column.is_exact and column.facts.base_kind != "e" else column.look(cell)


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
            hint=DEFECT,
        )
    if any(row["leaks"] for row in by_pattern):
        raise VerificationFailed(
            "The recount found values in cells marked as suppressed; nothing was published.",
            hint=DEFECT,
        )


def _total(rows: Sequence[Row], name: str) -> int:
    return sum(int(row[name]) for row in rows)


def _generalized_parts(
    plan: ReleasePlan, generalized: GeneralizedColumn, table: Identifier
) -> dict[str, Any]:
    position = generalized.number - 1
    return {
        "number": generalized.number,
        "cell": generalized.column.alias,
        "table": table,
        "nodes": node_parts(generalized),
        "offset": plan.levels.offsets[position],
        "mask": (1 << plan.levels.widths[position]) - 1,
        "height": generalized.height,
        "lowest": generalized.requested.lowest,
        "null_losses": Fragment(
            f"ARRAY[{', '.join(str(float_literal(loss)) for loss in generalized.null_losses())}]"
        ),
    }


def _level_costs(plan: ReleasePlan, found: Row) -> tuple[float, float, float]:
    """Sum over rows and generalized columns what cells cost, and check that each is what it may be.

    Returns
    -------
    tuple of float
        The requested loss, times the weights of the columns; the share of the hierarchy's values that a node
        stands for, its own apart; the level as a share of the height. The last two are 1 of suppressed cells.

    Raises
    ------
    VerificationFailed
        If a cell is none of its hierarchy at its level, or below the lowest level.
    """
    weighted = shares = heights = 0.0
    for generalized in plan.generalized:
        column, number = generalized.column, generalized.number
        if found[f"strange_{number}"]:
            raise VerificationFailed(
                f"The recount found cells of column {column.output} that their hierarchy "
                "does not have at their level; nothing was published.",
                hint=DEFECT,
            )
        weighted += column.weight * found[f"loss_{number}"]
        shares += found[f"share_{number}"]
        heights += found[f"levels_{number}"] / generalized.height
    return weighted, shares, heights


_TOLERANCE = 2e-9
"""Twice that of the guard: entropies and distances are sums of rounded numbers, added in another order."""


def require_models(
    db: Database, plan: ReleasePlan, storage: Identifier, found: Recount, *, is_whole: bool
) -> None:
    """Measure a filled storage and compare it with the privacy models of its plan.

    Parameters
    ----------
    is_whole : bool
        Whether it holds every row of the base relation. Otherwise its own distribution is not the one
        that t-closeness compares with, and only the guard can check that.

    Raises
    ------
    VerificationFailed
        If a class violates a model.
    """
    classes = [{"column": c.output, "alias": c.alias} for c in plan.quasi_identifiers]
    parts = {
        "relation": storage,
        "columns": classes,
        "keys": Fragment(", ".join([*(str(c.alias) for c in plan.quasi_identifiers), "suppressed"])),
        "suppressed": Identifier.of("kanon_pattern"),
        "many_classes": are_many_classes(found.classes, found.rows),
        "base": plan.base,
    }
    people = None if plan.entity is None else Identifier.of("kanon_person")
    for column in plan.model_columns:
        require_model_figures(db, parts, column, plan.models, people, is_whole=is_whole)


def require_model_figures(
    db: Database,
    parts: Mapping[str, Any],
    column: CanonicalColumn,
    models: PrivacyModels,
    people: Identifier | None,
    *,
    is_whole: bool,
) -> None:
    """Measure a sensitive column in rows, which readers can count, and in people if these differ.

    Parameters
    ----------
    parts : mapping
        What ``measure_sensitive`` takes of its classes, and the base relation as ``base``.
    people : Identifier or None
        The column that says whose rows they are, if people have several.

    Raises
    ------
    VerificationFailed
        If a class violates a model.
    """
    same_value = equality(db, parts["base"], column.facts, "cell.value", "domain.value")
    ordered = any(rule.needs_order for rule, _ in MEASURED.of(models))
    for entity in (None,) if people is None else (None, people):
        figures = db.row(
            statement(
                "measure_sensitive", **parts, sensitive=column.output, ordered=ordered,
                same_value=same_value, people_once=True, on_nodes=False, entity=entity,
            )
        )  # fmt: skip
        if any(_violated(models, figures, is_whole=is_whole)):
            raise VerificationFailed(
                f"The recount found a class that violates a privacy model in column {column.output}; "
                "nothing was published.",
                hint=DEFECT,
            )


class _Measured(NamedTuple):
    """Which figure of ``kanon_measure`` tells whether a model is violated."""

    figure: str
    is_violated: Callable[[float, float], bool]
    """Gets the figure and the number that was asked for."""
    of_whole: bool = False
    """Whether it compares with the whole table, so that a part of it tells nothing."""
    needs_order: bool = False
    """Whether the figure is measured for ordered values alone."""


MEASURED = ModelRules(
    "the recount of a release",
    {
        "distinct": _Measured("distinct_l", lambda found, number: found < number),
        "frequency": _Measured("frequency_l", lambda found, number: found < number),
        "entropy": _Measured(
            "entropy_l", lambda found, number: math.log(found) < math.log(number) - _TOLERANCE
        ),
        "equal": _Measured("t_equal", lambda found, number: found > number + _TOLERANCE, of_whole=True),
        "ordered": _Measured(
            "t_ordered", lambda found, number: found > number + _TOLERANCE, of_whole=True, needs_order=True
        ),
    },
)


def _violated(models: PrivacyModels, figures: Row, *, is_whole: bool) -> Iterator[bool]:
    for rule, number in MEASURED.of(models):
        if is_whole or not rule.of_whole:
            yield rule.is_violated(figures[rule.figure], number)


_ROUNDING = 1e-9
"""Sums of the same losses in another order differ by less."""


def is_what_was_solved(
    db: Database,
    plan: ReleasePlan,
    counted: Counted,
    outcome: SolveOutcome,
    found: Recount,
    *,
    on_nodes: bool = False,
) -> bool:
    """Whether the release holds exactly the rows that were solved for.

    The base relation may have changed since it was counted, unless the transaction sees one state of it
    throughout. Then the release is as safe as any refresh, but the solver's bound applies to other rows.

    Parameters
    ----------
    on_nodes : bool
        Whether the rows are on nodes of Citus, whose transactions do not share a state.

    Raises
    ------
    VerificationFailed
        If it holds these rows, but other cells or classes than the solver promised.
    """
    if on_nodes or db.row(statement("sees_changes"))["sees_changes"]:
        with reading(db, plan.base):
            now = fingerprint(
                db,
                plan.base.source,
                plan.quasi_identifiers,
                plan.entity,
                sensitive=plan.model_columns,
            )
        if now != (counted.rows, counted.fingerprint):
            db.notice(
                "The table changed during the call: the release is safe, but no bound is claimed for it."
            )
            return False
    same_cost = not plan.generalized or math.isclose(
        found.weighted_cost, outcome.weighted_cost, rel_tol=_ROUNDING, abs_tol=_ROUNDING
    )
    if same_cost and (counted.rows, outcome.suppressed_cells, outcome.classes) == (
        found.rows,
        found.suppressed_cells,
        found.guarded_classes,
    ):
        return True
    raise VerificationFailed(
        "The independent recount does not find the rows, cells and classes that the solver promised; "
        "nothing was published.",
        detail=f"Rows {found.rows} of {counted.rows}, suppressed cells {found.suppressed_cells} of "
        f"{outcome.suppressed_cells}, classes {found.guarded_classes} of {outcome.classes}, cost "
        f"{found.weighted_cost:g} of {outcome.weighted_cost:g}.",
        hint=DEFECT,
    )
