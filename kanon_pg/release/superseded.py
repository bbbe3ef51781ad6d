"""Releases that are replaced or dropped: their records go first, their relations at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import drop_base
from kanon_pg.db.statements import statement
from kanon_pg.release.linked.publishing import drop_tables, forget_tables
from kanon_pg.release.plan.pseudonyms import forget_secret
from kanon_pg.release.plan.record import ReleaseRecord
from kanon_pg.release.publish.node_tables import drop_hierarchies
from kanon_pg.release.publish.remembering import forget_versions, remembered_versions
from kanon_pg.release.publish.shards import drop_shards
from kanon_pg.release.publish.view import drop_storage
from kanon_pg.release.series.record import Series, drop_series, forget_series


@dataclass(frozen=True, slots=True)
class SupersededRelease:
    """A release without a record, whose relations still stand."""

    record: ReleaseRecord
    """What was recorded."""
    series: Series | None
    """The same of a release over time."""
    tables: Sequence[Row] = ()
    """The same of the further tables of linked ones."""


def forget_release(db: Database, record: ReleaseRecord, *, keep_versions: bool = False) -> SupersededRelease:
    """Remove a record, so that another can have its name; readers notice nothing until `drop_superseded`.

    Parameters
    ----------
    keep_versions : bool
        Whether the versions that were remembered stay, because a further one follows.
    """
    superseded = SupersededRelease(record, forget_series(db, record.name), forget_tables(db, record.name))
    if not keep_versions:
        forget_versions(db, record.name, remembered_versions(db, record.name))
    db.execute(statement("forget_release"), record.name)
    return superseded


def drop_superseded(
    db: Database, superseded: SupersededRelease, *, shown: Sequence[str] | None = None
) -> None:
    """Drop the relations of a release that is no longer shown.

    Parameters
    ----------
    shown : sequence of str, optional
        Views of further tables that show something else by now; the others are dropped, which is said. None
        if the release is dropped.
    """
    record = superseded.record
    drop_tables(db, superseded.tables, but=shown)
    # Dropping a base table with CASCADE takes the storage along, but not the mapping.
    if record.storage is not None:
        drop = drop_shards if record.on_nodes else drop_storage
        drop(db, record.storage)
    drop_hierarchies(db, record)
    for table in (record.mapping, record.parts):
        if table is not None:
            db.execute(statement("drop_table", table=table))
    if record.source is not None:
        drop_base(db, record.source.name)
    if record.people_view is not None:
        drop_base(db, record.people_view.name)
    forget_secret(db, record.secret)
    if superseded.series is not None:
        drop_series(db, superseded.series)
