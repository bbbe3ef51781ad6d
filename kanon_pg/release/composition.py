"""What several releases of a table disclose together: how many people have rows in the same classes of all.

A class of a release is the rows that it publishes with the same cells. Rows have one history if they are in
one class of each release, or shown in none of it. A person's candidates are the people who have a row of the
same history as one of the person's rows, for that row with the fewest. So this is what somebody sees who
knows which row of one release is which of another, by a sensitive value for example; others see no more.

The database finds the class of each row and counts the histories. What a release says of that differs:

- A version that is remembered, a release of which versions are remembered, and a release over time say which
  row is which: their classes are exact, whatever became of the table since.
- Of any other release the rules are applied to the table again, and the result is compared with what is
  stored. Rows that were not written since have the class that the rules give them. Rows that were are taken
  for what they look like (`Composition.assumed_rows`), although they may have changed places; of others
  nothing tells the class (`Composition.unseen_rows`). Both count as people who may be alone, and as nobody's
  candidates: so nobody has fewer candidates than is said, and no more people have too few.

Classes, rows and people are compared by hashes of 64 bits, as everywhere in this package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Any

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.db.catalog import RelationFacts, describe
from kanon_pg.db.failures import LOCK_NOT_AVAILABLE, SERIALIZATION_FAILURE, UNDEFINED_COLUMN, UNDEFINED_TABLE
from kanon_pg.db.identifiers import Fragment, Identifier, Literal, array_element
from kanon_pg.db.operation import Argument, Operation
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import SCHEMA as BASES_SCHEMA
from kanon_pg.db.readers import define_base, drop_base, require_reader
from kanon_pg.db.settings import exact_text, setting, working_memory
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import DatabaseError, InputError, KanonError, LimitExceeded, ReleaseBusy, UnknownName
from kanon_pg.relations.arguments import check_k
from kanon_pg.relations.subject import entity_column, resolve
from kanon_pg.release.base import OWNER, require_readable_base
from kanon_pg.release.plan import ROW, ReleasePlan, recorded_plan
from kanon_pg.release.record import existing_release, require_base
from kanon_pg.release.remembering import (
    RememberedVersion,
    hashed_cells,
    key_columns,
    linked_parts,
    remembered_versions,
    tells_rows_apart,
)
from kanon_pg.release.series.record import Series, find_series, plan_of_series, require_names
from kanon_pg.release.storage import storage_parts
from kanon_pg.runner.parent import memory_budget

MOST = 12
"""Releases at once; each pair of them is counted, too."""

_MOST_ROWS = 1_000_000
"""Rows of all releases that are compared unasked: it takes about twice as long as to refresh them."""

NOT_SEEN = (
    "Not seen: exports, versions that were not remembered, releases of other tables about the same people."
)
"""What no comparison of releases can know of."""

_LONGEST_WAIT = "500ms"
"""For locks: below ``deadlock_timeout``, so that a comparison ends before it ends what waits for it."""

_INTERVENTION = ("57", "08")
"""Classes of SQLSTATE: somebody intervened (a cancelled statement, a limit, a shutdown); no connection."""

_VERSION = re.compile(r"(.+)@([0-9]{1,18})", re.DOTALL)
_SOURCE = "kanon composition {}"
"""What reads a base relation during a call, in `BASES_SCHEMA`; a name that no release gives."""


@dataclass(frozen=True, slots=True)
class CompositionRequest:
    """The arguments of ``kanon_composition``.

    Parameters
    ----------
    releases : sequence of str
        Names as `kanon_pg.release.record.existing_release` takes them, or with a version: ``patients@3``. A
        release over time without a version stands for all its versions.
    k : int, optional
        Fewest people that should be left, >= 2.
    """

    releases: Annotated[
        Sequence[str],
        Argument("text[]", "Releases of one table, and remembered versions as in 'patients@3'."),
    ]
    k: Annotated[
        int | None, Argument("integer", "Fewest people; the least k of the releases unless given.")
    ] = None

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
    """What the readers of some releases see together.

    Parameters
    ----------
    releases : tuple of str
        The releases and versions.
    k : int
        Fewest people that should be left.
    people : int
        People of whom one of the releases shows a row, at most.
    smallest : int or None
        Candidates of the person who has the fewest, at least; None without people.
    average : float or None
        Candidates of a person on average, at least.
    people_below : int
        People with fewer than k candidates, at most.
    unseen_rows : int
        Rows of which nothing tells the class.
    assumed_rows : int
        Further rows that are only taken for those that a release shows, because they look like them. If
        there are neither of these, everything is exact.
    """

    releases: tuple[str, ...]
    k: int
    people: int
    smallest: int | None
    average: float | None
    people_below: int
    unseen_rows: int
    assumed_rows: int


@dataclass(frozen=True, slots=True)
class _ComparedRelease:
    """A release or a version of it.

    Parameters
    ----------
    label : str
        As it is shown.
    row : Row
        Record of the release.
    k : int
        Fewest people of its classes.
    entity : str or None
        Column that identifies a person.
    keys : tuple of str or None
        Columns that identify a row; None if it does not say which row is which.
    version : RememberedVersion or None
        The version, if it is remembered.
    series : Series or None
        The series that it is, or is a version of.
    whole : bool
        Whether it stands for all versions of a series.
    """

    label: str
    row: Row
    k: int
    entity: str | None
    keys: tuple[str, ...] | None = None
    version: RememberedVersion | None = None
    series: Series | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class _Base:
    """A base relation of the releases.

    Parameters
    ----------
    facts : RelationFacts
        The relation.
    keys : tuple of str
        Columns that say which of its rows is which row of the others; none if there are no others, and
        nothing needs to be known again.
    number : int
        Its place among the base relations.
    """

    facts: RelationFacts
    keys: tuple[str, ...]
    number: int

    @property
    def rows(self) -> Identifier:
        """Its rows inside the statement."""
        return Identifier.of(f"kanon_rows_{self.number}")

    @property
    def source(self) -> Identifier:
        """What reads it."""
        return Identifier.of(BASES_SCHEMA, _SOURCE.format(self.number))


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
        If there is no such release, or the version is not remembered.
    InputError
        If nothing tells which row of one of them is which of another.
    NotPermitted
        If the role may not read the base relation.
    ReleaseBusy
        If another call changed one of them meanwhile.
    """
    request.check()
    sources = [_source(db, name) for name in dict.fromkeys(request.releases)]
    oids = list(dict.fromkeys(one.row["base"] for one in sources))
    found = {oid: resolve(db, str(oid), role=role).relation for oid in oids}
    keys = _require_comparable(db, sources, found)
    bases = {oid: _Base(found[oid], keys[oid], number) for number, oid in enumerate(oids)}
    memory = memory_budget(db)
    with working_memory(db, memory), exact_text(db), _as_recorded(db, sources):
        db.progress("comparing releases")
        return _compared(db, bases, sources, request.k)


