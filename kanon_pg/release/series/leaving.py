"""Who left a release over time, and who of them is enough to leave it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kanon_pg.db.failures import UNIQUE_VIOLATION
from kanon_pg.errors import DatabaseError, InputError
from kanon_pg.release.series.building import Version


def require_different_rows(version: Version) -> None:
    """Refuse rows of which two have one identity."""
    parts = {"changes": version.scratch("changes")}
    if version.find("find_collision", **parts)[0]["found"]:
        raise _same_hash()


@contextmanager
def one_row_each() -> Iterator[None]:
    """Explain a unique index that two rows violate."""
    try:
        yield
    except DatabaseError as error:
        if error.server_state != UNIQUE_VIOLATION:
            raise
        raise _same_hash() from error


def _same_hash() -> InputError:
    return InputError(
        "Two rows have the same key, or the same 64-bit hash of it; no version can tell them apart.",
        hint="The key must be unique. If it is, this is very rare: start a new series.",
    )


def let_leave(version: Version) -> None:
    """Find out who left, and let those leave who are enough."""
    rules, changes, fates = version.rules, version.scratch("changes"), version.scratch("fates")
    keep = rules.updates == "keep"
    version.run("mark_left", version.number, changes=changes, keep=keep)
    version.run("mark_back", changes=changes, keep=keep)
    version.run(
        "create_fates",
        fates=fates,
        k=version.k,
        version=version.number,
        leavers=rules.leavers,
        longest_retain=rules.longest_retain,
        whole=bool(version.plan.models),
        entity=version.plan.entity is not None,
    )
    version.run("insert_departed", version.number, fates=fates)
    version.run("delete_departed_members", fates=fates)
    version.run("settle_cohorts", fates=fates, k=version.k)
    version.run("delete_empty_cohorts")
    version.drop("fates")
