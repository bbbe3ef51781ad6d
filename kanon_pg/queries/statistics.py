"""What a question reads stays out of the server's statistics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import DatabaseError

_COUNTING = "track_counts"


@contextmanager
def uncounted(db: Database) -> Iterator[None]:
    """Keep what is read inside the block out of the statistics, which every role can see at once.

    How many rows an index found tells how many there are, whether the answer is withheld or not. Servers
    before PostgreSQL 15 cannot let the reading role do this; they count.

    Parameters
    ----------
    db : Database
        Has the rights of the reading role.
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