@contextmanager
def _as_recorded(db: Database, sources: Sequence[_ComparedRelease]) -> Iterator[None]:
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


def _are_recorded(db: Database, sources: Sequence[_ComparedRelease]) -> bool:
    return all(
        db.rows(statement("fetch_release"), one.row["name"]) == [one.row]
        and (
            find_series(db, one.row["name"]) == one.series
            if one.version is None
            else one.version in remembered_versions(db, one.row["name"])
        )
        for one in sources
    )


def _changed_meanwhile() -> ReleaseBusy:
    return ReleaseBusy(
        "Another session changes a release that is compared, or its table.",
        hint="Compare them again in a moment; if this stays so, publish them anew with kanon_anonymize.",
    )


# --- which releases -----------------------------------------------------------------------------------------


def _source(db: Database, given: str) -> _ComparedRelease:
    version = _VERSION.fullmatch(given)
    if version is None or db.rows(statement("fetch_release"), given):
        return _current(db, existing_release(db, given), given)
    name, number = version[1], int(version[2])
    row = existing_release(db, name)
    require_base(row)
    found = remembered_versions(db, row["name"])
    for one in found:
        if one.number == number and one.classes is not None:
            return _ComparedRelease(given, row, one.k, one.entity, one.keys, one)
    series = find_series(db, row["name"])
    if series is not None and series.version == number:
        return _ComparedRelease(given, row, row["k"], row["entity"], series.keys, series=series)
    kept = ", ".join(str(one.number) for one in reversed(found)) or "none"
    raise UnknownName(
        f"Version {number} of release {Identifier.of(row['name'])} is not remembered.",
        detail=f"Versions that are: {kept}.",
        hint=_how_to_remember(db, row, is_series=series is not None),
    )


