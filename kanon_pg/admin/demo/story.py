"""The story that ``kanon demo`` tells; every figure in it is asked from the database as it is told.

A scene checks its own claims: one whose claim does not hold says so, and the demo fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kanon_pg.admin.demo.asking import queries
from kanon_pg.admin.demo.living import analyst, anew, guard
from kanon_pg.admin.demo.publishing import first_try, publish, report, safe_view, the_risk, the_table
from kanon_pg.admin.demo.scene import Cast, Scene

SCENES: tuple[Callable[[Cast], Scene], ...] = (
    the_table,
    the_risk,
    first_try,
    publish,
    safe_view,
    report,
    analyst,
    queries,
    guard,
    anew,
)
"""In the order in which they are told; each builds on those before it."""


def tell(cast: Cast) -> Iterator[Scene]:
    """Tell the story, scene by scene.

    Parameters
    ----------
    cast : Cast
        Connected to a database with kanon installed and the table of `kanon_pg.admin.demo.table`.

    Yields
    ------
    Scene
        As soon as it has happened.

    Raises
    ------
    DatabaseError
        If the server refuses something that no scene expects to be refused.
    """
    for scene in SCENES:
        yield scene(cast)
