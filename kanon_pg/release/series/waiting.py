"""Who of a batch waits for a later version of a release over time, although k people could enter.

Where method ``auto`` solves the batch, waiting is weighed before, against whom a row would meet later. Else
the costliest classes of the solved batch wait. Either way whoever enters does so in classes of k people: who
waits changes how much is lost, but nothing of what is promised.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace

from kanon_pg.core.waiting import FUTURES, Waiting, WaitingTask
from kanon_pg.db.catalog import describe
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import PackedColumn
from kanon_pg.db.readers import gather_statistics
from kanon_pg.errors import DEFECT, MemoryExceeded, VerificationFailed
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

_SHARE_OF_TIME = 0.1
"""Largest share of the time limit for choosing."""

_LEAST_SECONDS = 0.001
"""What is left of the time limit at least."""

_LARGEST_K = 10
"""Largest k with which it is chosen who waits.

On Adult (12 batches, 3 % waiting) the chosen ones lost 0.5 % less than the costliest classes with this k, and
0.3 % more with k = 25: larger classes take more steps.
"""

_MOST_TRIALS = 1 << 25
"""Rows of the present and the futures times patterns: more do not fit into the graph of who fits where."""

_TRIALS_PER_SECOND, _ROWS_PER_SECOND = 3_500_000, 50_000
"""Such trials and rows for each second of choosing: of more, the graph alone takes half of the time, and too
few steps are left for each row."""


@dataclass(frozen=True, slots=True)
class _Room:
    """How many of the people who were never published may wait, and of how many rows they are.

    Parameters
    ----------
    most : int
        People who may wait.
    entering, coming : int
        Rows that may enter, and those of them that came just now.
    """

    most: int
    entering: int
    coming: int


def let_chosen_wait(
    version: Version, work: PublishingCall, entering: Identifier
) -> tuple[PublishingCall, int]:
    """Take the rows that should wait out of those that enter, if they can be chosen before these are solved.

    Parameters
    ----------
    entering : Identifier
        Table of rows that were never published.

    Returns
    -------
    work : PublishingCall
        With the time that is left.
    most : int
        People who may still wait: none if it was chosen who does.

    Raises
    ------
    VerificationFailed
        Other rows were found than were chosen.
    """
    room = _room(version)
    if not _can_choose(version, work, room):
        return work, room.most
    compile_once(version.db, work.memory, "waiting")
    version.db.progress("choosing who waits")
    lookahead = version.scratch("lookahead")
    version.run(
        "create_lookahead",
        lookahead=lookahead,
        entering=entering,
        columns=[column.output for column in version.plan.quasi_identifiers],
        version=version.number,
        most=FUTURES * room.coming,
    )
    gather_statistics(version.db, lookahead)
    waited = describe(version.db, str(lookahead), OWNER).column("kanon_waited")
    columns = (*version.plan.quasi_identifiers, CanonicalColumn(waited, Identifier.of("waited")))
    began = time.monotonic()
    chosen = None
    with suppress(MemoryExceeded):
        chosen = _choose(version, work, lookahead, columns, room.most)
    left = max(_LEAST_SECONDS, work.request.time_limit - (time.monotonic() - began))
    if chosen is not None:
        _remove(version, entering, lookahead, columns, chosen)
    version.drop("lookahead")
    work = replace(work, request=replace(work.request, time_limit=left))
    return work, room.most if chosen is None else 0


def _room(version: Version) -> _Room:
    found = version.find(
        "room_to_wait",
        share=float_literal(version.rules.waiting),
        origin=FRESH,
        version=version.number,
        release=Literal(version.plan.name),
    )[0]
    return _Room(max(0, found["most"]), found["entering"], found["coming"])


def _can_choose(version: Version, work: PublishingCall, room: _Room) -> bool:
    plan, request = version.plan, work.request
    rows = room.entering + FUTURES * room.coming
    trials = rows << len(plan.quasi_identifiers)
    seconds = _SHARE_OF_TIME * request.time_limit
    return (
        request.method == "auto"
        and plan.entity is None
        and not plan.generalized
        and not plan.models
        and request.fewest_classes is None
        and request.most_classes is None
        and room.most > 0
        and version.k <= _LARGEST_K
        and room.coming >= version.k
        and trials <= min(_MOST_TRIALS, _TRIALS_PER_SECOND * seconds)
        and rows <= _ROWS_PER_SECOND * seconds
    )


def _choose(
    version: Version,
    work: PublishingCall,
    lookahead: Identifier,
    columns: tuple[CanonicalColumn, ...],
    most: int,
) -> Waiting | None:
    db, request = version.db, work.request
    with db.reading_as(None):
        counted = count_row_types(db, lookahead, columns, None, memory_bytes=work.memory)
    task = WaitingTask(
        k=version.k,
        most=most,
        longest=version.rules.longest_wait,
        patterns=request.patterns,
        seed=request.seed,
        seconds=_SHARE_OF_TIME * request.time_limit,
    )
    return choose_in_worker(counted.row_types, task, Caller.of(db, work.memory))


def _remove(
    version: Version,
    entering: Identifier,
    lookahead: Identifier,
    columns: tuple[CanonicalColumn, ...],
    chosen: Waiting,
) -> None:
    """Remove chosen rows from those that enter; chance says which of a row type."""
    table = version.scratch("chosen")
    version.run("create_chosen", chosen=table)
    version.db.load(table, [PackedColumn("row_type", chosen.keys), PackedColumn("n", chosen.rows)])
    removed = version.run(
        "remove_chosen",
        entering=entering,
        lookahead=lookahead,
        chosen=table,
        columns=[
            {"expression": c.expression, "alias": c.alias, "hashed": c.hashed("types")} for c in columns
        ],
        hash_seed=HASH_SEED,
        longest_wait=version.rules.longest_wait,
    )
    version.drop("chosen")
    if removed != chosen.total:
        raise VerificationFailed(
            "Other rows wait than were chosen to; nothing was published.",
            hint=DEFECT,
        )


def let_classes_wait(version: Version, storage: Identifier, waits: Identifier, *, most: int) -> None:
    """Let the costliest classes of a solved batch wait: any may, since each is a cohort by itself.

    Parameters
    ----------
    storage : Identifier
        The solved batch.
    waits : Identifier
        Table of those who wait, which is created.
    most : int
        People who may wait.
    """
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