def _how_to_remember(db: Database, row: Row, *, is_series: bool) -> str:
    """Say what has later versions of a release remembered."""
    if is_series:
        return (
            "Only a new series remembers versions: kanon_anonymize with options => "
            """'{"over_time": {"new_series": true}, "remember": 5}'."""
        )
    base = describe(db, str(row["base"]), OWNER)
    if tells_rows_apart(db, base):
        return """Remember versions from now on: kanon_anonymize with options => '{"remember": 5}'."""
    if base.can_have_key:
        return (
            f"Give {base.identifier} a primary key, then remember versions from now on: kanon_anonymize with "
            """options => '{"remember": 5}'."""
        )
    return f"No version can be: {base.identifier} has no primary key, by which rows are known again."


def _current(db: Database, row: Row, label: str) -> _ComparedRelease:
    require_base(row)
    series = find_series(db, row["name"])
    if series is not None:
        return _ComparedRelease(label, row, row["k"], row["entity"], series.keys, series=series, whole=True)
    if row["remember"]:
        for version in remembered_versions(db, row["name"])[:1]:
            return _ComparedRelease(label, row, row["k"], row["entity"], version.keys)
    return _ComparedRelease(label, row, row["k"], row["entity"])


def _require_comparable(
    db: Database, sources: Sequence[_ComparedRelease], bases: Mapping[int, RelationFacts]
) -> dict[int, tuple[str, ...]]:
    """Refuse releases between which nothing tells which row, or which person, is which.

    Returns
    -------
    dict of int to tuple of str
        Of each base relation the columns that identify a row.
    """
    if len(bases) > 1:
        return _keys_that_are_followed(db, sources, bases)
    first = sources[0]
    for one in sources[1:]:
        if one.entity != first.entity:
            raise InputError(
                f"People are not counted by the same column in {_named(first)} and {_named(one)}.",
                hint="Publish the older of them anew, as the table is declared now.",
            )
    keys = [one.keys for one in sources if one.keys is not None]
    # Without a key a row is known by its person and by what this one release publishes of it.
    is_of_one = len(keys) == len(sources) and len({one.row["name"] for one in sources}) == 1
    if len(set(keys)) > 1 or (() in keys and not is_of_one):
        raise InputError(
            "Nothing tells which row of one of these releases is which row of another.",
            detail="Rows are known by a primary key, the same when each of them was published.",
            hint="Give the table a primary key and publish them anew.",
        )
    return dict.fromkeys(bases, next(filter(None, keys), ()))


