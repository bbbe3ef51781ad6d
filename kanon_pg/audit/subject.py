"""Which columns an audit is about, with the rights of whoever asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_pg.audit.known import AuditColumn, Known, audit_columns
from kanon_pg.core.packed import MAX_COLUMNS
from kanon_pg.db.catalog import ColumnFacts, RelationFacts, require_equality, require_readable
from kanon_pg.db.identifiers import Literal
from kanon_pg.db.protocol import Database
from kanon_pg.errors import InputError, UnsuitableColumn


@dataclass(frozen=True, slots=True)
class AuditSubject:
    """A relation with the columns that are looked at.

    Parameters
    ----------
    known : Known
        The relation.
    columns : tuple of AuditColumn
        At least one, in the relation's order.
    left_out : tuple of str
        Columns whose type has no equality.
    """

    known: Known
    columns: tuple[AuditColumn, ...]
    left_out: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.facts.name for column in self.columns)


def all_columns(db: Database, known: Known, columns: Sequence[str] | None) -> AuditSubject:
    """Return the columns to audit: the given ones, else all that are no identifiers.

    Parameters
    ----------
    db : Database
        Of the caller.
    known : Known
        The relation.
    columns : sequence of str, optional
        What the call names.

    Raises
    ------
    InputError
        If there is no column, or there are too many.
    UnknownName
        If a column does not exist.
    NotPermitted
        If the caller may not read the columns.
    UnsuitableColumn
        If the type of a given column has no equality, or that of the declared entity.
    """
    if columns is not None:
        return _subject(db, known, _named(known, columns), may_leave_out=False)
    if known.is_release and known.declaration is not None:
        return _subject(db, known, known.quasi_identifiers(), may_leave_out=False)
    return _subject(db, known, known.without_identifiers(), may_leave_out=True)


def linking_columns(
    db: Database, known: Known, columns: Sequence[str] | None, *, in_order: bool = False
) -> AuditSubject:
    """Return the columns by which people are linked: the given ones, else the quasi-identifiers.

    Parameters and errors are those of `all_columns`; with `in_order` the columns have the given order, else
    that of the relation.
    """
    if columns is None:
        return _subject(db, known, known.quasi_identifiers(), may_leave_out=known.declaration is None)
    chosen = tuple(known.relation.column(name) for name in columns) if in_order else _named(known, columns)
    return _subject(db, known, chosen, may_leave_out=False)


def sensitive_columns(
    db: Database, known: Known, columns: Sequence[str] | None, linking: AuditSubject
) -> tuple[AuditColumn, ...]:
    """Return the sensitive columns: the given ones, else the declared ones that are not linking.

    Parameters
    ----------
    db : Database
        Of the caller.
    known : Known
        The relation.
    columns : sequence of str, optional
        What the call names; none for an empty one.
    linking : AuditSubject
        What an attacker knows already.

    Raises
    ------
    InputError
        If a given column is linking.
    KanonError
        As `all_columns`.
    """
    if columns is None:
        names = () if known.declaration is None else known.declaration.sensitive
        chosen = tuple(known.relation.column(name) for name in names if name not in linking.names)
    else:
        chosen = _named(known, columns)
    for column in chosen:
        if column.name in linking.names:
            raise InputError(
                f"Column {column.identifier} is named both as sensitive and among those that link people.",
                hint="Name each column once.",
            )
    if not chosen:
        return ()
    require_readable(known.relation, chosen, known.role)
    require_equality(db, known.relation, chosen, "be compared")
    return audit_columns(chosen, first=len(linking.columns) + 1)


def _named(known: Known, columns: Sequence[str]) -> tuple[ColumnFacts, ...]:
    chosen = {known.relation.column(name).name for name in columns}
    return tuple(column for column in known.relation.columns if column.name in chosen)


def _subject(
    db: Database, known: Known, columns: tuple[ColumnFacts, ...], *, may_leave_out: bool
) -> AuditSubject:
    relation, entity = known.relation, known.entity
    if not columns:
        raise InputError(
            f"No column of {relation.identifier} is left to look at.",
            hint="Name at least one, for example columns => '{zip,birth_date,sex}'.",
        )
    require_readable(relation, columns + (() if entity is None else (entity.facts,)), known.role)
    kept = (comparable(db, known, columns) if may_leave_out else ()) or columns
    left_out = tuple(column.name for column in columns if column not in kept)
    if left_out:
        db.notice(f"Left out, because their types have no equality: {', '.join(left_out)}.")
    columns = kept
    require_equality(db, relation, columns, "be compared")
    if entity is not None:
        require_equality(db, relation, (entity.facts,), "identify people")
    if len(columns) > MAX_COLUMNS:
        raise InputError(
            f"{len(columns)} columns are more than the {MAX_COLUMNS} that can be looked at together.",
            hint=_whom_to_name(known),
        )
    return AuditSubject(known, audit_columns(columns), left_out)


def _whom_to_name(known: Known) -> str:
    """Return which columns to name in place of too many."""
    declared = () if known.declaration is None else known.declaration.quasi_identifiers
    if 0 < len(declared) <= MAX_COLUMNS:
        names = ", ".join(str(Literal(name)) for name in declared)
        return f"Name the declared quasi-identifiers: columns => ARRAY[{names}]."
    return (
        f"Name at most {MAX_COLUMNS} that somebody could link: columns => '{{zip,birth_date,sex}}'; "
        f"SELECT * FROM kanon_suggest({Literal(str(known.relation.identifier))}) proposes which."
    )


def comparable(db: Database, known: Known, columns: tuple[ColumnFacts, ...]) -> tuple[ColumnFacts, ...]:
    """Return those of some columns whose types have an equality.

    Parameters
    ----------
    db : Database
        Its role may read them.
    known : Known
        The relation.
    columns : tuple of ColumnFacts
        Columns of it.
    """
    if not columns or _can_be_compared(db, known.relation, columns):
        return columns
    return tuple(column for column in columns if _can_be_compared(db, known.relation, (column,)))


def _can_be_compared(db: Database, relation: RelationFacts, columns: tuple[ColumnFacts, ...]) -> bool:
    try:
        require_equality(db, relation, columns)
    except UnsuitableColumn:
        return False
    return True
