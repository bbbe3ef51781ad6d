"""The tree of what kanon_pg refuses in SQL and Python, and how each refusal looks to SQL.

Every error carries a message, an optional detail, an optional hint and an SQLSTATE, and both interfaces
(PL/Python and psycopg) show the same four fields. No field ever contains a cell value: columns, counts and
positions only, because a message is an output channel.

The SQLSTATEs of the tree are of the reserved class ``KA``. Two more errors below KanonError stand in
`kanon_pg.gateway` and have PostgreSQL's own states, which clients of the gateway know: TooManyClients (53300)
and ProtocolViolation (08P01).

::

    KanonError                  KA000
    ├── InputError              KA100   (also ValueError) the request cannot be understood or is not allowed
    │   ├── UnknownName         KA101   relation, column, release or method does not exist
    │   ├── NotPermitted        KA102   the caller lacks a right
    │   ├── UnsuitableRelation  KA103   this kind of relation cannot be the base of a release
    │   ├── UnsuitableColumn    KA104   the column cannot play the role it was given
    │   └── NameTaken           KA105   a release name belongs to something else
    ├── InfeasibleError         KA200   no release can satisfy the request (for example: fewer than k people)
    ├── SolverError             KA300   the solver failed
    │   ├── SolverUnavailable   KA301   the solver's process or library cannot be started
    │   ├── LimitExceeded       KA302   time limit
    │   └── MemoryExceeded      KA303   memory budget
    ├── DatabaseError           KA400   the database refused a statement (cause kept)
    ├── InstallError            KA500   something that installation needs is missing
    │   └── VersionMismatch     KA501   SQL objects and Python package differ
    ├── ReleaseError            KA600   publishing failed, nothing changed
    │   ├── VerificationFailed  KA601   the independent recount contradicts the plan
    │   └── ReleaseBusy         KA602   another call is publishing the same release
    ├── ClusterError            KA700   the embedded server could not be managed
    ├── LedgerError             KA800   the record of answers cannot be used; nothing is answered
    │   └── LedgerUnavailable   KA801   its files cannot be read or written now
    └── QueryError              KA900   a query about real tables is not answered
        ├── QueryRefused        KA901   its text is refused; the findings say why
        └── AnswerWithheld      KA902   depends on the data; the words are always the same
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

DEFECT = "This is a defect of kanon_pg or of one of its libraries: please report it."
"""The hint of errors that nobody can cause from outside."""


class KanonError(Exception):
    """Root of all errors of this package.

    Parameters
    ----------
    message : str
        One sentence that says what is wrong. Never contains a cell value.
    detail : str, optional
        Facts that help to find the cause (names, counts).
    hint : str, optional
        What to do about it.
    """

    sqlstate: ClassVar[str] = "KA000"

    def __init__(self, message: str, *, detail: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint

    def __str__(self) -> str:
        lines = [self.message]
        if self.detail:
            lines.append(f"DETAIL: {self.detail}")
        if self.hint:
            lines.append(f"HINT: {self.hint}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.detail, self.hint))


def _rebuild(kind: type[KanonError], message: str, detail: str | None, hint: str | None) -> KanonError:
    return kind(message, detail=detail, hint=hint)


class InputError(KanonError, ValueError):
    """The request cannot be understood or is not allowed."""

    sqlstate = "KA100"


class UnknownName(InputError):
    """A relation, column, release or method does not exist."""

    sqlstate = "KA101"


class NotPermitted(InputError):
    """The caller lacks a right that the request needs."""

    sqlstate = "KA102"


class UnsuitableRelation(InputError):
    """The relation is of a kind that cannot be the base of a release."""

    sqlstate = "KA103"


class UnsuitableColumn(InputError):
    """The column cannot play the role it was given."""

    sqlstate = "KA104"


class NameTaken(InputError):
    """A release name belongs to something else."""

    sqlstate = "KA105"


class InfeasibleError(KanonError):
    """No release can satisfy the request."""

    sqlstate = "KA200"


class SolverError(KanonError):
    """The solver failed."""

    sqlstate = "KA300"


class SolverUnavailable(SolverError):
    """The solver's process or one of its libraries cannot be started."""

    sqlstate = "KA301"


class LimitExceeded(SolverError):
    """The time limit of the request passed."""

    sqlstate = "KA302"


class MemoryExceeded(SolverError):
    """The request needs more memory than its budget."""

    sqlstate = "KA303"


class DatabaseError(KanonError):
    """The database refused a statement; the driver's error is the cause.

    Parameters
    ----------
    message, detail, hint
        As in `KanonError`. The server's own text is quoted only for conditions whose text names
        objects, never values.
    server_state : str, optional
        The SQLSTATE that the server gave.
    """

    sqlstate = "KA400"

    def __init__(
        self,
        message: str,
        *,
        detail: str | None = None,
        hint: str | None = None,
        server_state: str | None = None,
    ) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.server_state = server_state


class InstallError(KanonError):
    """Something that installation needs is missing."""

    sqlstate = "KA500"


class VersionMismatch(InstallError):
    """The SQL objects in the database and the Python package are of different versions."""

    sqlstate = "KA501"


class ReleaseError(KanonError):
    """Publishing failed; the database is as it was."""

    sqlstate = "KA600"


class VerificationFailed(ReleaseError):
    """The independent recount contradicts what the solver promised."""

    sqlstate = "KA601"


class ReleaseBusy(ReleaseError):
    """Another call is publishing the same release."""

    sqlstate = "KA602"


class ClusterError(KanonError):
    """The embedded server could not be managed."""

    sqlstate = "KA700"


class LedgerError(KanonError):
    """The record of answers cannot be used or trusted, so nothing may be answered."""

    sqlstate = "KA800"


class LedgerUnavailable(LedgerError):
    """Files of the record cannot be read or written now: no analyst's doing."""

    sqlstate = "KA801"


class QueryError(KanonError):
    """A query about real tables is not answered."""

    sqlstate = "KA900"


class QueryRefused(QueryError):
    """The text of a query is refused, whatever the data are."""

    sqlstate = "KA901"


class AnswerWithheld(QueryError):
    """The refusal depends on the data, the record of earlier answers or an accident."""

    sqlstate = "KA902"


def by_sqlstate(sqlstate: str) -> type[KanonError]:
    """Return the class that stands for an SQLSTATE, the root class if none does."""
    found: list[type[KanonError]] = [KanonError]
    for kind in found:
        if kind.sqlstate == sqlstate:
            return kind
        found.extend(kind.__subclasses__())
    return KanonError


_LONGEST_NAME = 128


def as_given(name: object) -> str:
    """Return a name that a caller gave as messages show it: quoted, its end cut off if it is very long.

    For names and choices alone; what could be a value of the data is not repeated.

    Examples
    --------
    >>> as_given('ag"e'), as_given(None)
    ('"ag""e"', 'NULL')
    """
    return "NULL" if name is None else '"' + str(name)[:_LONGEST_NAME].replace('"', '""') + '"'


def in_words(items: Iterable[object]) -> str:
    """Return names or numbers, at least one, as a sentence has them.

    Examples
    --------
    >>> in_words(("zip", "age", "sex"))
    'zip, age and sex'
    """
    *others, last = map(str, items)
    return f"{', '.join(others)} and {last}" if others else last
