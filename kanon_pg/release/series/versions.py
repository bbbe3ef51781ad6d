"""The versions of a release over time: the first, the next, and the one after a person was erased.

Each is one transaction. What is published of a row is decided when it enters, and stored; a version is
built from what is stored, never from the base relation, so that PostgreSQL's own ``REFRESH`` shows the same
version again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kanon_pg.db.catalog import describe
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import gather_statistics
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError
from kanon_pg.release.plan.advice import notice_empty, notice_redeclared
from kanon_pg.release.plan.base import OWNER, require_readable_base
from kanon_pg.release.plan.over_time import parse_over_time
from kanon_pg.release.plan.record import ReleaseRecord, base_changes, change_release, find_release, is_shown
from kanon_pg.release.publish.building import BuiltRelease
from kanon_pg.release.publish.node_tables import (
    create_unknown_view,
    forget_values,
    mark_seen,
    notice_unknown,
    write_hierarchies,
)
from kanon_pg.release.publish.recount import Recount, as_seen, recount
from kanon_pg.release.publish.remembering import erase_from_versions, person_number, remember
from kanon_pg.release.publish.report import losses_of, make_report, recounted
from kanon_pg.release.publish.solving import PublishingCall
from kanon_pg.release.publish.storage import (
    lasting_name,
    storage_names,
)
from kanon_pg.release.publish.view import drop_storage, name_storage, swap_view
from kanon_pg.release.series.building import Version, contradiction
from kanon_pg.release.series.entering import enter, let_enter, list_pending, own_columns
from kanon_pg.release.series.leaving import let_leave, require_different_rows
from kanon_pg.release.series.record import (
    Series,
    SeriesNames,
    create_series,
    described_as,
    find_series,
    plan_of_series,
    require_key,
    row_keys,
    store_series,
)


def require_no_series(db: Database, work: PublishingCall) -> None:
    """Refuse to publish under the name of a release over time, unless the request starts a new series."""
    series = find_series(db, work.plan.name)
    if series is None:
        return
    rules = parse_over_time(work.request.over_time)
    if rules is not None and rules.new_series:
        return
    name = Literal(work.plan.name)
    raise InputError(
        f"{work.plan.view} is a release over time, of which version {series.version} is published; "
        "publishing it anew would let readers compare versions that were not made for it.",
        hint=f"SELECT kanon_refresh({name}); publishes its next version. To start a new series all the same, "
        """give options => '{"over_time": {"new_series": true}}'; for an ordinary release """
        f"SELECT kanon_drop({name}); first.",
    )


def start_series(work: PublishingCall, generation: int) -> tuple[BuiltRelease, Version]:
    """Build the first version of a release over time."""
    db, request = work.db, work.request
    keys = row_keys(db, work.plan)
    names = SeriesNames.fresh(work.plan.name, generation)
    series = create_series(db, work.plan, request, names, keys, generation)
    # The storage reads the view of identities, whose columns keep their names.
    plan = replace(work.plan, base=described_as(db, names.current, work.plan.base))
    fresh = storage_names(plan, generation)
    hierarchies = write_hierarchies(db, plan, fresh.nodes)
    version = Version(db, plan, series, names, fresh.nodes, number=1)
    entering = version.scratch("entering")
    version.db.execute(
        statement(
            "series/create_entering",
            entering=entering,
            source=Fragment(f"{names.current}()"),
            columns=own_columns(plan),
            pending=None,
        )
    )
    mark_seen(db, plan, fresh.nodes, Fragment(str(entering)))
    counted, outcome = enter(version, work, entering, hierarchies, cohorts_ever=None)
    storage = _build(version)
    create_unknown_view(db, plan, replace(fresh, source=names.current), over_time=True)
    db.progress("recounting")
    found = recount(db, plan, storage, k=request.k, nodes=fresh.nodes)
    _require_cohorts(version, found.rows)
    if (found.rows, found.suppressed_cells) != (counted.rows, outcome.suppressed_cells):
        raise contradiction("rows or cells of the first version")
    _notice_earlier(version)
    built = BuiltRelease(
        plan=plan,
        names=replace(fresh, storage=storage, mapping=None, parts=None, source=None),
        shown=storage,
        rows=counted.rows,
        report=make_report(plan, counted, outcome, found, k=request.k, certified=True),
        losses=losses_of(outcome, found, certified=True),
        changes=base_changes(db, plan.base.oid),
        unseen_by=_this_transaction(db),
    )
    return built, version


def record_start(version: Version) -> None:
    """Record the first version of a release over time, after the release itself."""
    store_series(version.db, version.plan.name, version.series)
    _record_series(version)


def next_version(db: Database, record: ReleaseRecord, series: Series, *, memory: int) -> None:
    """Publish the next version of a release over time.

    Raises
    ------
    ReleaseError
        If the base relation is gone.
    NotPermitted
        If the owner role may not read it any more.
    UnsuitableRelation
        If it has become one that cannot be the base of a release, or lost the key by which rows are known.
    """
    names = series.names
    base = describe(db, str(record.base), OWNER)
    require_readable_base(db, base, whole=False)
    require_key(db, record, series)
    version = _reopened(db, record, series, names)
    db.progress("comparing")
    version.run("create_changes", changes=version.scratch("changes"))
    mark_seen(db, version.plan, version.nodes, Fragment(str(version.scratch("changes"))))
    require_different_rows(version)
    _notice_other_people(version)
    let_leave(version)
    list_pending(version)
    request = replace(series.request, over_time=None)
    work = PublishingCall(db, request, version.plan, OWNER, memory, started=time.monotonic())
    let_enter(version, work)
    version.drop("changes")
    _publish(version, record)
    _notice_version(version)
    notice_empty(db, base, version.plan.view)
    notice_redeclared(db, base, record)
    notice_unknown(db, record, base.identifier, over_time=True)


def erase_person(db: Database, record: ReleaseRecord, series: Series, person: Sequence[str]) -> None:
    """Erase the stored cells of a person and publish a version without their cohorts.

    Raises
    ------
    InputError
        If the values cannot be those of these columns.
    UnknownName
        If nothing is stored of this person.
    """
    version = _reopened(db, record, series, series.names)
    number = person_number(db, record, series.keys, person)
    erased = version.run("erase_members", number, version.number, cells=version.cells())
    erased += version.run("erase_pending", number)
    erase_from_versions(db, record, series.keys, number, elsewhere=erased)
    version.run("withhold_erased")
    forget_values(db, version.plan, version.nodes, Fragment(f"{version.names.current}()"))
    _publish(version, record)
    _notice_version(version)


def _reopened(db: Database, record: ReleaseRecord, series: Series, names: SeriesNames) -> Version:
    plan = plan_of_series(db, record, series)
    return Version(db, plan, series, names, record.nodes, series.version + 1)


def _build(version: Version) -> Identifier:
    """Build the view of a version and return its name."""
    version.db.progress("building the view")
    storage = version.scratch("storage")
    version.run(
        "create_version",
        storage=storage,
        k=version.k,
        cells=version.cells(),
        entity=version.plan.entity is not None,
    )
    gather_statistics(version.db, storage)
    return storage


def _publish(version: Version, record: ReleaseRecord) -> None:
    """Build, recount and publish a version in the place of the one before, and record it."""
    db, plan = version.db, version.plan
    storage, before = _build(version), lasting_name(plan.name)
    db.progress("recounting")
    rows = _require_cohorts(version, None)
    found = recount(db, plan, storage, k=version.k, nodes=version.nodes) if rows else Recount()
    if found.rows != rows:
        raise contradiction("rows of the cohorts that are shown")
    if db.row(statement("series/is_populated"), str(before))["populated"]:
        _compare(version, before, storage)
    db.progress("publishing")
    request = version.series.request
    if request.remember is not None:
        keys = version.series.keys
        remember(db, plan, storage, version.number, k=version.k, keys=keys, most=request.remember)
    _notice_dropped_view(version)
    swap_view(db, plan, storage, k=version.k, unseen_by=_this_transaction(db))
    if record.storage is not None:
        drop_storage(db, record.storage)
    figures = {
        "storage": str(name_storage(db, plan.name, storage)),
        "weighted_cost": found.weighted_cost,
        "base_changes_at_publish": base_changes(db, plan.base.oid),
    }
    unproven = dict.fromkeys(("lower_bound", "gap", "bound_method", "usefulness"))
    change_release(db, plan.name, recounted(plan, found) | figures | unproven | {"optimal": False})
    _record_series(version)


def _require_cohorts(version: Version, rows: int | None) -> int:
    """Count the people of each cohort on what is stored; returns the rows of those that are shown."""
    found = version.find("recount_cohorts", entity=version.plan.entity is not None)[0]
    if found["rows"] and found["smallest"] < version.k:
        raise contradiction(f"cohorts of at least {version.k} people")
    if rows is not None and rows != found["rows"]:
        raise contradiction("rows of the cohorts that are shown")
    shown: int = found["rows"]
    return shown


def _compare(version: Version, before: Identifier, storage: Identifier) -> None:
    """Compare a version with the one before, as a reader would: nobody may stand alone in what differs."""
    plan = version.plan
    columns = [
        {
            "output": c.output,
            "before": Identifier.of(f"o{place}"),
            "after": Identifier.of(f"n{place}"),
            "shown_before": as_seen(plan, c, f"o.{c.output}"),
            "shown_after": as_seen(plan, c, f"n.{c.output}"),
        }
        for place, c in enumerate(plan.quasi_identifiers)
    ]
    found = version.find(
        "compare_versions",
        before=before,
        storage=storage,
        columns=columns,
        entity=plan.entity is not None,
    )[0]
    fewest: Iterable[int | None] = [found["fewest_new"]]
    if version.rules.leavers != "show":
        fewest = [found["fewest_new"], found["fewest_gone"]]
    if any(people is not None and people < version.k for people in fewest):
        raise contradiction(f"differences of at least {version.k} people from the version before")


def _this_transaction(db: Database) -> Literal:
    """Return the number of this transaction, which must not read what it publishes, and may not be lost."""
    db.row(statement("series/be_durable"))
    return Literal(db.row(statement("series/this_transaction"))["number"])


def _record_series(version: Version) -> None:
    highest = version.find("highest_cohort")[0]["highest"]
    ever = max(version.series.cohorts_ever, highest)
    version.run("record_series", version.plan.name, version.number, ever)


def _notice_version(version: Version) -> None:
    series = find_series(version.db, version.plan.name)
    if series is None:
        return
    parts = []
    if series.pending_people:
        parts.append(
            f"{series.pending_people} people wait for a later version, the longest for {series.longest_wait}"
        )
    if series.withheld_rows:
        parts.append(f"{series.withheld_rows} rows are withheld until more people have left their cohorts")
    if series.retained_rows:
        parts.append(f"{series.retained_rows} rows of people who left are still shown")
    if parts:
        version.db.notice(f"Version {series.version} of {version.plan.view}: " + "; ".join(parts) + ".")


def _notice_dropped_view(version: Version) -> None:
    """Say that the view of the release was dropped, which perhaps was to end it, and is there again."""
    db, plan = version.db, version.plan
    if not is_shown(db, plan.name, plan.base.oid):
        db.notice(
            f"The view {plan.view} was dropped. This version publishes it anew, with the rights of a new "
            f"view; SELECT kanon_drop({Literal(plan.name)}); ends the release."
        )


def _notice_other_people(version: Version) -> None:
    """Say that rows changed hands: whose they are was counted when they entered, and is not counted anew."""
    rows = version.find("other_people", changes=version.scratch("changes"))[0]["rows"]
    if rows:
        version.db.notice(
            f"{rows} rows that {version.plan.view} shows are other people's than when they entered, and are "
            "still counted as theirs. If people were merged, fewer of them may be in a class: start a new "
            """series then, by kanon_anonymize with options => '{"over_time": {"new_series": true}}'."""
        )


def _notice_earlier(version: Version) -> None:
    """Say what an earlier release of the name and this one disclose together."""
    db, view = version.db, version.plan.view
    earlier = find_series(db, version.plan.name)
    if earlier is None or None in earlier.relations:
        if find_release(db, version.plan.name) is not None:
            db.notice(
                f"{view} was published before without over_time: who kept that release can compare it with "
                "this one. The guarantee about versions begins here."
            )
        return
    found = version.find("compare_series", k=version.k, earlier=earlier.names.members)[0]
    db.notice(
        f"A new series of {view} begins; its {earlier.version} earlier versions were not made to be compared "
        f"with it. Who kept the last of them and reads this one sees {found['exposed']} people among fewer "
        f"than {version.k}, the fewest among {found['smallest']}."
    )
