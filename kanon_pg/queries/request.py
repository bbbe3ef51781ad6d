"""A query as it was written, what comes of it, and the two ways in which it is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from kanon_pg.db.operation import Argument, Operation
from kanon_pg.errors import AnswerWithheld, InputError, QueryRefused
from kanon_pg.queries.reading.findings import Finding


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A query as it was written, with values of ``$1``, ``$2`` ... as text, and the session's schemas."""

    text: str
    parameters: tuple[str | None, ...] = ()
    search_path: tuple[str, ...] = ("public",)


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks."""

    role: str
    login: str
    """`role`, `login`: whose rights and whose budgets count."""
    locked: frozenset[int] = frozenset()
    """OIDs of the relations that cannot be exchanged meanwhile, because they are locked; no others are
    read."""


def given_text(text: Any) -> str:
    """Return the text of a query; refuse what is none, or has nothing in it.

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
    """Return a plain list of texts; NULL is an empty one.

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
    """The arguments of ``kanon_protect``."""

    relation: Annotated[str, Argument("regclass", "Table or view, as SQL writes it.")]
    k: Annotated[int, Argument("integer", "Fewest people behind every part of an answer, 2 to 100.")] = 5
    options: Annotated[
        Mapping[str, Any] | None,
        Argument("jsonb", "Object: further rules, noise among them; see the how-to on answering queries."),
    ] = None
    """Further fields of `kanon_pg.queries.protection_rules.ProtectionRules`."""


PROTECT = Operation(ProtectRequest)


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
    lines = [f"{finding.code} at {finding.place}: {finding.sentence}" for finding in findings[:_MOST_SHOWN]]
    return QueryRefused(first.sentence, detail="\n".join(lines), hint=first.hint or None)
