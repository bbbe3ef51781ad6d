"""What a question reads depends on its text, not on how many rows match."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement


@contextmanager
def whole_reads(db: Database) -> Iterator[None]:
    """Have relations read as a whole inside the block, whatever the session prefers.

    An index reads as many blocks as rows match, and what does not fit into ``work_mem`` goes to files. Both
    numbers are shown by ``EXPLAIN (ANALYZE, BUFFERS)`` around a call that catches the refusal, exactly and as
    often as one likes.

    Parameters
    ----------
    db : Database
        Has the rights of the reading role.
    """
    before = db.row(statement("pin_planner"))
    yield
    # an exception takes the settings back with everything else
    db.row(statement("unpin_planner"), before["names"], before["was"])
