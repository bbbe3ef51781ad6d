"""A version of a release over time that is being built: its tables, and the statements that work on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kanon_pg.db.identifiers import Fragment, Identifier, derived_name
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import statement
from kanon_pg.errors import DEFECT, VerificationFailed
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.release.plan.over_time import OverTime
from kanon_pg.release.plan.planning import ReleasePlan
from kanon_pg.release.publish.remembering import hashed_cells
from kanon_pg.release.series.record import Series, SeriesNames


@dataclass(frozen=True, slots=True)
class Version:
    """A version that is being built."""

    db: Database
    """In the transaction that publishes it."""
    plan: ReleasePlan
    """What is published; the base relation has the columns of the view of identities."""
    series: Series
    """The record of the release."""
    names: SeriesNames
    """Its tables."""
    nodes: tuple[Identifier, ...]
    """The table of each generalized column."""
    number: int
    """Number of the version."""

    @property
    def k(self) -> int:
        """Fewest people of a class."""
        return self.series.request.k

    @property
    def rules(self) -> OverTime:
        """Rules of the release."""
        return self.series.rules

    def scratch(self, kind: str) -> Identifier:
        """Name a relation that exists in this transaction only."""
        return Identifier.of("kanon", derived_name(self.plan.name, "next", kind))

    def cells(self) -> list[dict[str, Any]]:
        """Return the published columns with the names of their stored cells."""
        quasi = {column.facts.name: column for column in self.plan.quasi_identifiers}
        carried = {column.name: CanonicalColumn(column, Identifier.of("c")) for column in self.plan.carried}
        published = [c.name for c in self.plan.base.columns if c.name in quasi or c.name in carried]
        return [
            {
                "output": Identifier.of(name),
                "cell": Identifier.of(f"p{number}"),
                "empty": self._empty(quasi.get(name) or carried[name]),
            }
            for number, name in enumerate(published, 1)
        ]

    def _empty(self, column: CanonicalColumn) -> Fragment:
        generalized = self.plan.hierarchy_of(column)
        return column.suppressed if generalized is None else Fragment("NULL")

    def run(self, query: str, *arguments: Any, **parts: Any) -> int:
        """Run a statement of ``sql/statements/series.sql`` on the tables of this release."""
        return self.db.execute(statement(f"series/{query}", **self.names.parts(), **parts), *arguments)

    def find(self, query: str, *arguments: Any, **parts: Any) -> Sequence[Row]:
        """Return the rows of such a statement."""
        return self.db.rows(statement(f"series/{query}", **self.names.parts(), **parts), *arguments)

    def drop(self, *kinds: str) -> None:
        """Drop tables that lived in this transaction."""
        for kind in kinds:
            self.db.execute(statement("drop_table", table=self.scratch(kind)))

    def class_parts(self, storage: Identifier) -> dict[str, Any]:
        """Return what templates need to number the classes of a storage."""
        plan = self.plan
        return {
            "storage": storage,
            "entity": plan.entity is not None,
            "hashed": hashed_cells(plan),
            "classes": [column.output for column in plan.quasi_identifiers],
        }


def contradiction(what: str) -> VerificationFailed:
    """Return the error that something is not as it was built."""
    return VerificationFailed(
        f"The independent recount does not find the {what}; nothing was published.",
        hint=DEFECT,
    )
