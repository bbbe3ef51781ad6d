"""Searches of one table side by side, each in a process of its own."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from kanon_pg.worker.child_processes import Work, WorkFailed, run_in_children
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.solution import Solution

Search = Callable[[Clock], Solution]

_GRACE = 1.0
"""Seconds after the end of all time in which a process may still answer."""

_MOST_AT_ONCE = 4
"""Most processes: the database has other work for its processors and memory."""

_LEAST_SECONDS = 0.5
"""Seconds of all searches together from which processes are worth their beginning."""


def side_by_side(searches: Sequence[Search], clock: Clock, seconds: float) -> list[Solution]:
    """Return what searches find, in their order; less if time runs out.

    Parameters
    ----------
    searches : sequence of callable
        Each gets a clock that ends with `clock`. How many run at once, one per processor up to
        `_MOST_AT_ONCE`, changes no answer unless time runs out.
    seconds : float
        How long all together will take on one processor, about.

    Notes
    -----
    If one of them fails, mostly for memory, of which each has a part, all are run one after the other.
    """
    processors = len(os.sched_getaffinity(0)) if seconds >= _LEAST_SECONDS else 1
    at_once = min(len(searches), processors, _MOST_AT_ONCE)
    if at_once > 1:
        try:
            answers = run_in_children(_jobs(searches, clock), at_once)
            return [Solution.from_bytes(answer) for answer in answers if answer is not None]
        except (WorkFailed, OSError):
            pass
    return [search(clock) for search in searches if not clock.is_over()]


def _jobs(searches: Sequence[Search], clock: Clock) -> Iterator[tuple[Work, float]]:
    for search in searches:
        clock.heartbeat()
        if clock.is_over():
            return
        left = clock.left()
        # progress is reported by this process alone
        yield partial(_answer, search, Clock(left)), math.inf if left is None else left + _GRACE


def _answer(search: Search, clock: Clock) -> bytes:
    return search(clock).to_bytes()
