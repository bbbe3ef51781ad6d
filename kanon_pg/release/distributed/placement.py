"""Decides which releases are stored on all nodes."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_pg.db.citus import Distribution, distribution_of
from kanon_pg.db.protocol import Database
from kanon_pg.release.plan import ReleasePlan

SCHEMA = "kanon_shards"
"""Schema of what is stored on all nodes; nobody but the owner role may use it."""


@dataclass(frozen=True, slots=True)
class Shards:
    """How the storage of a release is distributed.

    Parameters
    ----------
    distribution : Distribution
        That of the base table.
    by_person : bool
        Whether rows move to the shards of their people, because the base table is distributed by something
        else. Otherwise each row stays on its node.
    """

    distribution: Distribution
    by_person: bool


def shards_of(db: Database, plan: ReleasePlan, *, remembers: bool = False) -> Shards | None:
    """Return how a release is stored on all nodes; None if the coordinator stores it, said why if that costs.

    Parameters
    ----------
    plan : ReleasePlan
        What is published.
    remembers : bool
        Whether versions are kept to compare later ones with.
    """
    distribution = distribution_of(db, plan.base.identifier)
    if distribution is None:
        return None
    reason = "its versions are remembered." if remembers else _needs_one_place(plan)
    if reason is not None:
        db.notice(
            f"All rows of {plan.base.identifier} travel to the coordinator, which stores the release: "
            f"{reason}"
        )
        return None
    entity = plan.entity
    return Shards(distribution, by_person=entity is not None and entity.facts.name != distribution.column)


def _needs_one_place(plan: ReleasePlan) -> str | None:
    if plan.models:
        return "privacy models (l, p, t) compare classes with all rows."
    if plan.generalized:
        return "it has hierarchies."
    people = () if plan.entity is None else (plan.entity,)
    for column in (*plan.quasi_identifiers, *people):
        if column.is_spelled_by_others:
            return (
                f"one value of column {column.output} of type {column.facts.type} may have several "
                "spellings, and all rows say which is taken. Another type, for example text, avoids that."
            )
    return None