def _keys_that_are_followed(
    db: Database, sources: Sequence[_ComparedRelease], bases: Mapping[int, RelationFacts]
) -> dict[int, tuple[str, ...]]:
    """Return of each base relation the columns that are the key of the one table from which all of them come.

    Raises
    ------
    InputError
        If there is no such table, or one of them does not have its key.
    """
    first = sources[0]
    for one in sources[1:]:
        if one.row["base"] == first.row["base"]:
            continue
        if (
            db.row(statement("composition/same_table"), first.row["base"], one.row["base"])["relation"]
            is None
        ):
            raise InputError(
                f"{_named(first)} and {_named(one)} are releases of different tables.",
                detail="Their base relations read no table in common, so nothing tells whether they are "
                "about the same people. That does not make them safe: whoever can link them may know more.",
                hint="Releases can be compared whose base relations are one table, its partitions, or "
                "views of it that show its primary key.",
            )
    origins = {
        oid: {
            row["name"]: (row["relation"], row["origin"])
            for row in db.rows(statement("composition/origins"), oid)
        }
        for oid in bases
    }
    for table in dict.fromkeys(relation for relation, _ in origins[first.row["base"]].values()):
        named = [row["columns"] for row in db.rows(statement("series/row_keys"), table)]
        keys = {oid: _shown(origins[oid], table, named[0]) if named else () for oid in bases}
        people = {
            None if one.entity is None else origins[one.row["base"]].get(one.entity, (0, one.label))
            for one in sources
        }
        known = all(one.keys in (None, keys[one.row["base"]]) for one in sources)
        if all(keys.values()) and known and len(people) == 1:
            return keys
    names = ", ".join(one.label for one in sources)
    raise InputError(
        f"Nothing tells which row of one of these releases is which row of another: {names}.",
        detail="Their base relations read the same table, so they may be about the same people, but not all "
        "of them have its primary key, or the column by which people are counted, as the table has it. What "
        "they disclose together is not known; they are not safe together for that.",
        hint="Publish them from one table, or have the views show its primary key as it is.",
    )


