"""Server parameters that the steps of a release change for themselves and give back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement

_WORK_MEMORY_SHARE = 8
"""Part of the budget that one sort or hash of the server may use; a statement may have several."""

_LEAST_WORK_MEMORY, _MOST_WORK_MEMORY = 4 << 20, 512 << 20

_EXACT_TEXT = {
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "array_nulls": "on",
    "bytea_output": "hex",
    "lc_monetary": "C",
}
"""Under these a value's text gives the same value back, and is the same text in every session.

Not the time zone and the order of day and month: base views may depend on them, and ISO dates do not.
"""

_TEXT_OF_FILES = _EXACT_TEXT | {
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "iso_8601",
    "TimeZone": "UTC",
    "quote_all_identifiers": "off",
    "search_path": "pg_catalog, pg_temp",
}
"""The same for files, which are read elsewhere and by others."""

_PROPAGATION = "citus.enable_ddl_propagation"


@contextmanager
def setting(db: Database, name: str, value: str) -> Iterator[None]:
    """Set a parameter inside the block. An exception rolls it back with the transaction."""
    before = db.row(statement("set_locally"), name, value)["before"]
    yield
    db.row(statement("set_locally"), name, before)


@contextmanager
def exact_text(db: Database) -> Iterator[None]:
    """Let values that are spelled as text and read again stay what they are, whatever the session has set."""
    with _all_set(db, _EXACT_TEXT):
        yield


@contextmanager
def text_of_files(db: Database) -> Iterator[None]:
    """Let values in files look and be read the same, whatever the session has set."""
    with _all_set(db, _TEXT_OF_FILES):
        yield


@contextmanager
def _all_set(db: Database, settings: Mapping[str, str]) -> Iterator[None]:
    with ExitStack() as stack:
        for name, value in settings.items():
            stack.enter_context(setting(db, name, value))
        yield


@contextmanager
def created_here(db: Database) -> Iterator[None]:
    """Keep what is created inside the block on this node, where Citus would create it on all of them."""
    if db.row(statement("session_settings"))["propagation"] != "on":
        yield
        return
    with setting(db, _PROPAGATION, "off"):
        yield


@contextmanager
def dropped_everywhere(db: Database) -> Iterator[None]:
    """Let Citus, where it is, drop on all nodes what is dropped inside the block.

    It copies a view to all nodes when a table that the view reads becomes distributed.
    """
    if db.row(statement("session_settings"))["propagation"] != "off":
        yield
        return
    with created_everywhere(db):
        yield


@contextmanager
def created_everywhere(db: Database) -> Iterator[None]:
    """Let Citus create on all nodes what is created inside the block."""
    with setting(db, _PROPAGATION, "on"):
        yield


@contextmanager
def working_memory(db: Database, budget: int) -> Iterator[None]:
    """Let grouping and joining use memory instead of disk, within the budget.

    Hash joins are preferred: the planner overrates the skew of hashes and would sort all rows. It overrates
    what it costs to hand rows from one process to another, too, so that parallel workers, where the server
    allows them (``max_parallel_workers_per_gather``), would seldom hash and mask rows.
    """
    size = max(_LEAST_WORK_MEMORY, min(_MOST_WORK_MEMORY, budget // _WORK_MEMORY_SHARE))
    with (
        setting(db, "work_mem", f"{size >> 10}kB"),
        setting(db, "hash_mem_multiplier", "1"),
        setting(db, "enable_mergejoin", "off"),
        setting(db, "parallel_tuple_cost", "0.01"),
        setting(db, "jit", "off"),
    ):
        yield
