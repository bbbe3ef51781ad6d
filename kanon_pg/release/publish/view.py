"""Makes a filled storage the published one, in one short moment, and removes the one before."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kanon_pg.db.failures import DEPENDENT_OBJECTS, LOCK_NOT_AVAILABLE
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.settings import setting
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import DatabaseError, ReleaseError
from kanon_pg.relations.subject import SUPPRESSED_COLUMN
from kanon_pg.release.plan.planning import ReleasePlan
from kanon_pg.release.plan.record import is_shown
from kanon_pg.release.publish.storage import lasting_name

_WAIT_SECONDS = 0.1
_INVALID_REPLACEMENT = "42P16"
"""SQLSTATE of CREATE OR REPLACE VIEW with other columns than before."""


@contextmanager
def shown_after(
    db: Database,
    plan: ReleasePlan,
    storage: Identifier | Fragment,
    *,
    k: int,
    unseen_by: Literal | None = None,
) -> Iterator[None]:
    """Show a new storage after the block, so that readers of the one before do not wait for what is inside.

    A view that is not there yet has no readers. It is created before the block, which finds the rights on it.
    Parameters are those of `swap_view`.
    """
    has_readers = is_shown(db, plan.name, plan.base.oid)
    if not has_readers:
        swap_view(db, plan, storage, k=k, unseen_by=unseen_by)
    yield
    if has_readers:
        swap_view(db, plan, storage, k=k, unseen_by=unseen_by)


def swap_view(
    db: Database,
    plan: ReleasePlan,
    storage: Identifier | Fragment,
    *,
    k: int,
    unseen_by: Literal | None = None,
) -> None:
    """Let the view that analysts read show the new storage from the commit on.

    Readers see the old release until then. A reader that is still at work is waited for in short
    steps, so that new readers never queue behind the swap for longer than a moment.

    Parameters
    ----------
    storage : Identifier or Fragment
        The new materialized view, or what else the view is to read.
    k : int
        Fewest people per class, for the view's comment.
    unseen_by : Literal, optional
        Number of a transaction that must not read it.

    Raises
    ------
    ReleaseError
        If columns changed and other views depend on the old ones.
    """
    suppressible = [
        {"label": Literal(c.facts.name), "is_suppressed": plan.suppressed_in("kanon_pattern", j)}
        for j, c in enumerate(plan.quasi_identifiers)
    ]
    names = {c.facts.name for c in plan.quasi_identifiers} | {c.name for c in plan.carried}
    published = [c.identifier for c in plan.base.columns if c.name in names]
    create = statement(
        "create_safe_view",
        view=plan.view,
        storage=storage,
        published=published,
        columns=suppressible,
        unseen_by=unseen_by,
    )
    kind, some = f"{k}-anonymous release", ""
    if plan.subsets is not None:
        kind, some = "release", f"any {plan.subsets} "
    comment = (
        f"{kind} of {plan.base.identifier} made by kanon_pg: every combination of {some}"
        f"quasi-identifiers and suppressed columns is shared by at least {k} people."
    )
    columns = [*(column.name for column in published), SUPPRESSED_COLUMN]
    show_view(db, plan.view, create, columns, comment=comment)


def show_view(
    db: Database, view: Identifier, create: Statement, columns: Sequence[str], *, comment: str
) -> None:
    """Create or replace a view that analysts read, waiting for its readers in short steps.

    Parameters
    ----------
    columns : sequence of str
        Those of the view.

    Raises
    ------
    ReleaseError
        If columns changed and other views depend on the old ones.
    """
    lock_when_free(db, [view])
    try:
        with db.savepoint():
            db.execute(create)
    except DatabaseError as error:
        if error.server_state != _INVALID_REPLACEMENT:
            raise
        _replace_by_new_columns(db, view, create, columns)
    db.execute(statement("comment_view", view=view, comment=Literal(comment)))


def name_storage(db: Database, release: str, storage: Identifier) -> Identifier:
    """Give a new storage the name that those of the same release had before it; returns that name.

    Scripts may refresh by this name. The one before must be dropped already; nobody else can have locked the
    new one, which is not committed.
    """
    lasting = lasting_name(release)
    # What has the name without a record was left by a dump that was restored without its data.
    if db.row(statement("find_storage"), lasting.name)["exists"]:
        drop_storage(db, lasting)
    db.execute(statement("rename_storage", storage=storage, name=Identifier((lasting.name,))))
    return lasting


def drop_storage(db: Database, storage: Identifier) -> None:
    """Drop the materialized view of a release that is no longer shown."""
    db.execute(statement("drop_storage", storage=storage))


def drop_view(db: Database, view: Identifier) -> None:
    """Drop the view of a release, waiting for its readers in short steps.

    Raises
    ------
    ReleaseError
        If other objects depend on the view.
    """
    lock_when_free(db, [view])
    _drop_alone(db, view, hint="Drop these objects first.")


def _replace_by_new_columns(
    db: Database, view: Identifier, create: Statement, columns: Sequence[str]
) -> None:
    """Recreate the view, since none loses or retypes columns; who could read it still can, nobody else."""
    grants = db.rows(statement("fetch_grants"), str(view))
    _drop_alone(
        db,
        view,
        hint="Drop these objects first, or publish under another name: release => 'other_name'.",
    )
    db.execute(create)
    _grant(db, view, [one for one in grants if one["column_name"] is None or one["column_name"] in columns])


def share_rights(db: Database, view: Identifier, of: Identifier) -> None:
    """Let those read a new view who may read all of another one, and nobody else."""
    grants = db.rows(statement("fetch_grants"), str(of))
    _grant(db, view, [grant for grant in grants if grant["column_name"] is None])


def _grant(db: Database, view: Identifier, grants: Sequence[Row]) -> None:
    # default privileges may give back what was revoked from the view
    for grant in db.rows(statement("fetch_grants"), str(view)):
        db.execute(statement("revoke_select", relation=view, role=_grantee(grant)))
    for grant in grants:
        column = grant["column_name"]
        db.execute(
            statement(
                "grant_select",
                relation=view,
                column=None if column is None else Identifier.of(column),
                role=_grantee(grant),
                grantable=grant["grantable"],
            )
        )


def _grantee(grant: Row) -> Identifier | Fragment:
    role = grant["role"]
    return Fragment("PUBLIC") if role is None else Identifier.of(role)


def _drop_alone(db: Database, view: Identifier, *, hint: str) -> None:
    """Drop a view; refuse if other objects depend on it.

    Raises
    ------
    ReleaseError
        If other objects depend on the view.
    """
    try:
        with db.savepoint():
            db.execute(statement("drop_safe_view", view=view))
    except DatabaseError as error:
        if error.server_state != DEPENDENT_OBJECTS:
            raise
        found = [row["description"] for row in db.rows(statement("dependents_of_view"), str(view))]
        raise ReleaseError(
            f"Other objects depend on {view}, whose columns would change or go.",
            detail=f"These do: {', '.join(found)}.",
            hint=hint,
        ) from error


def lock_when_free(db: Database, views: Sequence[Identifier]) -> None:
    """Keep readers out of those views in schema ``safe`` that are there: of all at once, or of none yet.

    Who reads one of them and then another never waits for a call that waits for them.
    """
    there = [view for view in views if db.row(statement("view_exists"), view.name)["exists"]]
    if not there:
        return
    lock = statement("lock_views", views=there)
    while True:
        try:
            with db.savepoint(), setting(db, "lock_timeout", "100ms"):
                db.execute(lock)
        except DatabaseError as error:
            if error.server_state != LOCK_NOT_AVAILABLE:
                raise
            db.progress("waiting for readers")
            db.checkpoint()
            time.sleep(_WAIT_SECONDS)
        else:
            return
