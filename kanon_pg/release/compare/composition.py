"""What several releases of a table disclose together: how many people have rows in the same classes of all.

A class of a release is the rows that it publishes with the same cells. Rows have one history if they are in
one class of each release, or shown in none of it. A person's candidates are the people who have a row of the
same history as one of the person's rows, for that row with the fewest. So this is what somebody sees who
knows which row of one release is which of another, by a sensitive value for example; others see no more.

Only what says which row is which is compared: a version that is remembered, a release of which versions are
remembered, and a release over time. Their classes are exact, whatever became of the table since.

Classes, rows and people are compared by hashes of 64 bits, as everywhere in this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any

from kanon_pg.db.catalog import describe, describe_readable
from kanon_pg.db.failures import LOCK_NOT_AVAILABLE, UNDEFINED_COLUMN, UNDEFINED_TABLE
from kanon_pg.db.identifiers import Fragment, Identifier
from kanon_pg.db.operation import Argument, Operation
from kanon_pg.db.protocol import Database
from kanon_pg.db.settings import exact_text, setting, working_memory
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import DatabaseError, InputError, ReleaseBusy, UnknownName
from kanon_pg.relations.arguments import check_k
from kanon_pg.release.plan.base import OWNER
from kanon_pg.release.plan.planning import recorded_plan
from kanon_pg.release.plan.record import ReleaseRecord, existing_release, find_release
from kanon_pg.release.publish.remembering import (
    RememberedVersion,
    linked_parts,
    remembered_versions,
    tells_rows_apart,
)
from kanon_pg.release.series.record import Series, find_series, plan_of_series
from kanon_pg.runner.parent import memory_budget

MOST = 12
"""Releases at once; each pair of them is counted, too."""

NOT_SEEN = (
    "Not seen: exports, versions that were not remembered, releases of other tables about the same people."
)
"""What no comparison of releases can know of."""

_LONGEST_WAIT = "500ms"
"""For locks: below ``deadlock_timeout``, so that a comparison ends before it ends what waits for it."""

_VERSION = re.compile(r"(.+)@([0-9]{1,18})", re.DOTALL)
_REMEMBER = """kanon_anonymize with options => '{"remember": 5}'."""


@dataclass(frozen=True, slots=True)
class CompositionRequest:
    """The arguments of ``kanon_composition``."""

    releases: Annotated[
        Sequence[str],
        Argument("text[]", "Releases of one table, and remembered versions as in 'patients@3'."),
    ]
    """Names as `kanon_pg.release.plan.record.existing_release` takes them, or with a version: ``patients@3``.
    A release over time without a version stands for all its versions."""
    k: Annotated[
        int | None, Argument("integer", "Fewest people; the least k of the releases unless given.")
    ] = None
    """Fewest people that should be left, >= 2."""

    def check(self) -> None:
        """Refuse what cannot be compared whatever the database holds."""
        names = self.releases
        if names is None or not all(isinstance(name, str) for name in names):
            raise InputError(
                "releases must be a plain list of names.", hint="For example: '{patients,patients_wide}'."
            )
        if not 1 <= len(names) <= MOST:
            raise InputError(
                f"{len(names)} releases were given.", hint=f"Name from 1 to {MOST} releases of one table."
            )
        if self.k is not None:
            check_k(self.k)


COMPOSITION = Operation(CompositionRequest)


@dataclass(frozen=True, slots=True)
class Composition:
    """What the readers of some releases see together."""

    releases: tuple[str, ...]
    """The releases and versions."""
    k: int
    """Fewest people that should be left."""
    people: int
    """People of whom one of the releases shows a row, at most."""
    smallest: int | None
    """Candidates of the person who has the fewest, at least; None without people."""
    average: float | None
    """Candidates of a person on average, at least."""
    people_below: int
    """People with fewer than k candidates, at most."""
    unseen_rows: int
    """Rows of people who were erased from versions since; without any, everything is exact."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """A release, or a version of it, that says which row is which."""

    label: str
    """As it is shown."""
    record: ReleaseRecord
    """Record of the release."""
    k: int
    """Fewest people of its classes."""
    entity: str | None
    """Column that identifies a person."""
    keys: tuple[str, ...]
    """Columns that identify a row."""
    version: RememberedVersion | None = None
    """The version, if it is remembered and not what readers see."""
    series: Series | None = None
    """The series that it is, or is a version of."""
    all_versions: bool = False
    """Whether it stands for all versions of a series."""


def composition(db: Database, request: CompositionRequest, *, role: str) -> tuple[Composition, ...]:
    """Say what releases of one table disclose together.

    Parameters
    ----------
    role : str
        Whose rights count: it has to be allowed to read the base relation.

    Returns
    -------
    tuple of Composition
        Of all of them, of each pair, of each: pairs with the most people below k first.

    Raises
    ------
    UnknownName
        If there is no such release, or it or the version is not remembered.
    InputError
        If nothing tells which row of one of them is which of another.
    NotPermitted
        If the role may not read the base relation.
    ReleaseBusy
        If another call changed one of them meanwhile.
    """
    request.check()
    sources = [_source(db, name) for name in dict.fromkeys(request.releases)]
    for base in dict.fromkeys(one.record.base for one in sources):
        describe_readable(db, str(base), role)
    _require_comparable(db, sources)
    memory = memory_budget(db)
    with working_memory(db, memory), exact_text(db), _as_recorded(db, sources):
        db.progress("comparing releases")
        return _compared(db, sources, request.k)


@contextmanager
def _as_recorded(db: Database, sources: Sequence[_Compared]) -> Iterator[None]:
    """Refuse what the block finds, or fails at, unless all releases are recorded as before at its end.

    Nor does it wait for those who change them: who drops a release locks its relations one by one, and a
    comparison that holds one and waits for another would be a deadlock.
    """
    try:
        with db.savepoint(), setting(db, "lock_timeout", _LONGEST_WAIT):
            yield
    except DatabaseError as error:
        # relations go at once for everybody, also where the transaction sees the record as it was
        if error.server_state not in (UNDEFINED_TABLE, UNDEFINED_COLUMN, LOCK_NOT_AVAILABLE):
            raise
        raise _changed_meanwhile() from error
    if not _are_recorded(db, sources):
        raise _changed_meanwhile()


def _are_recorded(db: Database, sources: Sequence[_Compared]) -> bool:
    return all(
        find_release(db, one.record.name) == one.record
        and (
            find_series(db, one.record.name) == one.series
            if one.version is None
            else one.version in remembered_versions(db, one.record.name)
        )
        for one in sources
    )


def _changed_meanwhile() -> ReleaseBusy:
    return ReleaseBusy(
        "Another session changes a release that is compared, or its table.",
        hint="Compare them again in a moment; if this stays so, publish them anew with kanon_anonymize.",
    )


def _source(db: Database, given: str) -> _Compared:
    version = _VERSION.fullmatch(given)
    if version is None or find_release(db, given) is not None:
        return _current(db, existing_release(db, given), given)
    name, number = version[1], int(version[2])
    record = existing_release(db, name)
    record.require_base()
    kept = remembered_versions(db, record.name)
    for one in kept:
        if one.number == number and one.classes is not None:
            return _Compared(given, record, one.k, one.entity, one.keys, one)
    series = find_series(db, record.name)
    if series is not None and series.version == number:
        return _Compared(given, record, record.k, record.entity, series.keys, series=series)
    numbers = ", ".join(str(one.number) for one in reversed(kept)) or "none"
    raise UnknownName(
        f"Version {number} of release {Identifier.of(record.name)} is not remembered.",
        detail=f"Versions that are: {numbers}.",
        hint=_how_to_remember(db, record, is_series=series is not None),
    )


def _current(db: Database, record: ReleaseRecord, label: str) -> _Compared:
    record.require_base()
    series = find_series(db, record.name)
    if series is not None:
        return _Compared(
            label, record, record.k, record.entity, series.keys, series=series, all_versions=True
        )
    latest = remembered_versions(db, record.name)[:1] if record.remember else ()
    for version in latest:
        return _Compared(label, record, record.k, record.entity, version.keys)
    raise UnknownName(
        f"Release {Identifier.of(record.name)} is not remembered: nothing tells which of its rows is which.",
        hint=_how_to_remember(db, record),
    )


def _how_to_remember(db: Database, record: ReleaseRecord, *, is_series: bool = False) -> str:
    """Say what has versions of a release remembered."""
    if is_series:
        return (
            "Only a new series remembers versions: kanon_anonymize with options => "
            """'{"over_time": {"new_series": true}, "remember": 5}'."""
        )
    if record.secret is not None:
        return "Releases with pseudonyms cannot be remembered: give their readers one, or publish without."
    base = describe(db, str(record.base), OWNER)
    if tells_rows_apart(db, base):
        return f"Publish it so that versions are remembered from now on: {_REMEMBER}"
    if base.can_have_key:
        return f"Give {base.identifier} a primary key, then have versions remembered: {_REMEMBER}"
    return f"No version can be: {base.identifier} has no primary key, by which rows are known again."


def _require_comparable(db: Database, sources: Sequence[_Compared]) -> None:
    """Refuse releases unless it is known which row, and which person, of one is which of another."""
    first, *others = sources
    table = _table_of(db, first)
    for one in others:
        if _table_of(db, one) != table:
            raise InputError(
                f"Releases {first.label} and {one.label} are of different tables.",
                detail="Nothing tells whether they are about the same people. That does not make them safe: "
                "whoever can link them may know more.",
                hint="Releases of one table, or of it and its partitions, can be compared.",
            )
        if one.entity != first.entity:
            raise InputError(
                f"People are not counted by the same column in releases {first.label} and {one.label}.",
                hint="Publish the older of them anew, as the table is declared now.",
            )
        if one.keys != first.keys:
            raise InputError(
                f"Nothing tells which row of release {first.label} is which of release {one.label}.",
                detail="Rows are known by a primary key, the same when each of them was published.",
                hint="Publish the older of them anew.",
            )


def _table_of(db: Database, source: _Compared) -> int:
    """Return the table whose rows a release shows: of a partition the partitioned one."""
    table: int = db.row(statement("composition/partitioned"), source.record.base)["relation"]
    return table


def _compared(db: Database, sources: Sequence[_Compared], k: int | None) -> tuple[Composition, ...]:
    together = _subsets(len(sources))
    least = [min(sources[place].k for place in places) if k is None else k for places in together]
    unseen = [sum(_erased(sources[place]) for place in places) for places in together]
    classes = [Identifier.of(f"class_{number}") for number in range(len(sources))]
    counted = db.rows(
        statement(
            "composition/compare",
            sources=[
                {"number": number, "class": classes[number], "text": _classes(db, one)}
                for number, one in enumerate(sources)
            ],
            by_person=sources[0].entity is not None,
            together=[
                {
                    "number": number,
                    "k": least[number],
                    "unseen": unseen[number],
                    "fewest": _fewest_of_any([sources[place] for place in places]),
                    "classes": Fragment(", ".join(str(classes[place]) for place in places)),
                    "shown": Fragment(" OR ".join(f"{classes[place]} <> 0" for place in places)),
                }
                for number, places in enumerate(together)
            ],
        )
    )
    compositions = [
        Composition(
            releases=tuple(sources[place].label for place in together[row["number"]]),
            k=least[row["number"]],
            people=row["people"],
            smallest=row["smallest"],
            average=row["average"],
            people_below=row["people_below"],
            unseen_rows=unseen[row["number"]],
        )
        for row in counted
    ]
    return tuple(sorted(compositions, key=lambda one: _order(one, len(sources))))


def _erased(source: _Compared) -> int:
    return 0 if source.version is None else source.version.erased_rows


def _fewest_of_any(sources: Sequence[_Compared]) -> int:
    """Return how many candidates anybody has, whoever was erased: a version by itself shows k people."""
    one, *others = sources
    return 1 if others or one.all_versions else one.k


def _subsets(count: int) -> list[tuple[int, ...]]:
    """Return all of them, each pair, and each by itself."""
    sizes = dict.fromkeys((count, min(2, count), 1))
    return [places for size in sizes for places in combinations(range(count), size)]


def _order(one: Composition, count: int) -> tuple[Any, ...]:
    size = len(one.releases)
    return -size if size in (count, 2, 1) else 0, -one.people_below, one.smallest or 0, one.releases


def _classes(db: Database, source: _Compared) -> Fragment:
    """Return the query for the class of each row."""
    if source.version is not None:
        return render("composition/kept", version=source.version.classes)
    return render("composition/linked", **_linked(db, source))


def _linked(db: Database, source: _Compared) -> Mapping[str, Any]:
    if source.series is None:
        base = describe(db, str(source.record.base), OWNER)
        return linked_parts(recorded_plan(db, source.record, base), source.record.stored)
    names = source.series.names
    parts = linked_parts(plan_of_series(db, source.record, source.series), source.record.stored)
    return parts | {"members": names.members, "cohorts": names.cohorts} if source.all_versions else parts
