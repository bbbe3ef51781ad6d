"""A query as it was written, what comes of it, and the two ways in which it is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from kanon_pg.db.operation import Argument, Operation
from kanon_pg.errors import AnswerWithheld, InputError, QueryRefused
from kanon_pg.queries.check.findings import Finding

Failure = Literal["size", "rows", "time", "error", "record", "fault", "interrupted", "budget"]
"""Why there is no answer: too few people, too many rows, the time limit, an error while it ran, a ledger
that cannot be used, a fault of the server, a cancelled call or a session that ended, or too many of these.
Curators read it in the ledger; the analyst never does."""


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A query as the analyst wrote it.

    Parameters
    ----------
    parameters : tuple of (str or None)
        Values of ``$1``, ``$2`` ... as text; None for NULL.
    search_path : tuple of str
        Schemas that the analyst's session tries, in order, for names without a schema.
    """

    text: str
    parameters: tuple[str | None, ...] = ()
    search_path: tuple[str, ...] = ("public",)


def given_text(text: Any) -> str:
    """Return the text of a query.

    Raises
    ------
    InputError
        If it is none, or has nothing in it.
    """
    if text is None or (isinstance(text, str) and not text.strip()):
        raise InputError(
            "There is no query: the text is NULL or empty.",
            hint="SELECT * FROM kanon_query('SELECT ward, count(*) FROM patients GROUP BY ward');",
        )
    if not isinstance(text, str):
        raise InputError("A query must be a text.", hint="Give one SELECT as a str.")
    return text


def given_texts(argument: str, values: Any) -> tuple[str | None, ...]:
    """Return a list of texts; NULL is an empty one.

    Raises
    ------
    InputError
        If it is no plain list of texts.
    """
    if values is None:
        return ()
    is_list = isinstance(values, Sequence) and not isinstance(values, str | bytes)
    if not is_list or not all(value is None or isinstance(value, str) for value in values):
        raise InputError(f"{argument} must be a plain list of texts.", hint="For example: ARRAY['a', 'b'].")
    return tuple(values)


@dataclass(frozen=True, slots=True)
class ProtectRequest:
    """The arguments of ``kanon_protect``.

    Parameters
    ----------
    options : mapping, optional
        Further fields of `kanon_pg.queries.protection_rules.ProtectionRules`.
    """

    relation: Annotated[str, Argument("regclass", "Table or view, as SQL writes it.")]
    k: Annotated[int, Argument("integer", "Fewest people behind every part of an answer, 2 to 100.")] = 5
    options: Annotated[
        Mapping[str, Any] | None,
        Argument("jsonb", "Object: further rules; see the how-to on answering queries."),
    ] = None


PROTECT = Operation(ProtectRequest)


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """An answer; values are texts in the form that PostgreSQL reads back.

    Parameters
    ----------
    names : tuple of str
        Names of the columns; may repeat.
    types : tuple of str
        Their types, as ``pg_catalog`` names them.
    rows : tuple of tuple of (str or None)
        In the order of the answer; None for NULL.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """A query and who ran it, as its entry in the ledger has them.

    Parameters
    ----------
    text : str
        The query as the analyst wrote it.
    login : str
        The session's login, whose budgets count.
    time : float
        Seconds since 1970, by the server's clock.
    """

    text: str
    parameters: tuple[str | None, ...]
    login: str
    role: str
    time: float


@dataclass(frozen=True, slots=True)
class StateCheck:
    """What a comparison of a table with an earlier state found.

    Parameters
    ----------
    before : str or None
        The earlier state, as the ledger's worker has it.
    present : str or None
        The same state as this moment knows it; None if the table changed, or nobody can tell.
    """

    before: str | None
    present: str | None


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """The result of running a query, before the ledger decides whether it may leave.

    Parameters
    ----------
    answer : AnswerTable or None
        The answer; in the mode 'suppress' without the rows that were left out. None if there is none.
    failure : Failure or None
        Why there is none.
    left_out : bool
        Whether groups were left out whose size depends on sensitive columns; counts like a refusal.
    sets : Mapping of int to list of bytes
        By the position in `Verdict.entity_sets` what `EntitySet.sql` would return, if it was read with the
        answer.
    key : str or None
        What it depends on besides the rows of its one table (`kanon_pg.queries.outcome_cache`).
    checked : StateCheck or None
        What was found of the state of that table before, if it was looked at.
    composed : frozenset of int
        Positions in `Verdict.entity_sets` of sets that are composed of partitions, if their table is in the
        state that the ledger's worker has (`kanon_pg.queries.partitions`).
    """

    answer: AnswerTable | None
    failure: Failure | None = None
    left_out: bool = False
    sets: Mapping[int, Sequence[bytes]] = field(default_factory=dict)
    key: str | None = None
    checked: StateCheck | None = None
    composed: frozenset[int] = frozenset()


_MOST_SHOWN = 20


def withheld() -> AnswerWithheld:
    """Return the one refusal for every reason that depends on the data; it is always the same."""
    return AnswerWithheld(
        "The answer is withheld.",
        detail="Too few people stand behind a part of it, alone or together with earlier answers, "
        "or it could not be computed within the limits.",
        hint="Ask about larger groups. The words are the same for every reason.",
    )


def refused(findings: Sequence[Finding]) -> QueryRefused:
    """Return the refusal that says everything that was found in a query's text.

    Parameters
    ----------
    findings : sequence of Finding
        At least one; the first gives the message.
    """
    first = findings[0]
    lines = [
        f"{finding.code} at {finding.start}-{finding.end}: {finding.sentence}"
        for finding in findings[:_MOST_SHOWN]
    ]
    return QueryRefused(first.sentence, detail="\n".join(lines), hint=first.hint or None)
