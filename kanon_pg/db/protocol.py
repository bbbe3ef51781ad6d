"""What services may ask of a database, whichever interface they came through.

Services receive a `Database` and never learn which adapter it is. Values are portable: int, float,
bool, str, bytes, `decimal.Decimal`, None and lists of these; everything else is cast to text in SQL.
Where a docstring does not say otherwise, a `Database` acts with the rights of the owner role. What belongs to
others is read by `Database.read` alone, with the rights of a reader: their code may run then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.statements import Statement

Row = Mapping[str, Any]


def progress_text(phase: str, share: float | None) -> str:
    """Return how a phase and the share done look in the list of sessions (``application_name``)."""
    return f"kanon: {phase}" if share is None else f"kanon: {phase} {share:.0%}"


@dataclass(frozen=True, slots=True)
class PackedColumn:
    """A ``bigint`` column as one buffer."""

    name: str
    """Column name."""
    data: bytes
    """Signed 64-bit big-endian numbers."""


class Database(Protocol):
    """A connection inside one transaction."""

    def rows(self, statement: Statement, *arguments: Any) -> Sequence[Row]:
        """Run a statement and return its rows; column names are unique."""
        ...

    def row(self, statement: Statement, *arguments: Any) -> Row:
        """Run a statement that returns exactly one row."""
        ...

    def reading_as(self, reader: int | None) -> AbstractContextManager[None]:
        """Have `read` inside use the rights of a reader, None: its own, for what nobody else has written."""
        ...

    def read(self, statement: Statement, *arguments: Any) -> Sequence[Row]:
        """As `rows`, for what runs the code of others: with the rights of a reader, which cannot write.

        What that code does to the session is taken back. Nothing of the text is kept.
        """
        ...

    def execute(self, statement: Statement, *arguments: Any) -> int:
        """Run a statement and return the number of rows it touched (0 for commands)."""
        ...

    def lock(self, relation: Identifier) -> None:
        """Keep a relation, and what a view reads, from being changed by DDL until the transaction ends."""
        ...

    def was_cancelled(self, error: Exception) -> bool:
        """Whether the user cancelled, or a limit passed that the user set."""
        ...

    def load(self, table: Identifier, columns: Sequence[PackedColumn]) -> None:
        """Append packed columns of equal length to a table, without an object per cell."""
        ...

    def savepoint(self) -> AbstractContextManager[None]:
        """Open a nested transaction: an exception inside undoes the statements inside."""
        ...

    def naming(self) -> AbstractContextManager[None]:
        """Look names of relations up as the user does; everything else is looked up in ``pg_catalog``."""
        ...

    def deadline(self, seconds: float) -> AbstractContextManager[None]:
        """Bound everything inside: `LimitExceeded` once `seconds` have passed, within a second."""
        ...

    def checkpoint(self) -> None:
        """Return at once, or raise if the user cancelled or a limit passed."""
        ...

    def progress(self, phase: str, share: float | None = None) -> None:
        """Show other sessions what this call is doing (no data values); 0 <= share <= 1."""
        ...

    def notice(self, message: str) -> None:
        """Show the user something that is not an error."""
        ...


@contextmanager
def undone(db: Database) -> Iterator[None]:
    """Undo the statements inside, whether or not one of them fails; locks are given back."""
    try:
        with db.savepoint():
            yield
            raise _Undo
    except _Undo:
        return


class _Undo(Exception):
    """Ends a savepoint whose statements succeeded."""
