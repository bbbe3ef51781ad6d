"""Who enters a release over time: rows of each origin are anonymized by themselves, as any release.

The costliest classes of a solved batch may wait for a later version, although k people could enter. Whoever
enters does so in classes of k people: who waits changes how much is lost, but nothing of what is promised.
"""

from __future__ import annotations

from dataclasses import replace

from kanon_pg.core.solving import SolveOutcome
from kanon_pg.db.catalog import describe
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.readers import gather_statistics
from kanon_pg.db.statements import statement
from kanon_pg.errors import InfeasibleError
from kanon_pg.relations.counting import Counted
from kanon_pg.release.plan.base import OWNER
from kanon_pg.release.plan.generalized import float_literal
from kanon_pg.release.plan.planning import ReleasePlan
from kanon_pg.release.publish.building import store_solution
from kanon_pg.release.publish.node_tables import Hierarchies, packed_hierarchies
from kanon_pg.release.publish.solving import PublishingCall
from kanon_pg.release.publish.storage import (
    StorageNames,
)
from kanon_pg.release.publish.view import drop_storage
from kanon_pg.release.series.building import Version, contradiction
from kanon_pg.release.series.leaving import one_row_each

FRESH = 0
"""Origin of rows that were never published."""


def list_pending(version: Version) -> None:
    """Record which rows wait, since when, and with whom they may enter."""
    arrivals = version.scratch("arrivals")
    version.run(
        "create_arrivals",
        arrivals=arrivals,
        changes=version.scratch("changes"),
        version=version.number,
        keep=version.rules.updates == "keep",
        unknown=[
            {
                "column": generalized.column.output,
                "table": table,
                "known": generalized.known,
                "knows": generalized.knows(f"g.{generalized.column.output}"),
            }
            for generalized, table in zip(version.plan.generalized, version.nodes, strict=True)
        ],
    )
    version.run("empty_pending")
    with one_row_each():
        version.run("fill_pending", arrivals=arrivals)
    version.drop("arrivals")


def let_enter(version: Version, work: PublishingCall) -> None:
    """Let the rows of each origin enter of which there are enough people, one origin after the other."""
    db, k = version.db, version.k
    hierarchies = packed_hierarchies(db, version.plan, version.nodes)
    tried: set[int] = set()
    cohorts_ever = version.series.cohorts_ever
    while True:
        found = [row for row in version.find("list_origins", k=k) if row["origin"] not in tried]
        if not found:
            return
        origin, returns = found[0]["origin"], found[0]["returns"]
        tried.add(origin)
        entering = version.scratch("entering")
        version.db.execute(
            statement(
                "series/create_entering",
                entering=entering,
                source=version.scratch("changes"),
                columns=own_columns(version.plan),
                pending=version.names.pending,
                origin=origin,
            )
        )
        gather_statistics(db, entering)
        if not tried - {origin}:
            work.compile()
        try:
            enter(
                version,
                work,
                entering,
                hierarchies,
                cohorts_ever=cohorts_ever,
                may_wait=origin == FRESH and version.rules.waiting > 0,
            )
        except InfeasibleError:
            # A privacy model may need more people than k; these wait for them.
            version.drop("entering")
            continue
        cohorts_ever = max(cohorts_ever, version.find("highest_cohort")[0]["highest"])
        if returns == "person":
            version.run("split_departed", origin, version.number)
        version.run("delete_returned")
        version.run("delete_entered")


def enter(
    version: Version,
    work: PublishingCall,
    entering: Identifier,
    hierarchies: Hierarchies,
    *,
    cohorts_ever: int | None,
    may_wait: bool = False,
) -> tuple[Counted, SolveOutcome]:
    """Anonymize rows by themselves, as any release, and make a cohort of each class.

    Parameters
    ----------
    cohorts_ever : int or None
        Highest number of a cohort so far; None if there are no members yet.
    may_wait : bool
        Whether some may wait for a later version: not people who return, whose absence would tell them apart.
    """
    db = version.db
    most_waiting = _room_to_wait(version) if may_wait else 0
    facts = describe(db, str(entering), OWNER)
    own = tuple(facts.column(name) for name in ("kanon_row", "kanon_fingerprint"))
    plan = replace(version.plan, base=facts, insensitive=version.plan.insensitive + own)
    names = StorageNames(
        storage=version.scratch("batch"),
        mapping=version.scratch("mapping"),
        parts=version.scratch("parts"),
        nodes=version.nodes,
    )
    stored = store_solution(replace(work, plan=plan), names, hierarchies)
    if not stored.certified:
        raise contradiction("rows that entered")
    waits = version.scratch("waits") if most_waiting else None
    if waits is not None:
        _let_classes_wait(version, names.storage, waits, most=most_waiting)
    _store_members(version, names.storage, cohorts_ever, waits)
    if waits is not None:
        version.drop("waits")
    drop_storage(version.db, names.storage)
    version.drop("mapping", "entering", *(("parts",) if stored.names.parts else ()))
    return stored.counted, stored.outcome


def _store_members(
    version: Version, storage: Identifier, cohorts_ever: int | None, waits: Identifier | None
) -> None:
    parts = version.class_parts(storage) | {
        "cohorts_ever": cohorts_ever or 0,
        "cells": version.cells(),
        "waits": waits,
    }
    if cohorts_ever is None:
        version.run("create_members", **parts)
    with one_row_each():
        if cohorts_ever is None:
            version.run("index_members")
            version.run("index_left")
        else:
            version.run("insert_members", **parts)
    if cohorts_ever is None:
        gather_statistics(version.db, version.names.members)
    version.run("insert_cohorts", version.number, cohorts_ever or 0)


def own_columns(plan: ReleasePlan) -> list[Identifier]:
    """Return the columns of the base relation among those of the view of identities."""
    return [column.identifier for column in plan.base.columns if not column.name.startswith("kanon_")]


def _room_to_wait(version: Version) -> int:
    """Return how many of the people who were never published may wait."""
    most: int = version.find(
        "room_to_wait",
        share=float_literal(version.rules.waiting),
        origin=FRESH,
        release=Literal(version.plan.name),
    )[0]["most"]
    return max(0, most)


def _let_classes_wait(version: Version, storage: Identifier, waits: Identifier, *, most: int) -> None:
    """Let the costliest classes of a solved batch wait: any may, since each is a cohort by itself."""
    plan = version.plan
    fields = plan.levels
    places = zip(plan.quasi_identifiers, fields.offsets, fields.widths, fields.heights, strict=True)
    losses = [
        Fragment(
            f"{column.weight!r}::double precision * ((s.kanon_pattern >> {offset}) & {(1 << width) - 1})"
            f" / {height}"
        )
        for column, offset, width, height in places
    ]
    version.run(
        "create_waits",
        waits=waits,
        losses=losses,
        most=most,
        longest_wait=version.rules.longest_wait,
        version=version.number,
        release=Literal(plan.name),
        **version.class_parts(storage),
    )
