"""How much a release keeps of its table, as the record has it."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.core.request import SolveOutcome
from kanon_pg.release.recount import Recount


@dataclass(frozen=True, slots=True)
class ReleaseUtility:
    """Losses of a release when it was published; see `kanon_pg.measure.measures.Measures`.

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
