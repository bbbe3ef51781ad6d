"""Versions of releases that are remembered: which row was in which class, to be compared with others.

A version is remembered when it is published, so that nothing has to be found out about it later: its storage
says which row is which then, also after rows changed, and rows that look alike are told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_pg.db.catalog import RelationFacts, describe
from kanon_pg.db.identifiers import Fragment, Identifier, Literal, derived_name
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.readers import gather_statistics, reading
from kanon_pg.db.statements import statement
from kanon_pg.errors import DatabaseError, InputError, UnknownName, UnsuitableColumn, UnsuitableRelation
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.relations.subject import entity_column
from kanon_pg.release.plan.base import OWNER
from kanon_pg.release.plan.planning import ROW, ReleasePlan
from kanon_pg.release.plan.record import ReleaseRecord

_NOT_OF_THE_TYPE = ("22", "23")
"""Classes of SQLSTATE: data that a type, or a domain's constraint, does not take."""


@dataclass(frozen=True, slots=True)
class RememberedVersion:
    """A version that is remembered."""

    number: int
    """Its number."""
    classes: Identifier | None
    """The table of its rows; None if somebody dropped it."""
    keys: tuple[str, ...]
    """Columns that identified a row."""
    k: int
    """Fewest people of a class."""
    entity: str | None
    """Column that identified a person."""
    erased_rows: int
    """Rows of people who were erased from it."""


def remembered_versions(db: Database, release: str) -> tuple[RememberedVersion, ...]:
    """Return the versions of a release that are remembered, the latest first."""
    return tuple(
        RememberedVersion(
            number=row["version"],
            classes=None if row["classes"] is None else Identifier.of("kanon", row["classes"]),
            keys=tuple(row["key_columns"]),
            k=row["k"],
            entity=row["entity"],
            erased_rows=row["erased_rows"],
        )
        for row in db.rows(statement("composition/fetch_versions"), release)
    )


def with_row_keys(db: Database, plan: ReleasePlan) -> ReleasePlan:
    """Return a plan whose storage says which row is which.

    Raises
    ------
    UnsuitableRelation
        If the base relation has no key.
    UnsuitableColumn
        If a column that is published has the name of what the storage adds.
    """
    found = db.rows(statement("series/row_keys"), plan.base.oid)
    if not found:
        leave_out = "leave out remember in options"
        raise UnsuitableRelation(
            f"Nothing tells which row of {plan.base.identifier} is which from one version to the next, so no "
            "version can be remembered.",
            hint=f"Give the table a primary key, or {leave_out}."
            if plan.base.can_have_key
            else f"{leave_out.capitalize()}, or publish a table that has a primary key.",
        )
    published = {column.facts.name for column in plan.quasi_identifiers} | {c.name for c in plan.carried}
    if ROW in published:
        raise UnsuitableColumn(
            f'A column is named "{ROW}", which a release that is remembered adds itself.',
            hint="Rename the column, or use a view that renames it.",
        )
    return replace(plan, keys=key_columns(plan.base, tuple(found[0]["columns"])))


def tells_rows_apart(db: Database, base: RelationFacts) -> bool:
    """Return whether a relation has a key, by which versions of its releases can be remembered."""
    return bool(db.rows(statement("series/row_keys"), base.oid))


def key_now(db: Database, base: int, names: Sequence[str], view: Identifier | None = None) -> Row:
    """Return what became of the columns that identified a row.

    Parameters
    ----------
    names : sequence of str
        The columns, as they were called.
    view : Identifier, optional
        A view of them, which follows them when they are renamed.

    Returns
    -------
    Row
        ``columns``, those that are there, as they are called now; ``holds``, whether a key over all or some
        of them tells rows apart.
    """
    return db.row(statement("series/key_still_holds"), base, None if view is None else str(view), list(names))


def key_columns(base: RelationFacts, names: Sequence[str]) -> tuple[CanonicalColumn, ...]:
    """Return the columns that identify a row, under aliases of their own."""
    return tuple(
        CanonicalColumn(base.column(name), Identifier.of(f"kanon_k{number}"))
        for number, name in enumerate(names, 1)
    )


def remember(
    db: Database,
    plan: ReleasePlan,
    storage: Identifier,
    number: int,
    *,
    k: int,
    keys: Sequence[str],
    most: int,
) -> None:
    """Remember the version that a storage shows, and forget the oldest ones."""
    version = Identifier.of("kanon", derived_name(plan.name, f"version{number}"))
    db.execute(statement("composition/remember", version=version, **linked_parts(plan, storage)))
    gather_statistics(db, version)
    db.execute(
        statement("composition/store_version"),
        plan.name,
        number,
        str(version),
        list(keys),
        k,
        None if plan.entity is None else plan.entity.facts.name,
    )
    forgotten = remembered_versions(db, plan.name)[most:]
    forget_versions(db, plan.name, forgotten)
    space = db.row(statement("composition/space"), plan.name)
    taken = f"{space['versions']} in all, which take {space['size']}"
    text = f"Version {number} of {plan.view} is remembered, {taken}"
    if forgotten:
        text += f"; {_are_forgotten(forgotten)}, as option remember keeps {most}"
    db.notice(f"{text}.")


def notice_forgotten(db: Database, release: Identifier, versions: Sequence[RememberedVersion]) -> None:
    """Say that all remembered versions of a release are forgotten, because another one takes its name."""
    if versions:
        db.notice(
            f"Of {release}, {_are_forgotten(versions)}: only kanon_anonymize with option remember, for the "
            "same table and without over_time, goes on with them."
        )


