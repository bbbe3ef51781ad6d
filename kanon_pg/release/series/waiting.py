"""Who of a batch waits for a later version of a release over time, although k people could enter.

Where method ``auto`` solves the batch, waiting is weighed before, against whom a row would meet later. Else
the costliest classes of the solved batch wait. Either way whoever enters does so in classes of k people: who
waits changes how much is lost, but nothing of what is promised.
"""

from __future__ import annotations

from contextlib import suppress

from kanon_pg.core.waiting import FUTURES, Waiting, WaitingTask
from kanon_pg.db.catalog import describe
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import PackedColumn
from kanon_pg.db.statements import statement
from kanon_pg.errors import MemoryExceeded
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.relations.counting import HASH_SEED, count_row_types
from kanon_pg.release.base import OWNER
from kanon_pg.release.generalized import float_literal
from kanon_pg.release.series.building import Version
from kanon_pg.release.solving import PublishingCall
from kanon_pg.runner.parent import choose_in_worker, compile_once
from kanon_pg.runner.session import Caller

FRESH = 0
"""Origin of rows that were never published."""

SHARE_OF_TIME = 0.1
"""Share of the time limit for choosing."""

_MOST_COLUMNS = 16
"""Most quasi-identifiers of which all patterns are looked at."""


def most_who_may_wait(version: Version) -> tuple[int, int]:
    """Return how many of the people who were never published may wait, and how many rows just came."""
    found = version.find(
        "room_to_wait",
        share=float_literal(version.rules.waiting),
        origin=FRESH,
        version=version.number,
        release=Literal(version.plan.name),
    )[0]
    return max(0, found["most"]), found["coming"]


def choose_waiting(
    version: Version, work: PublishingCall, entering: Identifier, *, most: int, coming: int
) -> bool:
    """Take the rows that should wait out of those that enter.

    Parameters
    ----------
    entering : Identifier
        Table of the rows.
    most, coming : int
        See `most_who_may_wait`.

    Returns
    -------
    bool
        Whether it was chosen who waits: it is not with privacy models, hierarchies or an entity, and where
        too many or too few rows came.
    """
    if not _can_choose(version, work) or most < 1 or coming < version.k:
        return False
    compile_once(version.db, work.memory, "waiting")
    version.db.progress("choosing who waits")
    lookahead = version.scratch("lookahead")
    columns = version.plan.quasi_identifiers
    version.run(
        "create_lookahead",
        lookahead=lookahead,
        entering=entering,
        columns=[column.output for column in columns],
        version=version.number,
        most=FUTURES * coming,
    )
    version.db.execute(statement("analyze", relation=lookahead))
    waiting = None
    with suppress(MemoryExceeded):
        waiting = _chosen(version, work, lookahead, most)
    if waiting is not None:
        chosen = version.scratch("chosen")
        version.run("create_chosen", chosen=chosen)
        version.db.load(chosen, [PackedColumn("row_type", waiting.keys), PackedColumn("n", waiting.rows)])
        version.run(
            "remove_chosen",
            entering=entering,
            lookahead=lookahead,
            chosen=chosen,
            columns=[
                {"expression": c.expression, "alias": c.alias, "hashed": c.hashed("types")}
                for c in _with_waiting(version, lookahead)
            ],
            hash_seed=HASH_SEED,
            longest_wait=version.rules.longest_wait,
            most=most,
        )
        version.drop("chosen")
    version.drop("lookahead")
    return waiting is not None


def _can_choose(version: Version, work: PublishingCall) -> bool:
    plan, request = version.plan, work.request
    return (
        request.method == "auto"
        and plan.entity is None
        and not plan.generalized
        and not plan.models
        and request.fewest_classes is None
        and request.most_classes is None
        and len(plan.quasi_identifiers) <= _MOST_COLUMNS
    )


def _with_waiting(version: Version, lookahead: Identifier) -> tuple[CanonicalColumn, ...]:
    """Return the quasi-identifiers, and the versions for which a row has waited."""
    facts = describe(version.db, str(lookahead), OWNER).column("kanon_waited")
    return (*version.plan.quasi_identifiers, CanonicalColumn(facts, Identifier.of("waited")))


def _chosen(version: Version, work: PublishingCall, lookahead: Identifier, most: int) -> Waiting | None:
    db, request = version.db, work.request
    columns = _with_waiting(version, lookahead)
    counted = count_row_types(db, lookahead, columns, None, memory_bytes=work.memory)
    task = WaitingTask(
        k=version.k,
        most=most,
        longest=version.rules.longest_wait,
        patterns=request.patterns,
        seed=request.seed,
        seconds=SHARE_OF_TIME * request.time_limit,
    )
    return choose_in_worker(counted.row_types, task, Caller.of(db, work.memory))


def let_classes_wait(version: Version, storage: Identifier, waits: Identifier, *, most: int) -> None:
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
