"""Single minimal violating sets from random walks: what can be shown when there is no time for all.

A walk adds columns in random order until the set violates, then takes out what is not needed. Each set that
is found is violating and minimal; nothing follows for the others.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kanon_pg.worker.audit.grouping import Numbers
from kanon_pg.worker.audit.lines import Lines
from kanon_pg.worker.audit.splitting import Partitions, Scratch, added_classes, room_for, split
from kanon_pg.worker.clock import Clock
from kanon_pg.worker.compiled import kernel

_SEED = 20070


def walks(lines: Lines, k: int, clock: Clock | None = None) -> Iterator[tuple[int, ...]]:
    """Yield minimal violating sets until the time is over, some more than once.

    Parameters
    ----------
    lines : Lines
        Of all columns, which together violate while no single column does.
    clock : Clock, optional
        For ever unless given.

    Yields
    ------
    tuple of int
        Places of the columns in the order of the search, ascending.

    Notes
    -----
    O(n s^2) per set, for n lines and s columns after the additions; the order of the walks is the same in
    every call.
    """
    generator = np.random.default_rng(_SEED)
    partitions, scratch = room_for(lines, 3)
    clock = clock or Clock()
    while not clock.is_over():
        clock.report("single sets", None)
        order = generator.permutation(lines.codes.shape[0])
        chosen = order[: _first_violation(order, lines, partitions, scratch, k) + 1]
        # Without its last column the set did not violate, so that column stays.
        for column in chosen[:-1]:
            if clock.is_over():
                return
            clock.heartbeat()
            rest = chosen[chosen != column]
            if _first_violation(rest, lines, partitions, scratch, k) >= 0:
                chosen = rest
        yield tuple(int(column) for column in np.sort(chosen))


@kernel
def _first_violation(order: Numbers, lines: Lines, partitions: Partitions, scratch: Scratch, k: int) -> int:
    """Return the place of the first column with which those before it violate; -1 if all together don't."""
    source = 0
    for place in range(order.size):
        added, _ = added_classes(lines, order[place], partitions, source, k, scratch)
        if added < 0:
            return place
        target = 2 if source == 1 else 1
        split(lines, order[place], partitions, source, target, scratch)
        source = target
    return -1
