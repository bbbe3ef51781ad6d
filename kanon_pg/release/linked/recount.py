"""Counts again, by plain SQL on what is published, what joins of the views of linked tables show.

Nothing here is shared with what stores the tables: rows are found by the keys of the views, as readers find
them, and how the views join is read from the record of the release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_pg.core.privacy_models import PrivacyModels
from kanon_pg.db.catalog import RelationFacts
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import render, statement
from kanon_pg.errors import DEFECT, VerificationFailed
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.release.publish.recount import require_model_figures


@dataclass(frozen=True, slots=True)
class _View:
    """A view of a further table, and how it joins."""

    name: str
    parent: str
    """`name`, `parent`: its name, and that of the view above it."""
    up: tuple[str, ...]
    key: tuple[str, ...]
    """`up`, `key`: its columns that refer to the parent's key, and that key."""
    own_key: tuple[str, ...]
    """What others refer to."""
    is_known: bool
    """Whether somebody could know how many rows a person has."""

    @property
    def view(self) -> Identifier:
        """Its quoted name."""
        return Identifier.of("safe", self.name)

    def pairs(self) -> list[dict[str, Identifier]]:
        """Return the columns that it and its parent join by."""
        columns = zip(self.up, self.key, strict=True)
        return [{"own": Identifier.of(own), "key": Identifier.of(key)} for own, key in columns]


def _views(db: Database, release: str) -> dict[str, _View]:
    """Return the views of the further tables that are there, by name, each after its parent."""
    found: dict[str, _View] = {}
    for row in db.rows(statement("linked/tables"), release):
        up = json.loads(row["foreign_keys"])[0]
        if row["is_shown"] and up["view"] in (release, *found):
            found[row["name"]] = _View(
                name=row["name"],
                parent=up["view"],
                up=tuple(up["columns"]),
                key=tuple(up["refers_to"]),
                own_key=tuple(row["key_columns"]),
                is_known=row["numbers_known"],
            )
    return found


def recount_joins(db: Database, release: str, storage: Identifier) -> None:
    """Count that joins show the same of all people of a class, and that no key leads nowhere.

    Parameters
    ----------
    storage : Identifier
        That of the person table.

    Raises
    ------
    VerificationFailed
        If it is not so.
    """
    views = _views(db, release)
    dangling = different = 0
    for one in views.values():
        parent = Identifier.of("safe", one.parent)
        found = statement("linked/dangling", view=one.view, parent=parent, pairs=one.pairs())
        dangling += db.row(found)["rows"]
    known = [one for one in views.values() if one.is_known]
    if known:
        person = Identifier.of(next(one.key[0] for one in known if one.parent == release))
        tables = _seen_below(known, release)
        found = statement("linked/different", people=storage, person=person, tables=tables)
        different = db.row(found)["classes"]
    if dangling or different:
        raise VerificationFailed(
            f"The recount found {dangling} rows whose keys lead nowhere, and {different} classes of whose "
            "people joins show different rows; nothing was published.",
            hint="If the tables changed meanwhile, run it again. " + DEFECT,
        )


def _seen_below(known: Sequence[_View], parent: str) -> list[dict[str, Any]]:
    below = [one for one in known if one.parent == parent]
    return [
        {
            "alias": Identifier.of(f"c{number}"),
            "seen": render(
                "linked/seen",
                view=one.view,
                up=[Identifier.of(name) for name in one.up],
                key=[Identifier.of(name) for name in one.own_key],
                children=_seen_below(known, one.name),
            ),
        }
        for number, one in enumerate(below, 1)
    ]


def recount_models(
    db: Database,
    release: str,
    storage: Identifier,
    models: PrivacyModels,
    constrained: Mapping[str, tuple[RelationFacts, Sequence[CanonicalColumn]]],
) -> None:
    """Measure sensitive columns of the views, each with the classes of its people.

    Parameters
    ----------
    constrained : mapping
        Per name of a view its table, and the columns that the models constrain.

    Raises
    ------
    VerificationFailed
        If a class violates a model.
    """
    views = _views(db, release)
    for name, (table, columns) in constrained.items():
        steps: list[dict[str, object]] = []
        one = views[name]
        while True:
            is_top = one.parent == release
            steps.append(
                {
                    "view": storage if is_top else views[one.parent].view,
                    "alias": Identifier.of("p" if is_top else f"v{len(steps) + 1}"),
                    "below": Identifier.of(f"v{len(steps)}"),
                    "pairs": one.pairs(),
                }
            )
            if is_top:
                break
            one = views[one.parent]
        for column in columns:
            rows = render(
                "linked/with_classes",
                view=views[name].view, column=column.output, label=Literal(column.facts.name), steps=steps,
                person=Identifier.of(one.key[0]),
            )  # fmt: skip
            if not db.row(statement("count_rows", relation=rows))["rows"]:
                continue
            parts = {
                "relation": Fragment(f"{rows} AS rows_of_classes"),
                "columns": [{"column": Identifier.of("class"), "alias": Identifier.of("q1")}],
                "keys": Identifier.of("q1"),
                "suppressed": None,
                "many_classes": False,
                "base": table,
            }
            require_model_figures(db, parts, column, models, Identifier.of("person"), is_whole=False)
