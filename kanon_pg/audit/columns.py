"""Which columns of a relation are audited, with the caller's rights.

An `AuditSession` counts them and has the worker do its tasks.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from kanon_pg.core.packed import MAX_COLUMNS, ColumnKind, PackedRowTypes
from kanon_pg.db.catalog import ColumnFacts, has_equality, require_equality, require_readable
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.readers import reading
from kanon_pg.db.settings import exact_text, working_memory
from kanon_pg.errors import InputError
from kanon_pg.relations.canonical import CanonicalColumn
from kanon_pg.relations.counting import Counted, count_row_types
from kanon_pg.relations.subject import (
    ROWS_ARE_PEOPLE,
    Subject,
    no_rows,
    notice_unknown_roles,
    require_usable,
    resolve,
)
from kanon_pg.runner.parent import audit_in_worker, compile_once, memory_budget
from kanon_pg.runner.session import Caller
from kanon_pg.runner.solver_session import solver_session


class AuditColumn(CanonicalColumn):
    """A column of which an audit needs to know only where its values are equal."""

    @property
    def compared(self) -> Fragment:
        """Values, by which GROUP BY compares."""
        return Fragment(f"{self.facts.identifier}")

    @property
    def kind(self) -> ColumnKind:
        """No distances."""
        return "categorical"

    @property
    def is_exact(self) -> bool:
        """Equal lists of suppressed columns are spelled the same."""
        return self.facts.base_type == "_name" or super().is_exact

    def value(self, table: str) -> Fragment | None:
        """No numbers."""
        del table
        return None


class SeenColumn(AuditColumn):
    """A column whose type has no equality: its values are told apart as readers see them."""

    @property
    def compared(self) -> Fragment:
        """Looks, by which GROUP BY compares."""
        return self.look(f"{self.facts.identifier}")

    @property
    def is_exact(self) -> bool:
        """What is seen is a text, or bytes."""
        return True

    @property
    def expression(self) -> Fragment:
        """What is seen of it."""
        return self.compared

    def hashed(self, table: str) -> Fragment:
        """What is seen of it, as it is."""
        return Fragment(f"{table}.{self.alias}")


def audit_columns(facts: Sequence[ColumnFacts], first: int = 1) -> tuple[AuditColumn, ...]:
    """Number columns in order, as queries name them, beginning with `first`."""
    return tuple(AuditColumn(column, Identifier.of(f"q{place}")) for place, column in enumerate(facts, first))


def _seen_columns(facts: Sequence[ColumnFacts], comparable: Sequence[ColumnFacts]) -> tuple[AuditColumn, ...]:
    """Number columns like `audit_columns`; those that cannot be compared go by what readers see."""
    return tuple(
        column if column.facts in comparable else SeenColumn(column.facts, column.alias)
        for column in audit_columns(facts)
    )


def look_up(db: Database, relation: str | None) -> Subject:
    """Resolve a relation, and say what of a release is not known."""
    subject = resolve(db, relation)
    if subject.counts_people:
        db.notice(ROWS_ARE_PEOPLE)
    notice_unknown_roles(db, subject)
    return subject


def quasi_identifiers(subject: Subject) -> tuple[ColumnFacts, ...]:
    """Return the known quasi-identifiers; of a release all that is published but sensitive columns.

    The insensitive columns of a release stand beside suppressed cells as they are, and so does the list of
    suppressed columns: its readers can link people by these, too.
    """
    if subject.suppressed is None:
        return subject.quasi_identifiers()
    insensitive = () if subject.roles is None else subject.columns(subject.roles.insensitive)
    return (*subject.quasi_identifiers(), *insensitive, subject.suppressed)


@dataclass(frozen=True, slots=True)
class AuditSubject:
    """A relation with the columns that are looked at, in its order, and those without an equality."""

    known: Subject
    columns: tuple[AuditColumn, ...]
    left_out: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.facts.name for column in self.columns)

    @property
    def linking(self) -> tuple[str, ...]:
        """Those of the columns that are quasi-identifiers."""
        known = {column.name for column in quasi_identifiers(self.known)}
        return tuple(name for name in self.names if name in known)

    @property
    def is_within_classes(self) -> bool:
        """Whether all of the columns are quasi-identifiers, so that no class of them is divided."""
        return self.linking == self.names


def all_columns(db: Database, known: Subject, columns: Sequence[str] | None) -> AuditSubject:
    """Return the columns to audit: the given ones, else all that are no identifiers."""
    if columns is not None:
        return _subject(db, known, _named(known, columns), may_leave_out=False)
    if known.is_release and known.roles is not None:
        return _subject(db, known, _in_order(known, quasi_identifiers(known)), may_leave_out=True)
    return _subject(db, known, known.without_identifiers(), may_leave_out=True)


def linking_columns(
    db: Database, known: Subject, columns: Sequence[str] | None, *, in_order: bool = False
) -> AuditSubject:
    """Return the columns by which people are linked: the given ones, else the quasi-identifiers.

    Parameters and errors are those of `all_columns`; with `in_order` the columns have the given order, else
    that of the relation.
    """
    if columns is None:
        may_leave_out = known.roles is None or known.is_release
        return _subject(db, known, _in_order(known, quasi_identifiers(known)), may_leave_out=may_leave_out)
    chosen = known.columns(columns) if in_order else _named(known, columns)
    return _subject(db, known, chosen, may_leave_out=False)


def sensitive_columns(
    db: Database, known: Subject, columns: Sequence[str] | None, linking: AuditSubject
) -> tuple[AuditColumn, ...]:
    """Return the sensitive columns: the given ones, else the declared ones that are not linking."""
    if columns is None:
        names = () if known.roles is None else known.roles.sensitive
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
    require_equality(db, chosen, "be compared")
    return audit_columns(chosen, first=len(linking.columns) + 1)


def _named(known: Subject, columns: Sequence[str]) -> tuple[ColumnFacts, ...]:
    return _in_order(known, known.columns(columns))


def _in_order(known: Subject, columns: Sequence[ColumnFacts]) -> tuple[ColumnFacts, ...]:
    return tuple(column for column in known.relation.columns if column in columns)


def _subject(
    db: Database, known: Subject, columns: tuple[ColumnFacts, ...], *, may_leave_out: bool
) -> AuditSubject:
    relation = known.relation
    if not columns:
        raise InputError(
            f"No column of {relation.identifier} is left to look at.",
            hint="Name at least one, for example columns => '{zip,birth_date,sex}'.",
        )
    require_usable(db, known, (), also_read=columns)
    compared = comparable(db, known, columns) if may_leave_out else columns
    left_out: tuple[str, ...] = ()
    if not (may_leave_out and known.is_release):  # whoever reads a release sees all of its columns
        compared = compared or columns
        left_out = tuple(column.name for column in columns if column not in compared)
        columns = compared
        if left_out:
            db.notice(f"Left out, because their types have no equality: {', '.join(left_out)}.")
        require_equality(db, columns, "be compared")
    if len(columns) > MAX_COLUMNS:
        raise InputError(
            f"{len(columns)} columns are more than the {MAX_COLUMNS} that can be looked at together.",
            hint=_whom_to_name(known),
        )
    return AuditSubject(known, _seen_columns(columns, compared), left_out)


def _whom_to_name(known: Subject) -> str:
    """Return which columns to name in place of too many."""
    declared = () if known.roles is None else known.roles.quasi_identifiers
    if 0 < len(declared) <= MAX_COLUMNS:
        names = ", ".join(str(Literal(name)) for name in declared)
        return f"Name the declared quasi-identifiers: columns => ARRAY[{names}]."
    return (
        f"Name at most {MAX_COLUMNS} that somebody could link: columns => '{{zip,birth_date,sex}}'; "
        f"SELECT * FROM kanon_suggest({Literal(str(known.relation.identifier))}) proposes which."
    )


def comparable(db: Database, known: Subject, columns: tuple[ColumnFacts, ...]) -> tuple[ColumnFacts, ...]:
    """Return those of some columns whose types have an equality."""
    if has_equality(db, columns):
        return columns
    return tuple(column for column in columns if has_equality(db, (column,)))


@dataclass(slots=True)
class AuditSession:
    """A database, the worker, and the seconds that it may still search; counting takes none of them."""

    db: Database
    memory: int
    left: float

    def count(self, subject: AuditSubject, sensitive: tuple[AuditColumn, ...] = ()) -> Counted:
        """Count the row types of some columns; refuse a relation without rows."""
        self.db.progress("counting")
        known = subject.known
        source = known.source
        counted = self._count(known, source, subject.columns, known.entity, sensitive)
        if not counted.rows:
            raise no_rows(known.relation)
        return counted

    def count_rows(
        self, known: Subject, source: Identifier | Fragment, columns: tuple[AuditColumn, ...]
    ) -> Counted:
        """Count the row types of columns in a relation, or a subquery of it, each row being a person."""
        return self._count(known, source, columns, None, ())

    def _count(
        self,
        known: Subject,
        source: Identifier | Fragment,
        columns: tuple[AuditColumn, ...],
        entity: CanonicalColumn | None,
        sensitive: tuple[AuditColumn, ...],
    ) -> Counted:
        solver_session.start()
        with reading(self.db, known.relation):
            return count_row_types(
                self.db, source, columns, entity, sensitive=sensitive, memory_bytes=self.memory
            )

    def run(
        self, task: str, *tables: PackedRowTypes, share: float = 1.0, **arguments: Any
    ) -> Mapping[str, Any]:
        """Have the worker do a task, and search within a share of the time that is left."""
        seconds = share * self.left
        before = time.monotonic()
        answer = audit_in_worker(
            tables, task, {"seconds": seconds, **arguments}, Caller.of(self.db, self.memory)
        )
        self.left -= min(seconds, time.monotonic() - before)
        return answer


@contextmanager
def audit_session(db: Database, time_limit: float) -> Iterator[AuditSession]:
    """Prepare for counting and for tasks of the worker, which searches for `time_limit` seconds."""
    memory = memory_budget(db)
    compile_once(db, memory, "audit")
    with working_memory(db, memory), exact_text(db):
        yield AuditSession(db, memory, time_limit)
