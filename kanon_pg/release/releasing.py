"""The operations on releases: anonymize, refresh, erase, drop, list; each in its caller's transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from kanon_pg.db.catalog import RelationFacts, caller, describe, describe_readable
from kanon_pg.db.failures import SERIALIZATION_FAILURE
from kanon_pg.db.history import record_release_event
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import gather_statistics, reading
from kanon_pg.db.settings import exact_text, working_memory
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, InputError, ReleaseBusy, UnknownName
from kanon_pg.relations.beside_queries import check_beside_queries, refuse_beside_queries
from kanon_pg.release.compare.side_by_side import notice_side_by_side
from kanon_pg.release.linked.people import PeopleOfTables, define_people
from kanon_pg.release.linked.publishing import (
    StoredTable,
    count_tables,
    name_tables,
    read_tables,
    record_tables,
    refresh_tables,
    show_tables,
    store_tables,
    tables_of,
)
from kanon_pg.release.linked.recount import recount_joins, recount_models
from kanon_pg.release.linked.tables import require_group, require_links
from kanon_pg.release.plan.advice import notice_empty, notice_redeclared
from kanon_pg.release.plan.base import OWNER, require_readable_base
from kanon_pg.release.plan.nodes import refuse_over_time, require_nodes
from kanon_pg.release.plan.planning import plan_release, recorded_plan, require_free_name, with_people
from kanon_pg.release.plan.pseudonyms import make_secret, renew_secret
from kanon_pg.release.plan.record import (
    ReleaseRecord,
    base_changes,
    existing_release,
    find_release,
    is_shown,
)
from kanon_pg.release.plan.request import AnonymizeRequest, require_sensitive
from kanon_pg.release.publish.building import BuiltRelease, build_release
from kanon_pg.release.publish.much_suppressed import notice_much_suppressed
from kanon_pg.release.publish.node_tables import forget_values, mark_seen, notice_unknown
from kanon_pg.release.publish.remembering import (
    erase_from_versions,
    is_in_base,
    key_now,
    notice_forgotten,
    person_number,
    remember,
    remembered_versions,
    with_row_keys,
)
from kanon_pg.release.publish.report import ReleaseReport, record_refresh, store_release
from kanon_pg.release.publish.shards import refresh_shards
from kanon_pg.release.publish.solving import PublishingCall
from kanon_pg.release.publish.telling import notice_telling, refuse_generated
from kanon_pg.release.publish.view import drop_view, lock_when_free, name_storage, shown_after
from kanon_pg.release.series.building import Version
from kanon_pg.release.series.record import find_series
from kanon_pg.release.series.versions import (
    erase_person,
    next_version,
    record_start,
    require_no_series,
    start_series,
)
from kanon_pg.release.superseded import drop_superseded, forget_release
from kanon_pg.runner.parent import memory_budget


def anonymize(db: Database, request: AnonymizeRequest, *, role: str | None = None) -> ReleaseReport:
    """Publish a k-anonymous release of a relation.

    Parameters
    ----------
    role : str, optional
        Whose rights count; the caller's unless given.

    Returns
    -------
    ReleaseReport
        Recounted figures and proven bounds.

    Raises
    ------
    KanonError
        Any error of the tree; the transaction must be rolled back then.
    """
    request.check()
    memory = memory_budget(db)
    with exact_text(db):
        role = caller(db) if role is None else role
        with working_memory(db, memory):
            people = define_people(db, request, role)
        plan = plan_release(db, request, role, None if people is None else people.planned)
        require_sensitive(request, [*plan.sensitive, *(() if people is None else people.sensitive)])
        if request.remember is not None and request.over_time is None:
            plan = with_row_keys(db, plan)
    refuse_generated(db, plan)
    for oid in plan.read_oids:
        refuse_beside_queries(db, oid, plan.name)
    work = PublishingCall(db, request, plan, role, memory, started=time.monotonic())
    work.compile()
    generation = _queue_for(db, plan.name)
    require_free_name(db, plan)
    with working_memory(db, memory), exact_text(db):
        require_no_series(db, work)
        if plan.secret is not None:
            make_secret(db, plan.secret)
        if request.over_time is None:
            return _publish(work, build_release(work, generation), people=people)
        refuse_over_time(db, plan.base)
        return _publish(work, *start_series(work, generation))


def _publish(
    work: PublishingCall,
    built: BuiltRelease,
    version: Version | None = None,
    *,
    people: PeopleOfTables | None = None,
) -> ReleaseReport:
    """Record what was built and show it in the place of what was published before.

    Parameters
    ----------
    version : Version, optional
        What it is as the first version of a release over time.
    people : PeopleOfTables, optional
        Linked tables, which are stored and shown with it.
    """
    db, request, plan, names = work.db, work.request, built.plan, built.names
    db.progress("publishing")
    previous = find_release(db, plan.name)
    number = 1 if version is not None else _version_to_remember(work, previous)
    if number == 1:
        notice_forgotten(db, plan.view, remembered_versions(db, plan.name))
    superseded = None if previous is None else forget_release(db, previous, keep_versions=number > 1)
    stored: tuple[StoredTable, ...] = ()
    if people is not None:
        stored = store_tables(db, people, plan, names.storage)
    report = replace(built.report, elapsed=time.monotonic() - work.started)
    store_release(db, plan, request, report, built.losses, names, role=work.role, changes=built.changes)
    if version is not None:
        record_start(version)
    if request.remember is not None:
        keys = [key.facts.name for key in plan.keys] if version is None else version.series.keys
        remember(db, plan, names.storage, number, k=request.k, keys=keys, most=request.remember)
        if version is None:
            rows, spelled = _rows_read(names.source, plan.base)
            mark_seen(db, plan, names.nodes, rows, spelled=spelled)
    with shown_after(db, plan, built.shown, k=request.k, unseen_by=built.unseen_by):
        check_beside_queries(db, release=plan.name)
        notice_side_by_side(db, plan.name, role=work.role)
        lock_when_free(db, [plan.view, *(one.view for one in stored)])
    if people is not None:
        _show_linked(work, people, stored, names.storage)
    if superseded is not None:
        drop_superseded(db, superseded, shown=[one.view.name for one in stored])
    name_tables(db, stored)
    if built.shown == names.storage:
        notice_telling(db, work.plan, names.storage, rows=built.rows)
        name_storage(db, plan.name, names.storage)
    notice_much_suppressed(db, request, plan, report)
    record_release_event(db, "anonymize", plan.name, work.role, built.changes)
    return report


def _show_linked(
    work: PublishingCall, people: PeopleOfTables, stored: Sequence[StoredTable], storage: Identifier
) -> None:
    db, plan = work.db, work.plan
    show_tables(db, plan, people, stored, storage)
    record_tables(db, plan.name, people, stored)
    recount_joins(db, plan.name, storage)
    constrained = {one.view.name: (one.table.facts, people.constrained(one.table)) for one in stored}
    recount_models(db, plan.name, storage, people.models, constrained)
    with reading(db, plan.base):
        count_tables(db, plan.name)


def _version_to_remember(work: PublishingCall, previous: ReleaseRecord | None) -> int:
    """Return the number of a version; 1 if there are none before it that it continues."""
    if work.request.remember is None or previous is None or previous.mapping is None:
        return 1
    versions = remembered_versions(work.db, previous.name) if previous.base == work.plan.base.oid else ()
    return versions[0].number + 1 if versions else 1


def refresh(db: Database, release: str, *, role: str) -> None:
    """Bring a release up to date with its base relation, with the same rules.

    Parameters
    ----------
    release : str
        See `kanon_pg.release.plan.record.existing_release`.
    role : str
        Who asked for it, for the history.

    Raises
    ------
    UnknownName
        If there is no such release.
    UnsuitableRelation
        If the base relation has become one that cannot be the base of a release.
    """
    record, generation = _existing_and_alone(db, release)
    changes = base_changes(db, record.base, *(table.oid for table in read_tables(db, record.name)))
    series, memory = find_series(db, record.name), memory_budget(db)
    with working_memory(db, memory):
        if series is None:
            _refresh_ordinary(db, record, generation)
        else:
            with exact_text(db):
                next_version(db, record, series, memory=memory)
    record_release_event(db, "refresh", record.name, role, changes)


def _readable_base(db: Database, record: ReleaseRecord) -> RelationFacts:
    """Return the base relation of a release, which may be read as when it was published."""
    record.require_base()
    base = describe(db, str(record.base), OWNER)
    require_readable_base(db, base, whole=False)
    require_nodes(db, base)
    return base


def _refresh_ordinary(db: Database, record: ReleaseRecord, generation: int) -> None:
    base = _readable_base(db, record)
    if record.people_view is not None:
        others = [table for table in read_tables(db, record.name) if table.oid != base.oid]
        require_group(db, [base, *others])
        require_links(db, base, others)
        # who reads one of the views waits for all of them to be filled, not for the one it reads next
        lock_when_free(db, _views(db, record))
    renew_secret(db, record.secret)
    db.progress("refreshing")
    storage = _refresh_storage(db, record, base, generation)
    record_refresh(db, record, storage)
    if record.people_view is not None:
        refresh_tables(db, record.name)
        if is_shown(db, record.name, record.base):
            recount_joins(db, record.name, storage)
        with reading(db, base):
            count_tables(db, record.name)
    if record.remember is not None:
        with exact_text(db):
            _remember_refreshed(db, record, base, storage, most=record.remember)
    _notice_withheld(db, record, base, storage)
    notice_empty(db, base, record.view)
    notice_redeclared(db, base, record)
    _notice_unpublished(db, record)
    notice_unknown(db, record, base.identifier)


def _views(db: Database, record: ReleaseRecord) -> list[Identifier]:
    further = [row["name"] for row in tables_of(db, record.name) if row["is_shown"]]
    return [record.view, *(Identifier.of("safe", name) for name in further)]


def _refresh_storage(db: Database, record: ReleaseRecord, base: RelationFacts, generation: int) -> Identifier:
    with exact_text(db):
        if record.on_nodes:
            return refresh_shards(db, record, base, generation)
        db.execute(statement("refresh_storage", storage=record.stored))
    gather_statistics(db, record.stored)
    return record.stored


def _remember_refreshed(
    db: Database, record: ReleaseRecord, base: RelationFacts, storage: Identifier, *, most: int
) -> None:
    last = next(iter(remembered_versions(db, record.name)), None)
    if last is None:  # somebody removed them by hand
        return
    _require_names(base, record)
    plan = recorded_plan(db, record, base)
    if not key_now(db, record.base, last.keys)["holds"]:
        names = ", ".join(str(Identifier.of(name)) for name in last.keys)
        db.notice(
            f"No primary key or unique index of {plan.base.identifier} tells rows apart by {names} any more. "
            f"What kanon_composition says of this version of {plan.view} may be about other rows."
        )
    remember(db, plan, storage, last.number + 1, k=record.k, keys=last.keys, most=most)
    rows, spelled = _rows_read(record.source, base)
    mark_seen(db, plan, record.nodes, rows, spelled=spelled)


def _rows_read(source: Identifier | None, base: RelationFacts) -> tuple[Fragment, bool]:
    """Return what has the rows that a release reads, and whether their values have one spelling each."""
    if source is None:
        return Fragment(str(base.identifier)), False
    return Fragment(f"{source}()"), True


def _require_names(base: RelationFacts, record: ReleaseRecord) -> None:
    """Refuse to remember a version of a release whose columns the base relation has under other names.

    Raises
    ------
    UnknownName
        With what to do.
    """
    names = {column.name for column in base.columns}
    for name in (*record.published, record.entity):
        if name is not None and name not in names:
            raise UnknownName(
                f"Column {Identifier.of(name)} of {base.identifier} was renamed. Versions of "
                f"{record.view} are remembered by the names of its columns.",
                hint="Rename it back, or declare the roles anew and publish anew with kanon_anonymize.",
            )


def _notice_withheld(db: Database, record: ReleaseRecord, base: RelationFacts, storage: Identifier) -> None:
    source = with_people(db, record, base).source
    with reading(db, base):
        (there,) = db.read(statement("count_rows", relation=source))
    withheld = there["rows"] - db.row(statement("count_rows", relation=storage))["rows"]
    if withheld > 0:
        db.notice(
            f"Of {base.identifier}, {withheld} rows are withheld: they would be in classes of too few "
            f"people. Publish release {Identifier.of(record.name)} anew with kanon_anonymize to fit them in."
        )


def _notice_unpublished(db: Database, record: ReleaseRecord) -> None:
    """Say that the view of a release was dropped, so that nobody sees what was refreshed."""
    if not is_shown(db, record.name, record.base):
        db.notice(
            f"The view {record.view} was dropped: what was refreshed is not published. kanon_anonymize "
            f"publishes it anew, SELECT kanon_drop({Literal(record.name)}); removes what is left of it."
        )


def drop(db: Database, release: str, *, role: str) -> None:
    """Remove a release with everything behind it but what the history says of it.

    Parameters
    ----------
    role : str
        Who asked for it, for the history.

    Raises
    ------
    UnknownName
        If there is no such release.
    ReleaseError
        If other objects depend on its view.
    """
    record, _ = _existing_and_alone(db, release)
    record_release_event(db, "drop", record.name, role)
    if is_shown(db, record.name, record.base):
        lock_when_free(db, _views(db, record))
        drop_view(db, record.view)
    superseded = forget_release(db, record)
    drop_superseded(db, superseded)
    for table in superseded.tables:
        db.execute(statement("forget_lock"), table["name"])
    db.execute(statement("forget_lock"), record.name)


def erase(db: Database, release: str, person: Sequence[str], *, role: str) -> None:
    """Remove what a release has of a person besides the base relation, by a new version.

    From a release over time the cells go, with the person's cohorts. From a release that remembers versions
    the person's rows in these go, and the release is refreshed.

    Parameters
    ----------
    person : sequence of str
        The value of the column that identifies people, or those of the key, as text.
    role : str
        Whose rights count: it has to be allowed to read the base relation, as refusals say who is in it.

    Raises
    ------
    NotPermitted
        If the role may not read the base relation.
    UnknownName
        If there is no such release, or nothing of that person in it.
    InputError
        If it keeps nothing of who left, or would show the person again.
    """
    record, generation = _existing_and_alone(db, release)
    record.require_base()
    describe_readable(db, str(record.base), role)
    series = find_series(db, record.name)
    memory = memory_budget(db)
    with working_memory(db, memory), exact_text(db):
        if series is not None:
            _readable_base(db, record)
            _require_gone(db, record, series.keys, person)
            erase_person(db, record, series, person)
        else:
            _erase_from_remembered(db, record, person)
    if series is None:
        _refresh_ordinary(db, record, generation)
    record_release_event(db, "erase", record.name, role)


def _erase_from_remembered(db: Database, record: ReleaseRecord, person: Sequence[str]) -> None:
    versions = remembered_versions(db, record.name)
    if not versions:
        raise InputError(
            f"{record.view} is no release over time and remembers no versions: it keeps nothing of who left.",
            hint="Delete the person's rows and "
            # the release's copies of hierarchies keep values of rows that are gone
            + ("publish it anew with kanon_anonymize." if record.nodes else "call kanon_refresh."),
        )
    keys = versions[0].keys
    base = _readable_base(db, record)
    erase_from_versions(db, record, keys, _require_gone(db, record, keys, person))
    if record.nodes:
        _require_names(base, record)
        rows, spelled = _rows_read(record.source, base)
        forget_values(db, recorded_plan(db, record, base), record.nodes, rows, spelled=spelled)


def _require_gone(db: Database, record: ReleaseRecord, keys: Sequence[str], person: Sequence[str]) -> int:
    """Refuse to erase somebody who is in the base relation; returns the person's number."""
    number = person_number(db, record, keys, person)
    if is_in_base(db, record, keys, number):
        raise InputError(
            f"The base table of {record.view} still has rows of this person, which the release would show "
            "again.",
            hint="Delete these rows, then call kanon_erase again.",
        )
    return number


def releases(db: Database) -> Sequence[Row]:
    """Return all releases with their certificates, by name."""
    return db.rows(statement("list_releases"))


def _existing_and_alone(db: Database, release: str) -> tuple[ReleaseRecord, int]:
    """Wait for calls that publish this release; returns its record as they left it, and the next number."""
    name = existing_release(db, release).name
    generation = _queue_for(db, name)
    return existing_release(db, name), generation


def _queue_for(db: Database, name: str) -> int:
    """Wait for other calls under the same release name; returns the number of this publication."""
    db.progress("queued")
    try:
        generation: int = db.row(statement("lock_release_name"), name)["generation"]
    except DatabaseError as error:
        if error.server_state != SERIALIZATION_FAILURE:
            raise
        raise ReleaseBusy(
            "Another call published the same release meanwhile.", hint="Run it again to build on its result."
        ) from error
    return generation
