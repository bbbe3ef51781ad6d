"""The memory budget of a session."""

from __future__ import annotations

from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.runner.limits import default_memory_budget, parse_memory_size


def memory_budget(db: Database) -> int:
    """Return the memory budget in bytes: ``kanon.memory_budget``, else a share of the machine.

    Raises
    ------
    InputError
        If the setting is not a memory size.
    """
    asked = db.row(statement("session_settings"))["memory_budget"]
    return parse_memory_size(asked) if asked else default_memory_budget()
