"""The report of a release: what was published, how much it keeps of its table, what is proven about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kanon_pg.core.generalization import LevelFields
from kanon_pg.core.shown import Shown
from kanon_pg.core.solving import SolveOutcome, gap_of
from kanon_pg.core.termination import Termination
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.relations.counting import Counted
from kanon_pg.release.plan.planning import ReleasePlan, suppressed_in
from kanon_pg.release.plan.record import ReleaseRecord, change_release, insert_release
from kanon_pg.release.plan.request import AnonymizeRequest, recorded_arguments
from kanon_pg.release.publish.recount import Recount, count_people, fewest_alike
from kanon_pg.release.publish.storage import StorageNames


@dataclass(frozen=True, slots=True)
class ReleaseReport(Shown):
    """One row of SQL type ``kanon.release_report``."""

    release: str
    """The view's qualified name."""
    k: int
    """Fewest people per class, as requested."""
    rows: int
    people: int
    """`rows`, `people`: published rows and distinct people."""
    row_types: int
    """Distinct quasi-identifier tuples of the base relation."""
    classes: int
    smallest_class: int
    average_class: float
    """Mean people per class."""
    largest_class: int
    """`classes`, `smallest_class`, `largest_class`: equivalence classes, recounted on the release; sizes
    in people. With subsets `smallest_class` is the fewest people who share what is shown of so many
    columns."""
    suppressed_cells: int
    """Suppressed cells, recounted."""
    suppressed_share: float
    """Their share of all quasi-identifier cells, 0 to 1."""
    weighted_cost: float
    """Suppressed cells times the weights of their columns, and generalized ones times their loss."""
    lower_bound: float | None
    """What every solution costs at least, proven; None if nothing is proven."""
    gap: float | None
    """(weighted_cost - lower_bound) / weighted_cost, 0 to 1."""
    optimal: bool
    """Whether no solution is cheaper, proven."""
    method: str
    bound_method: str | None
    """`method`, `bound_method`: what found the solution and what proved the bound."""
    usefulness: float | None
    """Mean tuple diversity of the classes, smaller is better."""
    elapsed: float
    """Seconds of the whole call."""
    termination: Termination
    """How the search ended."""


def make_report(
    plan: ReleasePlan,
    counted: Counted,
    outcome: SolveOutcome,
    found: Recount,
    *,
    k: int,
    certified: bool,
) -> ReleaseReport:
    """Put a report together, but for the time taken; figures come from the recount, proofs from the solver.

    Parameters
    ----------
    certified : bool
        Whether the release holds exactly the rows that were solved for; without it the solver's
        bound applies to other rows and is left out.
    """
    cost = found.weighted_cost
    bound = outcome.lower_bound if certified else None
    if bound is not None and plan.generalized:
        # Losses are no whole numbers: their sum in another order may be less by a rounding.
        bound = min(bound, cost)
    return ReleaseReport(
        release=str(plan.view),
        k=k,
        row_types=counted.tuples,
        **recounted(plan, found),
        weighted_cost=cost,
        lower_bound=bound,
        gap=gap_of(cost, bound),
        optimal=outcome.optimal and certified,
        method=outcome.method,
        bound_method=outcome.bound_method if certified else "none: the table changed during the call",
        usefulness=outcome.usefulness if certified else None,
        elapsed=0.0,
        termination=_termination(outcome, certified=certified),
    )


def losses_of(outcome: SolveOutcome, found: Recount, *, certified: bool) -> dict[str, float | None]:
    """Return what a release loses, see `kanon_pg.measures.Measures`; some are of the solved rows alone."""
    return {
        "certainty_penalty": found.certainty_penalty,
        "generalization_height": found.generalization_height,
        "entropy_loss": outcome.entropy_loss if certified else None,
        "marginal_divergence": outcome.marginal_divergence if certified else None,
    }


def recounted(plan: ReleasePlan, found: Recount) -> dict[str, Any]:
    """Return the figures of a report that a recount gives."""
    cells = found.rows * len(plan.quasi_identifiers)
    return {
        "rows": found.rows,
        "people": found.people,
        "classes": found.classes,
        "smallest_class": found.smallest_class,
        "average_class": found.average_class,
        "largest_class": found.largest_class,
        "suppressed_cells": found.suppressed_cells,
        "suppressed_share": found.suppressed_cells / max(1, cells),
    }