def _shown(origins: Mapping[str, tuple[int, str]], table: int, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that show those of a table; none if one of these is missing."""
    names = {origin: name for name, origin in origins.items()}
    found = [names.get((table, column)) for column in columns]
    return () if None in found else tuple(filter(None, found))


def _named(source: _ComparedRelease) -> str:
    return f"release {source.label}"


# --- their classes ------------------------------------------------------------------------------------------


def _compared(
    db: Database, bases: Mapping[int, _Base], sources: Sequence[_ComparedRelease], k: int | None
) -> tuple[Composition, ...]:
    rules = {one.label: _rules(db, one.row) for one in sources if one.keys is None}
    described = [
        {
            "number": number,
            "name": Identifier.of(f"source_{number}"),
            "class": Identifier.of(f"class_{number}"),
            "unknown": Identifier.of(f"unknown_{number}"),
            "assumed": Identifier.of(f"assumed_{number}"),
            "text": _classes(db, one, rules.get(one.label), bases[one.row["base"]]),
        }
        for number, one in enumerate(sources)
    ]
    together = _subsets(len(sources))
    least = [min(sources[place].k for place in places) if k is None else k for places in together]
    found = db.rows(
        statement(
            "composition/compare",
            sources=described,
            by_person=sources[0].entity is not None,
            together=[
                {
                    "number": number,
                    "k": fewest,
                    "fewest": _fewest_of_any([sources[place] for place in places]),
                    **_conditions([described[place] for place in places]),
                }
                for number, (places, fewest) in enumerate(zip(together, least, strict=True))
            ],
            bases=_base_parts(db, bases, sources, rules),
        )
    )
    for base in bases.values():
        drop_base(db, base.source.name)
    compositions = [
        Composition(
            releases=tuple(sources[place].label for place in together[row["number"]]),
            k=least[row["number"]],
            people=row["people"],
            smallest=row["smallest"],
            average=row["average"],
            people_below=row["people_below"],
            unseen_rows=int(row["unseen_rows"]),
            assumed_rows=int(row["assumed_rows"]),
        )
        for row in sorted(found, key=lambda row: row["number"])
    ]
    _tell(db, bases[sources[0].row["base"]].facts, rules, compositions)
    return tuple(sorted(compositions, key=lambda one: _order(one, len(sources))))


def _fewest_of_any(sources: Sequence[_ComparedRelease]) -> int:
    """Return how many candidates anybody has, whatever is not known: a version by itself shows k people."""
    one, *others = sources
    return 1 if others or one.whole else one.k


def _conditions(sources: Sequence[Mapping[str, Any]]) -> dict[str, Fragment]:
    """Return what the statement says of a history in some of the releases."""
    unknown = [str(one["unknown"]) for one in sources]
    undecided = [*unknown, *(str(one["assumed"]) for one in sources)]
    return {
        "numbers": Fragment(", ".join(str(one["number"]) for one in sources)),
        "classes": Fragment(", ".join(str(one["class"]) for one in sources)),
        "shown": Fragment("(" + " OR ".join(f"{one['class']} <> 0" for one in sources) + ")"),
        "unknown": Fragment("(" + " OR ".join(unknown) + ")"),
        "undecided": Fragment("(" + " OR ".join(undecided) + ")"),
    }


def _subsets(count: int) -> list[tuple[int, ...]]:
    """Return all of them, each pair, and each by itself."""
    sizes = dict.fromkeys((count, min(2, count), 1))
    return [places for size in sizes for places in combinations(range(count), size)]


def _order(one: Composition, count: int) -> tuple[Any, ...]:
    size = len(one.releases)
    return -size if size in (count, 2, 1) else 0, -one.people_below, one.smallest or 0, one.releases


@dataclass(frozen=True, slots=True)
class _Rules:
    """By which rules a release was made that does not say which row is which.

    Parameters
    ----------
    plan : ReleasePlan
        Its columns and roles, and which privacy models it has, not their form.
    recorded : Row
        What its record has besides, as ``composition/recorded`` returns it.
    """

    plan: ReleasePlan
    recorded: Row


def _rules(db: Database, row: Row) -> _Rules:
    found = db.rows(statement("composition/recorded"), row["name"])
    if not found or not row["mapping_name"]:
        raise _changed_meanwhile()
    recorded = found[0]
    models = PrivacyModels.of(json.loads(recorded["parameters"]))
    return _Rules(recorded_plan(db, row, _base(db, row), models=models), recorded)


def _base(db: Database, row: Row) -> RelationFacts:
    return describe(db, str(row["base"]), OWNER)


def _classes(db: Database, source: _ComparedRelease, rules: _Rules | None, base: _Base) -> Fragment:
    """Return the query for the class of each row."""
    if source.version is not None and source.version.classes is not None:
        erased = Fragment(str(source.version.erased_rows))
        return render("composition/kept", version=source.version.classes, erased=erased)
    if rules is not None:
        return _recomputed(source.row, rules, base)
    storage = Identifier.of(source.row["storage_schema"], source.row["storage_name"])
    if source.series is None:
        plan = recorded_plan(db, source.row, _base(db, source.row))
        return render("composition/linked", **linked_parts(plan, storage))
    names = require_names(source.series)
    parts = linked_parts(plan_of_series(db, source.row, source.series, names), storage)
    if source.whole:
        parts |= {"members": names.members, "cohorts": names.cohorts}
    return render("composition/linked", **parts)


def _recomputed(row: Row, rules: _Rules, base: _Base) -> Fragment:
    plan, recorded = rules.plan, rules.recorded
    nodes = tuple(Identifier.of("kanon", name) for name in row["nodes"])
    parts = storage_parts(plan, nodes) | {
        "relation": base.rows,
        "source": None,
        # What passes as a person through the statements of the guard is the row.
        "entity": {"expression": Identifier.of(ROW)},
        "by_person": plan.entity is not None,
        "cells": [{"hashed": hashed} for hashed in hashed_cells(plan)],
        "storage": Identifier.of(row["storage_schema"], row["storage_name"]),
        "mapping": Identifier.of(row["mapping_schema"], row["mapping_name"]),
        "parts": Identifier.of(row["parts_schema"], row["parts_name"]) if row["parts_name"] else None,
        "hash_seed": recorded["hash_seed"],
        "settled": _settled(recorded, base.rows),
        "was_refreshed": recorded["was_refreshed"],
    }
    return render("composition/recomputed", **parts)


def _settled(recorded: Row, rows: Identifier) -> Fragment | None:
    """Return the condition that a row is as the release read it; None if nothing tells.

    A transaction before one wrote it, which has its number modulo 2^32, in a table that the release read.
    Numbers up to 2^31 lower count as lower; numbers below 3 say nothing.
    """
    before, tables = recorded["settled_before"], ", ".join(recorded["settled_tables"])
    if before is None or not tables:
        return None
    written = f"{rows}.kanon_written"
    return Fragment(
        f"({written} >= 3 AND (({written} - {before}) & 4294967295) >= 2147483648"
        f" AND {rows}.kanon_table = ANY ('{{{tables}}}'::oid[]))"
    )


def _base_parts(
    db: Database,
    bases: Mapping[int, _Base],
    sources: Sequence[_ComparedRelease],
    rules: Mapping[str, _Rules],
) -> list[dict[str, Any]]:
    """Return what the statement reads of the base relations: those whose rules are applied again."""
    found = []
    for oid, base in bases.items():
        own = [one for one in sources if one.row["base"] == oid and one.label in rules]
        if own:
            read = _read_base(db, base, own[0].entity, [rules[one.label] for one in own])
            found.append({"rows": base.rows, "relation": read})
            if len(bases) > 1:
                _require_different_rows(db, base, read)
    return found


def _require_different_rows(db: Database, base: _Base, read: Fragment) -> None:
    """Refuse a base relation, beside others, that has a row of their table several times.

    Raises
    ------
    InputError
        With what to do.
    """
    if db.row(statement("composition/repeats", relation=read))["repeats"]:
        raise InputError(
            f"{base.facts.identifier} has several rows for one row of the table that it reads, so nothing "
            "tells which row of one of these releases is which row of another.",
            hint="Publish them from one table, or have the view join nothing that repeats rows.",
        )


def _read_base(db: Database, base: _Base, entity: str | None, rules: Sequence[_Rules]) -> Fragment:
    """Return what reads a base relation."""
    seen, keys = describe(db, str(base.facts.oid), OWNER), base.keys
    require_readable_base(db, seen)
    is_versioned = any(one.recorded["settled_before"] is not None for one in rules)
    needed = {
        column.name
        for one in rules
        for column in (*(c.facts for c in one.plan.quasi_identifiers), *one.plan.carried)
    }
    person = None if entity is None else entity_column(seen.column(entity))
    text = render(
        "composition/base_rows",
        relation=seen.identifier,
        written=is_versioned,
        columns=[column.identifier for column in seen.columns if column.name in needed],
        keys=[
            {"expression": key.expression, "alias": key.alias, "hashed": key.hashed("keyed")}
            for key in key_columns(seen, keys)
        ],
        entity=None
        if person is None
        else {
            "expression": person.expression,
            "hashed": replace(person, alias=Identifier.of("kanon_who")).hashed("keyed"),
        },
    )
    rows: int = db.row(statement("estimate_rows"), str(seen.identifier))["rows"]
    return define_base(db, require_reader(db, seen), base.source, text, rows=rows)


# --- notices ------------------------------------------------------------------------------------------------


def _tell(
    db: Database, base: RelationFacts, rules: Mapping[str, _Rules], found: Sequence[Composition]
) -> None:
    """Say what was not seen."""
    unseen, remembers = found[0].unseen_rows, _what_remembers(db, base)
    if unseen:
        unclear = [one.releases[0] for one in found if len(one.releases) == 1 and one.unseen_rows]
        db.notice(
            f"The class of {unseen} rows is not known, in {', '.join(unclear)}: they changed since, or rows "
            "that look alike may have changed places. Whoever they are may be alone, and is counted so: "
            "there may be more candidates than said, not fewer. kanon_refresh brings a release up to date"
            + (f", and with {remembers} it says which row is which." if remembers else ".")
        )
    if found[0].assumed_rows:
        unclear = [one.releases[0] for one in found if len(one.releases) == 1 and one.assumed_rows]
        said = (
            f"All this is as far as is known: {found[0].assumed_rows} rows may have changed places in "
            f"{', '.join(unclear)} since. Whoever they are may be alone, and is counted so."
        )
        theirs = {name: rules[name] for name in rules if name in unclear}
        db.notice(" ".join([said, *_what_settles(theirs, remembers)]))
    for name, one in rules.items():
        if one.recorded["was_refreshed"]:
            db.notice(
                f"Release {name} was refreshed, and versions before are not remembered: what readers "
                "kept of them is not seen."
            )


def _what_remembers(db: Database, base: RelationFacts) -> str | None:
    """Return what makes a release say which row is which, None if nothing does."""
    if tells_rows_apart(db, base):
        return "option remember"
    return f"a primary key of {base.identifier} and option remember" if base.can_have_key else None


def _what_settles(rules: Mapping[str, _Rules], remembers: str | None) -> list[str]:
    """Say what makes the rows of releases known again: not for all of them a refresh does."""
    refreshed: list[str] = []
    published: list[str] = []
    for name, one in rules.items():
        if one.recorded["is_versioned"]:
            (refreshed if one.recorded["is_read_alike"] else published).append(name)
    advice = []
    if refreshed:
        advice.append(f"kanon_refresh brings {', '.join(refreshed)} up to date.")
    if published:
        advice.append(
            f"Of {', '.join(published)} it is not known which columns were read, and a refresh does not "
            "tell: publish anew with kanon_anonymize."
        )
    if remembers is not None:
        advice.append(f"With {remembers} a release says which row is which.")
    return advice


def notice_side_by_side(db: Database, release: str, *, role: str) -> None:
    """Say what a release and others disclose together, of what reads the same table, with the same readers.

    Parameters
    ----------
    release : str
        Name of a release that was published just now.
    role : str
        Who published it.
    """
    others = db.rows(statement("releases_for_same_readers"), release)[: MOST - 1]
    same = [row for row in others if row["is_same"]]
    if same:
        _notice_together(db, release, same, role)
    if len(same) < len(others):  # of views, partitions: rows may not be matched
        _notice_together(db, release, others, role)


def _notice_together(db: Database, release: str, others: Sequence[Row], role: str) -> None:
    names = [release, *(row["release"] for row in others)]
    first, *more = others[0]["readers"]
    who = f"{Identifier.of(first)} and {len(more)} other roles" if more else str(Identifier.of(first))
    views = ", ".join(str(Identifier.of("safe", name)) for name in names)
    array = "{" + ",".join(map(array_element, names)) + "}"
    call = f"SELECT * FROM kanon_composition({Literal(array)});"
    if sum(row["rows"] for row in others) + others[0]["own_rows"] > _MOST_ROWS:
        db.notice(f"{who} may read {views}. {call} says what they disclose together.")
        return
    whole = _compared_or_error(db, names, role)
    if isinstance(whole, KanonError):
        db.notice(f"{who} may read {views}. What they disclose together is not known: {whole.message}")
        return
    db.notice(f"{who} may read {views}: together these leave {_left_by(whole)}. {call} says more.")


class _Compared(Exception):
    """Undoes the savepoint of a comparison that succeeded."""


def _compared_or_error(db: Database, names: Sequence[str], role: str) -> Composition | KanonError:
    """Compare releases; what prevents it is returned, but for what ends the whole call.

    The comparison locks the other releases, which a call that publishes one of them wants for itself, while
    it may compare this one. A savepoint that is undone gives the locks back.
    """
    try:
        with db.savepoint():
            found = composition(db, CompositionRequest(names), role=role)[0]
            raise _Compared
    except _Compared:
        return found
    except KanonError as error:
        if _ends_the_call(error):
            raise
        return error


def _ends_the_call(error: KanonError) -> bool:
    """Whether the user or a limit stopped the call, or it cannot be completed whatever it does next."""
    if isinstance(error, DatabaseError):
        state = error.server_state
        return state is None or state == SERIALIZATION_FAILURE or state.startswith(_INTERVENTION)
    return isinstance(error, LimitExceeded)


def _left_by(whole: Composition) -> str:
    doubts = []
    if whole.unseen_rows:
        doubts.append(f"the class of {whole.unseen_rows} rows is not known")
    if whole.assumed_rows:
        doubts.append(f"{whole.assumed_rows} rows may have changed places since")
    most, least = ("up to ", ", perhaps") if doubts else ("", ",")
    people = f"{most}{whole.people_below} of {whole.people} people" if whole.people_below else "nobody"
    fewest = f"{least} somebody among {whole.smallest}" if whole.people_below else ""
    found = f"{people} among fewer than {whole.k}{fewest}"
    return f"{found}, as far as is known: {' and '.join(doubts)}" if doubts else found
