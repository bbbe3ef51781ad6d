"""The operations on releases: anonymize, refresh, erase, drop, list; each in its caller's transaction."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kanon_pg.db.catalog import RelationFacts, caller, describe, describe_readable
from kanon_pg.db.failures import SERIALIZATION_FAILURE
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import SCHEMA as BASES_SCHEMA
from kanon_pg.db.readers import gather_statistics, reading
from kanon_pg.db.settings import exact_text, working_memory
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, InputError, ReleaseBusy, UnknownName
from kanon_pg.relations.beside_queries import check_beside_queries, refuse_beside_queries
from kanon_pg.release.advice import notice_empty, notice_redeclared
from kanon_pg.release.base import OWNER, require_readable_base
from kanon_pg.release.composition import notice_side_by_side
from kanon_pg.release.distributed.nodes import refuse_over_time, require_nodes
from kanon_pg.release.distributed.storage import (
    SHARDS_SCHEMA,
    Shards,
    create_shards,
    refresh_shards,
    shards_of,
)
from kanon_pg.release.much_suppressed import notice_much_suppressed
from kanon_pg.release.node_tables import (
    create_unknown_view,
    forget_values,
    mark_seen,
    notice_unknown,
    write_hierarchies,
)
from kanon_pg.release.plan import ReleasePlan, plan_release, recorded_plan
from kanon_pg.release.publish import drop_view, name_storage, shown_after
from kanon_pg.release.record import (
    drop_superseded,
    existing_release,
    forget_releases,
    record_refresh,
    require_base,
    settled_rows,
    store_release,
)
from kanon_pg.release.recount import is_what_was_solved, recount, require_models
from kanon_pg.release.remembering import (
    erase_from_versions,
    is_in_base,
    key_now,
    notice_forgotten,
    person_number,
    remember,
    remembered_versions,
    with_row_keys,
)
from kanon_pg.release.report import ReleaseReport, make_report, release_utility
from kanon_pg.release.request import AnonymizeRequest, require_sensitive
from kanon_pg.release.series.record import find_series
from kanon_pg.release.series.versions import erase_person, next_version, require_no_series, start_series
from kanon_pg.release.solving import PublishingCall, count_and_solve
from kanon_pg.release.storage import (
    SCHEMA,
    StorageNames,
    create_storage,
    parts_of,
    storage_names,
    write_mapping,
    write_parts,
)
from kanon_pg.release.telling import notice_telling, refuse_generated
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
    with exact_text(db):
        role = caller(db) if role is None else role
        plan = plan_release(db, request, role)
        require_sensitive(request, plan.sensitive)
        if request.remember is not None and request.over_time is None:
            plan = with_row_keys(db, plan)
        memory = memory_budget(db)
    refuse_generated(db, plan)
    refuse_beside_queries(db, plan.base.oid, plan.name)
    work = PublishingCall(db, request, plan, role, memory, started=time.monotonic())
    work.compile()
    generation = _queue_for(db, plan.name)
    with working_memory(db, memory), exact_text(db):
        require_no_series(db, work)
        if request.over_time is not None:
            refuse_over_time(db, plan.base)
        publish = _build_and_publish if request.over_time is None else start_series
        return publish(work, generation)


def _build_and_publish(work: PublishingCall, generation: int) -> ReleaseReport:
    db, plan, k = work.db, work.plan, work.request.k
    hierarchies = write_hierarchies(db, plan, storage_names(plan, generation).nodes)
    shards = shards_of(db, plan, remembers=work.request.remember is not None)
    counted, outcome = count_and_solve(work, hierarchies)
    parts = parts_of(counted.row_types.keys, outcome)
    schema = SCHEMA if shards is None else SHARDS_SCHEMA
    names = storage_names(plan, generation, is_divided=parts is not None, schema=schema)
    db.progress("writing")
    write_mapping(db, names.mapping, counted.row_types.keys, outcome.patterns, outcome.prices)
    if names.parts is not None and parts is not None:
        write_parts(db, names.parts, parts)
    db.progress("building the view")
    settled = settled_rows(db, plan.base)
    shown = _store(db, plan, shards, names, k=k, rows=counted.rows)
    db.progress("recounting")
    found = recount(db, plan, names.storage, k=k, nodes=names.nodes, on_nodes=shards is not None)
    certified = is_what_was_solved(db, plan, counted, outcome, found, on_nodes=shards is not None)
    require_models(db, plan, names.storage, found, is_whole=certified)
    db.progress("publishing")
    previous = db.rows(statement("fetch_release"), plan.name)
    remembered = _version_to_remember(db, work, previous)
    if remembered == 1:
        notice_forgotten(db, plan.view, remembered_versions(db, plan.name))
    superseded = forget_releases(db, previous, keep_versions=remembered > 1)
    elapsed = time.monotonic() - work.started
    report = make_report(plan, counted, outcome, found, k=k, elapsed=elapsed, certified=certified)
    utility = release_utility(outcome, found, certified=certified)
    store_release(db, plan, work.request, report, utility, names, role=work.role, settled=settled)
    if work.request.remember is not None:
        keys = [key.facts.name for key in plan.keys]
        remember(db, plan, names.storage, remembered, k=k, keys=keys, most=work.request.remember)
        rows, spelled = _rows_read(names.source, plan.base)
        mark_seen(db, plan, names.nodes, rows, spelled=spelled)
    with shown_after(db, plan, shown, k=k):
        check_beside_queries(db, release=plan.name)
        notice_side_by_side(db, plan.name, role=work.role)
    drop_superseded(db, superseded)
    if shards is None:
        notice_telling(db, plan, names.storage, rows=counted.rows)
        name_storage(db, plan.name, names.storage)
    notice_much_suppressed(db, work.request, plan, report)
    return report


def _store(
    db: Database, plan: ReleasePlan, shards: Shards | None, names: StorageNames, *, k: int, rows: int
) -> Identifier | Fragment:
    """Store the rows of a release; returns what its view reads."""
    if shards is not None:
        return create_shards(db, plan, shards, names, k=k)
    create_storage(db, plan, names, k=k, rows=rows)
    create_unknown_view(db, plan, names)
    return names.storage


def _version_to_remember(db: Database, work: PublishingCall, previous: Sequence[Row]) -> int:
    """Return the number of a version; 1 if there are none before it that it continues."""
    is_same = work.request.remember is not None and any(
        row["base"] == work.plan.base.oid and row["mapping_name"] for row in previous
    )
    versions = remembered_versions(db, work.plan.name) if is_same else ()
    return versions[0].number + 1 if versions else 1


def refresh(db: Database, release: str) -> None:
    """Bring a release up to date with its base relation, with the same rules.

    Parameters
    ----------
    release : str
        See `kanon_pg.release.record.existing_release`.

    Raises
    ------
    UnknownName
        If there is no such release.
    UnsuitableRelation
        If the base relation has become one that cannot be the base of a release.
    """
    row, generation = _existing_and_alone(db, release)
    series = find_series(db, row["name"])
    if series is not None:
        memory = memory_budget(db)
        with working_memory(db, memory), exact_text(db):
            next_version(db, row, series, memory=memory)
        return
    _refresh_ordinary(db, row, generation)


def _readable_base(db: Database, row: Row) -> RelationFacts:
    """Return the base relation of a release, which may be read as when it was published."""
    require_base(row)
    base = describe(db, str(row["base"]), OWNER)
    require_readable_base(db, base, whole=False)
    require_nodes(db, base)
    return base


def _refresh_ordinary(db: Database, row: Row, generation: int) -> None:
    base = _readable_base(db, row)
    db.progress("refreshing")
    settled = settled_rows(db, base)
    storage = _refresh_storage(db, row, base, generation)
    record_refresh(db, row, storage, settled=settled)
    if row["remember"]:
        with exact_text(db):
            _remember_refreshed(db, row, base, storage)
    _notice_withheld(db, base, storage, row["name"])
    notice_empty(db, base, Identifier.of("safe", row["name"]))
    notice_redeclared(db, base, row)
    _notice_unpublished(db, row)
    notice_unknown(db, row)


def _refresh_storage(db: Database, row: Row, base: RelationFacts, generation: int) -> Identifier:
    storage = Identifier.of(row["storage_schema"], row["storage_name"])
    with exact_text(db):
        if row["storage_schema"] == SHARDS_SCHEMA:
            return refresh_shards(db, row, base, generation)
        db.execute(statement("refresh_storage", storage=storage))
    gather_statistics(db, storage)
    return storage


def _remember_refreshed(db: Database, row: Row, base: RelationFacts, storage: Identifier) -> None:
    last = next(iter(remembered_versions(db, row["name"])), None)
    if last is None:  # somebody removed them by hand
        return
    _require_names(base, row)
    plan = recorded_plan(db, row, base)
    if not key_now(db, row["base"], last.keys)["holds"]:
        names = ", ".join(str(Identifier.of(name)) for name in last.keys)
        db.notice(
            f"No primary key or unique index of {plan.base.identifier} tells rows apart by {names} any more. "
            f"What kanon_composition says of this version of {plan.view} may be about other rows."
        )
    remember(db, plan, storage, last.number + 1, k=row["k"], keys=last.keys, most=row["remember"])
    rows, spelled = _rows_read(_source(row), base)
    mark_seen(db, plan, _node_tables(row), rows, spelled=spelled)


def _source(row: Row) -> Identifier | None:
    return None if row["source_name"] is None else Identifier.of(BASES_SCHEMA, row["source_name"])


def _rows_read(source: Identifier | None, base: RelationFacts) -> tuple[Fragment, bool]:
    """Return what has the rows that a release reads, and whether their values have one spelling each."""
    if source is None:
        return Fragment(str(base.identifier)), False
    return Fragment(f"{source}()"), True


def _node_tables(row: Row) -> tuple[Identifier, ...]:
    return tuple(Identifier.of("kanon", name) for name in row["nodes"])


def _require_names(base: RelationFacts, row: Row) -> None:
    """Refuse to remember a version of a release whose columns the base relation has under other names.

    Raises
    ------
    UnknownName
        With what to do.
    """
    names = {column.name for column in base.columns}
    recorded = (*row["quasi_identifiers"], *row["sensitive"], *row["insensitive"], row["entity"])
    for name in recorded:
        if name is not None and name not in names:
            raise UnknownName(
                f"Column {Identifier.of(name)} of {base.identifier} was renamed. Versions of "
                f"{Identifier.of('safe', row['name'])} are remembered by the names of its columns.",
                hint="Rename it back, or declare the roles anew and publish anew with kanon_anonymize.",
            )


def _notice_withheld(db: Database, base: RelationFacts, storage: Identifier, release: str) -> None:
    with reading(db, base):
        (there,) = db.read(statement("count_rows", relation=base.identifier))
    withheld = there["rows"] - db.row(statement("count_rows", relation=storage))["rows"]
    if withheld > 0:
        db.notice(
            f"Of {base.identifier}, {withheld} rows are withheld: they would be in classes of too few "
            f"people. Publish release {Identifier.of(release)} anew with kanon_anonymize to fit them in."
        )


def _notice_unpublished(db: Database, row: Row) -> None:
    """Say that the view of a release was dropped, so that nobody sees what was refreshed."""
    if not db.row(statement("find_release"), row["name"], row["base"])["published"]:
        view = Identifier.of("safe", row["name"])
        db.notice(
            f"The view {view} was dropped: what was refreshed is not published. kanon_anonymize publishes it "
            f"anew, SELECT kanon_drop({Literal(row['name'])}); removes what is left of it."
        )


def drop(db: Database, release: str) -> None:
    """Remove a release with everything behind it.

    Raises
    ------
    UnknownName
        If there is no such release.
    ReleaseError
        If other objects depend on its view.
    """
    row, _ = _existing_and_alone(db, release)
    name: str = row["name"]
    if db.row(statement("find_release"), name, row["base"])["published"]:
        drop_view(db, Identifier.of("safe", name))
    drop_superseded(db, forget_releases(db, [row]))
    db.execute(statement("forget_lock"), name)


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
    row, generation = _existing_and_alone(db, release)
    require_base(row)
    describe_readable(db, str(row["base"]), role)
    series = find_series(db, row["name"])
    memory = memory_budget(db)
    with working_memory(db, memory), exact_text(db):
        if series is not None:
            _readable_base(db, row)
            _require_gone(db, row, series.keys, person)
            erase_person(db, row, series, person)
            return
        _erase_from_remembered(db, row, person)
    _refresh_ordinary(db, row, generation)


def _erase_from_remembered(db: Database, row: Row, person: Sequence[str]) -> None:
    versions = remembered_versions(db, row["name"])
    view = Identifier.of("safe", row["name"])
    if not versions:
        raise InputError(
            f"{view} is no release over time and remembers no versions: it keeps nothing of who left.",
            hint="Delete the person's rows and "
            # the release's copies of hierarchies keep values of rows that are gone
            + ("publish it anew with kanon_anonymize." if row["nodes"] else "call kanon_refresh."),
        )
    keys = versions[0].keys
    base = _readable_base(db, row)
    erase_from_versions(db, row, keys, _require_gone(db, row, keys, person))
    if row["nodes"]:
        _require_names(base, row)
        rows, spelled = _rows_read(_source(row), base)
        forget_values(db, recorded_plan(db, row, base), _node_tables(row), rows, spelled=spelled)


def _require_gone(db: Database, row: Row, keys: Sequence[str], person: Sequence[str]) -> int:
    """Refuse to erase somebody who is in the base relation; returns the person's number."""
    number = person_number(db, row, keys, person)
    if is_in_base(db, row, keys, number):
        view = Identifier.of("safe", row["name"])
        raise InputError(
            f"The base table of {view} still has rows of this person, which the release would show again.",
            hint="Delete these rows, then call kanon_erase again.",
        )
    return number


def releases(db: Database) -> Sequence[Row]:
    """Return all releases with their certificates, by name."""
    return db.rows(statement("list_releases"))


def _existing_and_alone(db: Database, release: str) -> tuple[Row, int]:
    """Wait for calls that publish this release; returns its record as they left it, and the next number."""
    name: str = existing_release(db, release)["name"]
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
