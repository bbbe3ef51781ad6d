"""Python API for queries about protected tables, for servers without PL/Python.

Each operation is one transaction of a trusted process, which may act as the role that reads the tables. Where
the functions are in the server, ``kanon_query`` needs no such right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_pg.client.transactions import as_owner, as_reader, take_back
from kanon_pg.db.psycopg_adapter import Connection
from kanon_pg.queries import protection as protecting
from kanon_pg.queries.answer import answer_query
from kanon_pg.queries.answer import check_query as check_text
from kanon_pg.queries.check.verdict import Verdict
from kanon_pg.queries.pending_query import lock_relations
from kanon_pg.queries.request import AnswerTable, QueryRequest


def protect(
    target: str | Connection,
    relation: str,
    k: int = 5,
    options: Mapping[str, Any] | None = None,
    *,
    ledger_folder: str | None = None,
) -> None:
    """Let a relation answer queries, see `kanon_pg.queries.protection.protect`.

    Parameters
    ----------
    target : str or psycopg.Connection
        A DSN, or an open connection that is not inside a transaction.
    relation : str
        The relation, as SQL writes it.
    k : int
        Fewest people behind every part of an answer, 2 to 100.
    options : mapping, optional
        Further fields of `kanon_pg.queries.protection_rules.ProtectionRules`.
    ledger_folder : str, optional
        Folder of this machine for the records of queries; needed unless the option ``ledger`` is 'off'.

    Raises
    ------
    KanonError
        Any error of the tree.
    """
    with as_owner(target, relation, lending="lend_reader") as (db, role):
        protecting.protect(db, relation, k, options, role=role, folder=ledger_folder)


def unprotect(target: str | Connection, relation: str) -> None:
    """End that a relation answers queries, and take back the rights to read it that protecting lent."""
    with as_owner(target) as (db, role):
        protecting.unprotect(db, relation, role=role)
        take_back(db, relation, role)


def check_query(target: str | Connection, text: str) -> Verdict:
    """Check a query without running it, see `kanon_pg.queries.answer.check_query`.

    Parameters
    ----------
    target : str or psycopg.Connection
        A DSN, or an open connection that is not inside a transaction.
    text : str
        One SELECT.

    Returns
    -------
    Verdict
        Accepted, or refused with findings.
    """
    with as_reader(target) as (db, role, session):
        return check_text(db, text, role, search_path=tuple(session["path"]))


def query(
    target: str | Connection,
    text: str,
    parameters: Sequence[str | None] = (),
    *,
    ledger_folder: str | None = None,
) -> AnswerTable:
    """Answer a query about public and protected relations.

    Parameters
    ----------
    target : str or psycopg.Connection
        A DSN, or an open connection that is not inside a transaction.
    text : str
        One SELECT.
    parameters : sequence of (str or None)
        Values of ``$1``, ``$2`` ... as text.
    ledger_folder : str, optional
        Folder of this machine for the records of queries, the same at every call.

    Returns
    -------
    AnswerTable
        The answer, after it was recorded.

    Raises
    ------
    QueryRefused, AnswerWithheld
        As `kanon_pg.queries.answer.answer_query`.
    """
    with as_reader(target) as (db, role, session):
        request = QueryRequest(text, tuple(parameters), tuple(session["path"]))
        return answer_query(
            db,
            request,
            role,
            session["login"],
            locked=lock_relations(db, request),
            folder=ledger_folder,
        )
