"""Tests k-anonymity in SQL: the k-anonymity-test of Yuan, "Finding Quasi-identifiers Against k-anonymity"."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_pg.audit.released import class_sizes
from kanon_pg.audit.subject import AuditSubject, linking_columns, look_up
from kanon_pg.db.identifiers import Fragment
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import InputError
from kanon_pg.release.request import check_k


def is_anonymous(db: Database, relation: str | None, k: int, columns: Sequence[str] | None = None) -> bool:
    """Return whether every combination of values of some columns is shared by at least k people.

    By Lemma 1 of the paper no subset of the columns singles out fewer than k people then.

    Parameters
    ----------
    db : Database
        Acts with the rights of the caller. Nothing is written.
    relation : str
        A table, view or release, as SQL writes it.
    k : int
        Fewest people, >= 2.
    columns : sequence of str, optional
        The quasi-identifiers unless given; without a declaration all columns that are no identifiers.

    Raises
    ------
    KanonError
        As `kanon_pg.audit.subject.linking_columns`; InputError also if the relation has no rows.
    """
    check_k(k)
    known = look_up(db, relation)
    subject = linking_columns(db, known, columns)
    db.progress("counting")
    if known.hides_people:
        return _is_release_anonymous(db, subject, k, is_whole=columns is None)
    return _smallest_class(db, subject) >= k


def _is_release_anonymous(db: Database, subject: AuditSubject, k: int, *, is_whole: bool) -> bool:
    """ModelEvaluator a release that does not tell which rows are the same person's.

    Raises
    ------
    InputError
        If neither the people in the classes of all quasi-identifiers nor the rows by the columns decide.
    """
    smallest = class_sizes(db, subject.known)[0].people
    if is_whole:
        return smallest >= k
    if smallest >= k and subject.known.links_by(subject.names):
        return True
    if _smallest_class(db, subject) < k:
        return False  # there are no more people than rows
    raise InputError(
        f"Release {subject.known.relation.identifier} does not tell whose rows it has, so that people by "
        "these columns cannot be counted.",
        hint="Leave out the columns to test all quasi-identifiers, or test the table itself.",
    )


def _smallest_class(db: Database, subject: AuditSubject) -> int:
    entity = subject.known.entity
    smallest: int | None = db.row(
        statement(
            "audit_smallest_class",
            relation=subject.known.relation.identifier,
            columns=[{"name": column.output, "alias": column.alias} for column in subject.columns],
            keys=Fragment(", ".join(str(column.alias) for column in subject.columns)),
            entity=None if entity is None else entity.output,
        )
    )["smallest"]
    if smallest is None:
        raise InputError(
            f"Relation {subject.known.relation.identifier} has no rows.",
            hint="Load data first, or check row-level security policies.",
        )
    return smallest