def _are_forgotten(versions: Sequence[RememberedVersion]) -> str:
    numbers = [str(version.number) for version in reversed(versions)]
    if len(numbers) == 1:
        return f"version {numbers[0]} is forgotten"
    return f"versions {', '.join(numbers[:-1])} and {numbers[-1]} are forgotten"


def forget_versions(db: Database, release: str, versions: Sequence[RememberedVersion]) -> None:
    """Forget versions of a release."""
    for version in versions:
        if version.classes is not None:
            db.execute(statement("drop_table", table=version.classes))
        db.execute(statement("composition/forget_version"), release, version.number)


def person_number(db: Database, record: ReleaseRecord, keys: Sequence[str], person: Sequence[str]) -> int:
    """Return the number by which storages and versions know a person.

    Parameters
    ----------
    keys : sequence of str
        Columns that identify a row, which is a person unless the release has an entity.
    person : sequence of str
        The value of the column that identifies people, or those of the key, as text.

    Raises
    ------
    InputError
        If the values cannot be those of these columns.
    """
    named = _people_by(db, record, keys)
    names = ", ".join(key.facts.name for key in named)
    if len(person) != len(named):
        raise InputError(
            f"{len(person)} values were given for a person.",
            hint=f"Give one text for each of these columns: {names}.",
        )
    parts = [
        part
        | {
            "name": key.facts.identifier,
            "label": Literal(key.facts.name),
            "type": Fragment(key.facts.undomained),
        }
        for key, part in zip(named, _hashed_parts(named), strict=True)
    ]
    try:
        with db.savepoint(), reading(db, describe(db, str(record.base), OWNER)):
            (found,) = db.read(statement("series/person_number", keys=parts), list(person))
    except DatabaseError as error:
        if not (error.server_state or "").startswith(_NOT_OF_THE_TYPE):
            raise
        raise InputError(
            "The values that were given are none of the columns that identify people.",
            hint=f"Give one text for each of these columns: {names}.",
        ) from error
    number: int = found["number"]
    return number


def _people_by(db: Database, record: ReleaseRecord, keys: Sequence[str]) -> tuple[CanonicalColumn, ...]:
    base = describe(db, str(record.base), OWNER)
    if record.entity is not None:
        return (entity_column(base.column(record.entity)),)
    return key_columns(base, keys)


def _hashed_parts(columns: Sequence[CanonicalColumn]) -> list[dict[str, Any]]:
    return [
        {"hashed": one.hashed("keyed"), "expression": one.expression, "alias": one.alias} for one in columns
    ]


def is_in_base(db: Database, record: ReleaseRecord, keys: Sequence[str], number: int) -> bool:
    """Return whether the base relation of a release has rows of a person, see `person_number`."""
    base = describe(db, str(record.base), OWNER)
    parts = _hashed_parts(_people_by(db, record, keys))
    with reading(db, base):
        (found,) = db.read(statement("composition/has_person", relation=base.identifier, keys=parts), number)
    is_there: bool = found["found"]
    return is_there


def erase_from_versions(
    db: Database, record: ReleaseRecord, keys: Sequence[str], number: int, *, elsewhere: int = 0
) -> None:
    """Erase a person from the versions that are remembered.

    A version that knew people by other columns cannot tell where this one is, and is forgotten; not for
    somebody who is found nowhere, who is a mistake.

    Parameters
    ----------
    record, keys, number
        See `person_number`.
    elsewhere : int
        Rows of the person that were erased from the release itself.

    Raises
    ------
    UnknownName
        If there were none, and no version has any.
    """
    known: list[RememberedVersion] = []
    others: list[RememberedVersion] = []
    for version in remembered_versions(db, record.name):
        if version.classes is None:
            continue
        is_known = version.entity == record.entity and (
            record.entity is not None or version.keys == tuple(keys)
        )
        (known if is_known else others).append(version)
    erased = elsewhere
    for version in known:
        erase = statement("composition/erase_version", version=version.classes)
        erased += db.execute(erase, number, record.name, version.number)
    if not erased:
        raise _nobody_to_erase(others)
    forget_versions(db, record.name, others)
    for version in others:
        db.notice(
            f"Version {version.number} of release {Identifier.of(record.name)} knew people by other "
            "columns and is forgotten as a whole."
        )


def _nobody_to_erase(others: Sequence[RememberedVersion]) -> UnknownName:
    """Return the refusal to erase somebody of whom nothing is found, nor in versions that can be searched."""
    hint = "Give the value of the column that identifies people, or of the key, as text."
    if not others:
        return UnknownName("The release has no rows of this person.", hint=hint)
    numbers = ", ".join(str(version.number) for version in reversed(others))
    return UnknownName(
        "The release has no rows of this person, as far as they can be searched.",
        detail=f"Versions that knew people by other columns: {numbers}.",
        hint=f"{hint} To forget such versions, publish anew with a smaller number in option remember.",
    )


def linked_parts(plan: ReleasePlan, storage: Identifier) -> dict[str, Any]:
    """Return what templates take from a storage that identifies its rows."""
    return {
        "storage": storage,
        "by_person": plan.entity is not None,
        "cells": [{"hashed": hashed} for hashed in hashed_cells(plan)],
        "cohorts": None,
        "members": None,
    }


def hashed_cells(plan: ReleasePlan) -> list[Any]:
    """Return what stands for the cells of a storage with the alias ``s`` in the hash of a class."""
    hashed = []
    for column in plan.quasi_identifiers:
        output = CanonicalColumn(column.facts, column.output)
        generalized = plan.hierarchy_of(column)
        hashed.append(
            output.hashed("s") if generalized is None else replace(generalized, column=output).hashed("s")
        )
    return hashed