def _termination(outcome: SolveOutcome, *, certified: bool) -> Termination:
    """Return how the search ended; what was proven of other rows is not said of the published ones."""
    is_proof = outcome.termination in (Termination.OPTIMAL, Termination.GOAL)
    return Termination.EXHAUSTED if is_proof and not certified else outcome.termination


def store_release(
    db: Database,
    plan: ReleasePlan,
    request: AnonymizeRequest,
    report: ReleaseReport,
    losses: Mapping[str, float | None],
    names: StorageNames,
    *,
    role: str,
    changes: int | None,
) -> None:
    """Record a release.

    Parameters
    ----------
    changes : int or None
        See `kanon_pg.release.plan.record.base_changes`, from before its rows were read.
    """
    figures = asdict(report)
    del figures["release"]
    insert_release(
        db,
        {**figures, **losses, **_relations(names)}
        | {
            "name": plan.name,
            "relation": str(plan.base.oid),
            "parameters": recorded_arguments(request) | _weights(plan),
            "quasi_identifiers": [column.facts.name for column in plan.quasi_identifiers],
            "sensitive": [column.name for column in plan.sensitive],
            "insensitive": [c.name for c in plan.insensitive if c.name not in plan.pseudonyms],
            "entity": None if plan.entity is None else plan.entity.facts.name,
            "generalized": [column.column.facts.name for column in plan.generalized],
            "elapsed": f"{report.elapsed} seconds",
            "base_changes_at_publish": changes,
            "published_by": role,
            "people_view": None if plan.people is None else str(plan.people.view),
            "secret": plan.secret,
        },
    )


def _weights(plan: ReleasePlan) -> dict[str, Any]:
    """Return the weights of the figures of linked tables, which no declaration has."""
    figures = () if plan.people is None else plan.people.figures
    weights = {c.facts.name: c.weight for c in plan.quasi_identifiers if c.facts.name in figures}
    return {"weights": weights} if weights else {}


def _relations(names: StorageNames) -> dict[str, Any]:
    single = {"storage": names.storage, "mapping": names.mapping, "parts": names.parts}
    single |= {"unknown": names.unknown, "source": names.source}
    texts = {kind: None if name is None else str(name) for kind, name in single.items()}
    return texts | {"nodes": [str(table) for table in names.nodes]}


def record_refresh(db: Database, record: ReleaseRecord, storage: Identifier) -> None:
    """Count a refreshed release and put the figures in the place of those before.

    What was proven applies to the table as it was published, and stays as it is.
    """
    fields, on_nodes, entity = _fields(db, record), record.on_nodes, record.entity is not None
    columns = [
        {
            "cell": Identifier.of(name),
            "alias": Identifier.of(f"q{place}"),
            "is_suppressed": suppressed_in(fields, "pattern", place),
        }
        for place, name in enumerate(record.quasi_identifiers)
    ]
    seen = db.row(
        statement(
            "recount_seen",
            storage=storage,
            generalized=(),
            entity=entity,
            on_nodes=on_nodes,
            columns=columns,
        )
    )
    smallest = int(seen["smallest"])
    if record.subsets is not None:
        smallest = fewest_alike(db, storage, columns, record.subsets, entity=entity)
    rows, cells = int(seen["rows"]), int(seen["suppressed"])
    figures = {
        "rows": rows,
        "people": rows if record.entity is None else count_people(db, storage, on_nodes=on_nodes),
        "classes": int(seen["classes"]),
        "smallest_class": smallest,
        "average_class": int(seen["memberships"]) / max(1, int(seen["classes"])),
        "largest_class": int(seen["largest"]),
        "suppressed_cells": cells,
        "suppressed_share": cells / max(1, rows * len(record.quasi_identifiers)),
    }
    change_release(db, record.name, figures | {"storage": str(storage)})


def _fields(db: Database, record: ReleaseRecord) -> LevelFields:
    """Return where the levels of a release's columns stand, from its own copies of their hierarchies."""
    if not record.generalized:
        return LevelFields((1,) * len(record.quasi_identifiers))
    rows = db.rows(statement("fetch_heights"), record.name)
    heights = dict(zip(record.generalized, (one["height"] for one in rows), strict=True))
    return LevelFields(tuple(heights.get(name, 1) for name in record.quasi_identifiers))
