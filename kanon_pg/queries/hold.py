"""Hands a question from the function that was called to the functions that have the reading role's rights.

The outer functions run with the caller's rights, so they know whose these are. The inner ones are definer
functions without arguments: what they serve lies in the memory of this process, where only the outer ones put
it. Whoever calls an inner function by itself finds nothing to be served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.protocol import Database
from kanon_pg.db.queries import statement
from kanon_pg.errors import AnswerWithheld, InputError, KanonError, NotPermitted, QuestionRefused
from kanon_pg.queries.load_catalog import Candidate, candidates
from kanon_pg.queries.request import Question, withheld

_ATTEMPTS = 3

Operation = Callable[[Database, "Call"], Any]


@dataclass(slots=True)
class Call:
    """A question on its way.

    Parameters
    ----------
    question : Question
        What is asked.
    role, login : str
        Whose rights and whose budgets count.
    operation : callable
        What to do with it, with the rights of the reading role.
    held : frozenset of int
        OIDs of the relations that are locked.
    result : Any
        What `operation` returned.
    error : KanonError or None
        Why it did not.
    """

    question: Question
    role: str
    login: str
    operation: Operation
    held: frozenset[int] = field(default_factory=frozenset)
    result: Any = None
    error: KanonError | None = None


_calls: list[Call] = []


def hand_over(db: Database, question: Question, operation: Operation) -> Any:
    """Have an operation done with the rights of the reading role, in one snapshot of its own.

    Parameters
    ----------
    db : Database
        Has the rights of the caller.
    question : Question
        What is asked.
    operation : callable
        Receives a database with the reading role's rights, and the call.

    Returns
    -------
    Any
        What `operation` returned.

    Raises
    ------
    InputError
        If the caller's transaction does not see the present state of the catalog.
    QuestionRefused, AnswerWithheld
        As the operation raised them; anything else that went wrong is withheld.
    """
    asker = db.row(statement("asker"))
    if not asker["sees_present"]:
        raise InputError(
            "Questions are answered in transactions of isolation level READ COMMITTED only.",
            hint="BEGIN ISOLATION LEVEL READ COMMITTED;",
        )
    call = Call(question, asker["role"], asker["login"], operation)
    with _handed(call):
        db.row(statement("hold_relations"))
        db.row(statement("serve_question"))
    if call.error is not None:
        raise call.error
    return call.result


@contextmanager
def _handed(call: Call) -> Iterator[None]:
    _calls.append(call)
    try:
        yield
    finally:
        _calls.pop()


def _current() -> Call:
    if not _calls:
        raise NotPermitted("An inner function was called directly.", hint="Call kanon_query instead.")
    return _calls[-1]


def hold(db: Database) -> None:
    """Lock what the question of the current call may name, until the transaction ends."""
    call = _current()
    with _refusing(db, call):
        call.held = hold_relations(db, call.question)


def hold_relations(db: Database, question: Question) -> frozenset[int]:
    """Lock what a question may name, as reading it would do, until the transaction ends.

    Parameters
    ----------
    db : Database
        Has the rights of the reading role.
    question : Question
        What is asked.

    Returns
    -------
    frozenset of int
        OIDs of the relations whose names mean them until then; empty if that does not come to rest.
    """
    for _ in range(_ATTEMPTS):
        found = _readable(db, question)
        for candidate in found:
            db.hold(Identifier((candidate.schema, candidate.name)))
        names = [str(Identifier((candidate.schema, candidate.name))) for candidate in found]
        meant = [row["oid"] for row in db.rows(statement("current_names"), names)]
        if meant == [candidate.oid for candidate in found]:
            return frozenset(meant)
    return frozenset()


def _readable(db: Database, question: Question) -> list[Candidate]:
    found = candidates(db, question.text, question.search_path)
    return [candidate for candidate in found if candidate.readable]


def serve(db: Database) -> None:
    """Do the operation of the current call; leave its result, or why there is none, with the call.

    Functions that a question runs could write although its statement cannot: the transaction stops them.
    """
    call = _current()
    if call.error is not None:
        return
    with _refusing(db, call):
        if not db.row(statement("cannot_write"))["read_only"]:
            raise AssertionError("A question is served in a transaction that can write.")
        call.result = call.operation(db, call)


@contextmanager
def _refusing(db: Database, call: Call) -> Iterator[None]:
    """Leave a refusal with the call for whatever goes wrong; only a cancellation by the user passes."""
    try:
        yield
    except (QuestionRefused, AnswerWithheld) as error:
        call.error = error
    except Exception as error:
        # errors of the server and defects may carry values
        if db.was_cancelled(error):
            raise
        call.error = withheld()
