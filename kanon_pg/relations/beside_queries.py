"""Releases of relations that answer queries: said or refused, as the relation's rules want it.

No record of answers knows what a release shows, so figures and a release can be combined; the page
``docs/threat-model-queries.md`` says to what.
"""

from __future__ import annotations

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database, Row
from kanon_pg.db.statements import statement
from kanon_pg.errors import InputError

BESIDE_RELEASES = ("allow", "warn", "refuse")
"""Rules for releases where those who may query a relation may read a release of it, too."""


def check_beside_queries(db: Database, *, relation: int | None = None, release: str | None = None) -> None:
    """Refuse releases beside queries for the same people, or say that there are some.

    Called after a relation was protected, or a release published: whoever may read it has the right by then.
    """
    for row in db.rows(statement("releases_beside_queries"), relation, release):
        if row["rule"] == "allow":
            continue
        if row["rule"] == "refuse":
            raise _refusal(row)
        db.notice(
            f"Role {Identifier.of(row['reader'])} may query {row['relation']} and read its release "
            f"{Identifier.of('safe', row['release'])}: figures and rows can be combined, and no record of "
            "answers counts that. The rule beside_releases refuses or allows it."
        )


def refuse_beside_queries(db: Database, relation: int, release: str) -> None:
    """Refuse a release of a relation that `check_beside_queries` will refuse, before it is made."""
    for row in db.rows(statement("readers_beside_queries"), relation, release):
        raise _refusal(row)


def _refusal(row: Row) -> InputError:
    view, who = Identifier.of("safe", row["release"]), Identifier.of(row["reader"])
    return InputError(
        f"Role {who} may query {row['relation']} and read its release {view}; the rule "
        "beside_releases of the relation refuses that.",
        hint=f"Let other roles read it (REVOKE SELECT ON {view} FROM ...; of releases that are new: ALTER "
        "DEFAULT PRIVILEGES FOR ROLE kanon_owner IN SCHEMA safe ...), drop the release, or "
        "protect the relation with another rule: allow or warn.",
    )
