"""Who of a batch waits for a later version of a release over time, although k people could enter.

The costliest classes of the solved batch wait. Whoever enters does so in classes of k people: who waits
changes how much is lost, but nothing of what is promised.
"""

from __future__ import annotations

from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.release.plan.generalized import float_literal
from kanon_pg.release.series.building import Version

FRESH = 0
"""Origin of rows that were never published."""


def room_to_wait(version: Version) -> int:
    """Return how many of the people who were never published may wait."""
    most: int = version.find(
        "room_to_wait",
        share=float_literal(version.rules.waiting),
        origin=FRESH,
        release=Literal(version.plan.name),
    )[0]["most"]
    return max(0, most)


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
