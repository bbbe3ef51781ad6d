"""How blocks are read: in full whatever matches, and out of the server's statistics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError


@contextmanager
def full_scans(db: Database) -> Iterator[None]:
    """Force full scans of relations inside the block, whatever the settings of the session.

    An index reads as many blocks as rows match, and what does not fit into ``work_mem`` goes to files. Both
    numbers are shown by ``EXPLAIN (ANALYZE, BUFFERS)`` around a call that catches the refusal, exactly and as
    often as one likes.
    """
    before = db.row(statement("pin_planner"))
    yield
    # an exception takes the settings back with everything else
    db.row(statement("unpin_planner"), before["names"], before["was"])


_COUNTING = "track_counts"


@contextmanager
def without_statistics(db: Database) -> Iterator[None]:
    """Keep what is read inside the block out of the statistics, which every role can see at once.

    How many rows an index found tells how many there are, whether the answer is withheld or not. Servers
    before PostgreSQL 15 cannot let the reading role do this; they count.
    """
    try:
        with db.savepoint():
            before = db.row(statement("set_locally"), _COUNTING, "off")["before"]
    except DatabaseError:
        yield
        return
    yield
    # an exception takes the setting back with everything else
    db.row(statement("set_locally"), _COUNTING, before)
