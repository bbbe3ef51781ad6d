"""The report of a release: what was published, how much it keeps of its table, what is proven about it."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.core.solving import SolveOutcome, gap_of
from kanon_pg.core.termination import Termination
from kanon_pg.relations.counting import Counted
from kanon_pg.release.plan import ReleasePlan
from kanon_pg.release.recount import Recount


@dataclass(frozen=True, slots=True)
class ReleaseUtility:
    """Losses of a release when it was published; see `kanon_pg.measures.Measures`.

    Parameters
    ----------
    certainty_penalty, generalization_height : float
        Recounted on the release, 0 to 1.
    entropy_loss, marginal_divergence : float or None
        Computed with the table; None if the release does not hold exactly the rows that were solved for.
    """

    certainty_penalty: float
    generalization_height: float
    entropy_loss: float | None
    marginal_divergence: float | None


def release_utility(outcome: SolveOutcome, found: Recount, *, certified: bool) -> ReleaseUtility:
    """Put the figures of recount and solver together."""
    return ReleaseUtility(
        certainty_penalty=found.certainty_penalty,
        generalization_height=found.generalization_height,
        entropy_loss=outcome.entropy_loss if certified else None,
        marginal_divergence=outcome.marginal_divergence if certified else None,
    )


@dataclass(frozen=True, slots=True)
class ReleaseReport:
    """One row of SQL type ``kanon.release_report``.

    Parameters
    ----------
    release : str
        The view's qualified name.
    k : int
        Fewest people per class, as requested.
    rows, people : int
        Published rows and distinct people.
    row_types : int
        Distinct quasi-identifier tuples of the base relation.
    classes, smallest_class, largest_class : int
        Equivalence classes, recounted on the release; sizes in people.
    average_class : float
        Mean people per class.
    suppressed_cells : int
        Suppressed cells, recounted.
    suppressed_share : float
        Their share of all quasi-identifier cells, 0 to 1.
    weighted_cost : float
        Suppressed cells times the weights of their columns, and generalized ones times their loss.
    lower_bound : float or None
        What every solution costs at least, proven; None if nothing is proven.
    gap : float or None
        (weighted_cost - lower_bound) / weighted_cost, 0 to 1.
    optimal : bool
        Whether no solution is cheaper, proven.
    method, bound_method : str
        What found the solution and what proved the bound.
    usefulness : float or None
        Mean tuple diversity of the classes, smaller is better.
    elapsed : float
        Seconds of the whole call.
    termination : Termination
        How the search ended.
    """

    release: str
    k: int
    rows: int
    people: int
    row_types: int
    classes: int
    smallest_class: int
    average_class: float
    largest_class: int
    suppressed_cells: int
    suppressed_share: float
    weighted_cost: float
    lower_bound: float | None
    gap: float | None
    optimal: bool
    method: str
    bound_method: str | None
    usefulness: float | None
    elapsed: float
    termination: Termination


def make_report(
    plan: ReleasePlan,
    counted: Counted,
    outcome: SolveOutcome,
    found: Recount,
    *,
    k: int,
    elapsed: float,
    certified: bool,
) -> ReleaseReport:
    """Put a report together; figures come from the recount, proofs from the solver.

    Parameters
    ----------
    plan, counted, outcome, found
        What the steps of the release gave.
    k : int
        Fewest people per class.
    elapsed : float
        Seconds.
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
        rows=found.rows,
        people=found.people,
        row_types=counted.tuples,
        classes=found.classes,
        smallest_class=found.smallest_class,
        average_class=found.average_class,
        largest_class=found.largest_class,
        suppressed_cells=found.suppressed_cells,
        suppressed_share=found.suppressed_cells / (found.rows * len(plan.quasi_identifiers)),
        weighted_cost=cost,
        lower_bound=bound,
        gap=gap_of(cost, bound),
        optimal=outcome.optimal and certified,
        method=outcome.method,
        bound_method=outcome.bound_method if certified else "none: the table changed during the call",
        usefulness=outcome.usefulness if certified else None,
        elapsed=elapsed,
        termination=_termination(outcome, certified=certified),
    )


def _termination(outcome: SolveOutcome, *, certified: bool) -> Termination:
    """Return how the search ended; what was proven of other rows is not said of the published ones."""
    is_proof = outcome.termination in (Termination.OPTIMAL, Termination.GOAL)
    return Termination.EXHAUSTED if is_proof and not certified else outcome.termination
