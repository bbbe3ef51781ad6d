"""Which instance the rows of a level stand for.

A join may look something up for a row, but must not multiply rows: multiplied rows are weights, and
weights that somebody chose encode single people in one figure. The rows of a level stand for exactly one
protected instance, the *fact*; every other instance is reached from it over a unique key.
"""

from __future__ import annotations

from kanon_pg.query.bound import ColumnOf
from kanon_pg.query.level import Instance, Level, equalities


def fact(level: Level) -> Instance | None:
    """Return the instance whose rows the level counts, or None if no protected instance can be it.

    Parameters
    ----------
    level : Level
        A level with protected instances.

    Returns
    -------
    Instance or None
        The first protected instance, in the order of the text, from which every other one is looked up.
    """
    candidates = (item for item in level.protected() if not item.outer)
    return next((item for item in candidates if not unreached(level, item)), None)


def unreached(level: Level, start: Instance) -> tuple[Instance, ...]:
    """Return the instances that equalities do not reach from a start over unique keys.

    Every round adds the instances one of whose unique keys is equated, column by column, with columns
    of instances reached before; at most n rounds for n instances.
    """
    pairs = equalities(level)
    reached = {start.number}
    waiting = [item for item in level.instances if item.number != start.number]
    while True:
        found = [item for item in waiting if _is_looked_up(item, reached, pairs)]
        if not found:
            return tuple(waiting)
        reached.update(item.number for item in found)
        waiting = [item for item in waiting if item not in found]


def _is_looked_up(
    instance: Instance, reached: set[int], pairs: tuple[tuple[ColumnOf, ColumnOf], ...]
) -> bool:
    known = {
        own.name for own, other in pairs if own.instance == instance.number and other.instance in reached
    }
    return any(key <= known for key in instance.unique_keys())
