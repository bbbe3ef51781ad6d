"""Whether a release holds what was solved: only then the solver's proofs speak of it."""

from __future__ import annotations

import math

from kanon_pg.core.request import SolveOutcome
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import VerificationFailed
from kanon_pg.release.counting import Counted, fingerprint
from kanon_pg.release.plan import ReleasePlan
from kanon_pg.release.recount import Recount

_ROUNDING = 1e-9
"""Sums of the same losses in another order differ by less."""


def is_what_was_solved(
    db: Database,
    plan: ReleasePlan,
    counted: Counted,
    outcome: SolveOutcome,
    found: Recount,
    *,
    hash_seed: int,
) -> bool:
    """Whether the release holds exactly the rows that were solved for.

    The base relation may have changed since it was counted, unless the transaction sees one state of it
    throughout. Then the release is as safe as any refresh, but the solver's bound speaks of other rows.

    Parameters
    ----------
    db : Database
        Acts with the rights of the owner role.
    plan, counted, outcome, found
        What the steps of the release gave.
    hash_seed : int
        As in `kanon_pg.release.counting.count_row_types`.

    Raises
    ------
    VerificationFailed
        If it holds these rows, but other cells or classes than the solver promised.
    """
    if db.row(statement("sees_changes"))["sees_changes"]:
        now = fingerprint(
            db,
            plan.base.identifier,
            plan.quasi_identifiers,
            plan.entity,
            sensitive=plan.judged,
            hash_seed=hash_seed,
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
        hint="This is a defect: please report it.",
    )
