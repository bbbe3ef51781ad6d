"""The notice that much of a release is suppressed: what may be the reason, and what would keep more."""

from __future__ import annotations

from collections.abc import Iterator

from kanon_pg.core.privacy_models import MODEL_PARAMETERS
from kanon_pg.db.protocol import Database
from kanon_pg.release.plan.planning import ReleasePlan
from kanon_pg.release.plan.request import AnonymizeRequest
from kanon_pg.release.publish.report import ReleaseReport

_MUCH = 1 / 3
"""Share of the cells."""

_LEAST = 2
"""Least value of k."""


def notice_much_suppressed(
    db: Database, request: AnonymizeRequest, plan: ReleasePlan, report: ReleaseReport
) -> None:
    """Say why much of a release may be suppressed, if it is."""
    if report.suppressed_share < _MUCH:
        return
    found = [*_demands(request, plan)]
    if not found or report.people < request.k * report.row_types:
        found.append(_few_people(request, plan, report))
    lead = "The reason" if len(found) == 1 else "What may be the reason"
    db.notice(
        f"{report.suppressed_share:.0%} of the cells of {plan.view} are suppressed. {lead}: "
        f"{'; '.join(found)}."
    )


def _demands(request: AnonymizeRequest, plan: ReleasePlan) -> Iterator[str]:
    """Yield what the call asks for besides k, each with what would ask for less."""
    if request.patterns is not None:
        yield "patterns lets only some columns be suppressed together (allow more, or leave it out)"
    for name in MODEL_PARAMETERS:
        value = getattr(request, name)
        if value is not None:
            columns = f"{len(plan.sensitive)} sensitive column{'s' if len(plan.sensitive) > 1 else ''}"
            yield f"{name} = {value:g} is asked for in {columns} ({_weaker(name, value)})"
    if request.most_classes is not None:
        yield f"no more classes than {request.most_classes} are allowed (allow more)"
    if request.method == "full_domain":
        yield "method full_domain suppresses whole columns (take auto)"


def _weaker(name: str, value: float) -> str:
    weakest = MODEL_PARAMETERS[name].weakest
    if weakest is None:
        return f"choose a larger {name}"
    return f"choose a smaller {name}" if value > weakest else f"leave {name} out"


def _few_people(request: AnonymizeRequest, plan: ReleasePlan, report: ReleaseReport) -> str:
    """Return how many combinations there are for so few people, and what makes them fewer."""
    changes = [] if len(plan.quasi_identifiers) == 1 else ["name fewer of them"]
    if len(plan.generalized) < len(plan.quasi_identifiers):
        changes.append("generalize them with hierarchies")
    if request.k > _LEAST:
        changes.append("choose a smaller k")
    advice = "kanon_curve shows what each k costs, kanon_audit which columns are to blame"
    return (
        f"the quasi-identifiers have {report.row_types} combinations for {report.people} people, and k is "
        f"{request.k} ({'; '.join(filter(None, (', or '.join(changes), advice)))})"
    )
