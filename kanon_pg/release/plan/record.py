"""The record of a release: how it is called, what ``kanon.release`` has of it, and how that is changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kanon_pg.db.catalog import parsed_name
from kanon_pg.db.identifiers import Identifier, Literal
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError, ReleaseError, UnknownName, as_given
from kanon_pg.relations.subject import RELEASE_SCHEMA

SHARDS_SCHEMA = "kanon_shards"
"""Schema of what is stored on all nodes of Citus; nobody but the owner role may use it."""

_RELATIONS = ("storage", "mapping", "parts", "source", "unknown", "people_view")
_NAMES = ("generalized", "quasi_identifiers", "sensitive", "insensitive")


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """What is recorded of a release; relations that were dropped are None."""

    name: str
    """Name of the view in schema ``safe``."""
    base: int
    """OID of the base relation."""
    has_base: bool
    """Whether it is there."""
    storage: Identifier | None
    """The relation behind the view."""
    mapping: Identifier | None
    parts: Identifier | None
    """`mapping`, `parts`: which pattern a row type has, and which rows of divided ones have which; none in
    a release over time."""
    source: Identifier | None
    """What reads the base relation with the rights of its reader."""
    unknown: Identifier | None
    """The view that counts rows whose values the hierarchies do not have."""
    nodes: tuple[Identifier, ...]
    """Per generalized column the table of what is published of its values."""
    generalized: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    insensitive: tuple[str, ...]
    """`generalized`, `quasi_identifiers`, `sensitive`, `insensitive`: columns, by their names when it was
    published."""
    k: int
    """Fewest people of a class."""
    entity: str | None
    """Column that identifies a person; None if each row is a person."""
    remember: int | None
    """How many versions are remembered, if any are."""
    people_view: Identifier | None
    """What has the people of linked tables; None of a single table."""
    secret: str | None
    """Name of the secret of its pseudonyms, if it has any."""
    subsets: int | None = None
    """Of how many quasi-identifiers each combination is shared by k people; None for all of them."""

    @classmethod
    def of_row(cls, row: Row) -> ReleaseRecord:
        """Return the record that a row of ``fetch_release`` has."""
        relations = {kind: None if row[kind] is None else Identifier.of(*row[kind]) for kind in _RELATIONS}
        names = {kind: tuple(row[kind]) for kind in _NAMES}
        nodes = tuple(Identifier.of("kanon", name) for name in row["nodes"])
        return cls(**{**row, **relations, **names, "nodes": nodes})

    @property
    def view(self) -> Identifier:
        """The view that analysts read."""
        return Identifier.of(RELEASE_SCHEMA, self.name)

    @property
    def published(self) -> tuple[str, ...]:
        """Columns that are published, as they are or not."""
        return self.quasi_identifiers + self.sensitive + self.insensitive

    @property
    def on_nodes(self) -> bool:
        """Whether the nodes of Citus store the rows."""
        return self.storage is not None and self.storage.parts[0] == SHARDS_SCHEMA

    @property
    def stored(self) -> Identifier:
        """The relation behind the view.

        Raises
        ------
        ReleaseError
            If it was dropped.
        """
        if self.storage is None:
            raise _without_base(
                self, "was dropped, or a column that the release shows, and the release with it."
            )
        return self.storage

    def require_base(self) -> None:
        """Refuse a release whose base relation was dropped.

        Raises
        ------
        ReleaseError
            With what to do.
        """
        stored = self.stored
        if not self.has_base and stored:  # of Citus
            raise _without_base(
                self,
                "is gone: it was dropped, or undistribute_table or alter_distributed_table made it anew.",
            )


def _without_base(record: ReleaseRecord, what: str) -> ReleaseError:
    return ReleaseError(
        f"The base table of this release {what}",
        hint=f"Remove what is left of the release: SELECT kanon_drop({Literal(record.name)});",
    )


def find_release(db: Database, name: str) -> ReleaseRecord | None:
    """Return the record of the release of exactly this name, None if there is none."""
    rows = db.rows(statement("fetch_release"), name)
    return ReleaseRecord.of_row(rows[0]) if rows else None


def existing_release(db: Database, given: str | None) -> ReleaseRecord:
    """Return the record of a release.

    Parameters
    ----------
    given : str or None
        Its name, exactly as in ``kanon.releases``; else ``name`` or ``safe.name`` as SQL writes
        it, with quotes where SQL needs them.

    Raises
    ------
    UnknownName
        If there is none.
    """
    for name in () if given is None else (given, name_in_sql(db, given)):
        if name is None:
            continue
        record = find_release(db, name)
        if record is not None:
            return record
        for of in db.rows(statement("linked/release_of"), name):
            raise UnknownName(
                f"{Identifier.of(RELEASE_SCHEMA, name)} is a table of release {as_given(of['release'])}.",
                hint="Name that release: what is done to it is done to all its tables.",
            )
    raise UnknownName(
        f"There is no release {as_given(given)}.",
        detail="A release is named like its view in schema safe, with or without the schema.",
        hint="SELECT * FROM kanon.releases lists them.",
    )


def name_in_sql(db: Database, given: str) -> str | None:
    """Return the bare name in ``name`` or ``safe.name`` as SQL writes these; None if it is neither."""
    match parsed_name(db, given):
        case [name] | ["safe", name]:
            return name
        case _:
            return None


def name_to_publish(db: Database, given: str) -> str:
    """Return the bare name of a release that is to be published.

    Parameters
    ----------
    given : str
        The name; or ``safe.name`` as SQL writes it, unless a release has exactly this name.

    Raises
    ------
    InputError
        If it begins with the schema, and what follows is no name as SQL writes it.
    """
    if not given.lower().startswith((f"{RELEASE_SCHEMA}.", f'"{RELEASE_SCHEMA}".')):
        return given
    if find_release(db, given) is not None:
        return given
    name = name_in_sql(db, given)
    if name is None:
        raise InputError(
            f"The release name begins with the schema {RELEASE_SCHEMA}, and what follows is no name as SQL "
            "writes it.",
            hint="Give the name of the view without its schema: release => 'other_name'.",
        )
    return name


def is_shown(db: Database, name: str, base: int) -> bool:
    """Whether the view of a release of a base relation is there."""
    shown: bool = db.row(statement("find_release"), name, base)["published"]
    return shown


def base_changes(db: Database, *bases: int) -> int | None:
    """Return how often the rows of base relations have changed; None if nothing counts that."""
    changes = [db.row(statement("base_changes"), base)["changes"] for base in bases]
    return None if None in changes else sum(changes)


def insert_release(db: Database, columns: Mapping[str, Any]) -> None:
    """Record a release: columns of ``kanon.release``."""
    db.execute(statement("store_release"), json.dumps(columns, default=list))


def change_release(db: Database, name: str, columns: Mapping[str, Any]) -> None:
    """Change columns of the record of a release that was brought up to date."""
    db.execute(statement("change_release"), name, json.dumps(columns))
