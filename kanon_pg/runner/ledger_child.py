"""The worker process that keeps the records of a session's protected relations."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from kanon_pg.errors import LedgerError
from kanon_pg.runner.limits import limited_memory
from kanon_pg.runner.messages import Message
from kanon_pg.runner.serving import Reply, Service, serve, settle
from kanon_pg.worker.ledger.answers import Answer
from kanon_pg.worker.ledger.folder import JOURNAL, create_folder, existing_folder
from kanon_pg.worker.ledger.journal import heads
from kanon_pg.worker.ledger.relation_ledger import Book, Pieces, Rows, Terms
from kanon_pg.worker.ledger.rules import Budget, Rules
from kanon_pg.worker.ledger.session import Part, Question, decide
from kanon_pg.worker.ledger.table_snapshot import Leaf

_MOST_BOOKS = 8

Fields = Mapping[str, Any]
Parts = Sequence[memoryview]


def main(*, channel: int, parent: int, idle_seconds: float) -> None:
    """Serve the parent until it closes its end of the channel or has been silent for too long.

    Parameters
    ----------
    channel : int
        Descriptor of this end of the pair.
    parent : int
        Process id of the parent.
    idle_seconds : float
        How long to wait for a job.
    """
    settle()
    os.umask(0o077)
    desk = _Desk()
    # whatever went wrong, a record read in part must not decide again, so this process ends
    service = Service("ledger", LedgerError, desk.work, afterwards=desk.save, forgives=False)
    with socket.socket(fileno=channel) as connection:
        serve(service, connection, parent, idle_seconds)


class _Desk:
    """The records that are open; the last ones used."""

    def __init__(self) -> None:
        self._books: dict[tuple[str, str], Book] = {}

    def work(self, job: Message, connection: socket.socket) -> Reply:
        del connection
        with limited_memory(job.fields["memory_bytes"]):
            text, *parts = job.map_parts()
            fields = json.loads(bytes(text))
            if job.kind == "create":
                return Reply("created", {"name": create_folder(Path(fields["parent"]))})
            if job.kind == "state":
                return Reply("state", {"records": [self._state(fields, name) for name in fields["names"]]})
            if job.kind == "decide":
                return Reply("decided", {"allowed": self._decide(fields, parts)})
            if job.kind == "log":
                return Reply("log", {}, [json.dumps(_log(fields)).encode()])
        raise LedgerError("The ledger was asked for something that it does not know.")

    def save(self) -> None:
        for book in self._books.values():
            book.save()

    def _book(self, fields: Fields, name: str) -> Book:
        key = (fields["parent"], name)
        book = self._books.pop(key, None) or Book(Path(fields["parent"]), name)
        self._books[key] = book
        while len(self._books) > max(_MOST_BOOKS, len(fields.get("records", ()))):
            self._books.pop(next(iter(self._books))).close()
        return book

    def _state(self, fields: Fields, name: str) -> dict[str, Any]:
        book = self._book(fields, name)
        book.recall(fields["epoch"])
        return {"seed": book.secret.seed, "state": book.state, "sets": book.known_sets()}

    def _decide(self, fields: Fields, parts: Parts) -> bool:
        start = time.monotonic()
        records = {record["name"]: record for record in fields["records"]}
        books = {name: self._book(fields, name) for name in records}
        with ExitStack() as stack:
            # who holds the numbers of a relation writes its journal; all take them in the same order
            turns = {name: stack.enter_context(books[name].numbering.turn()) for name in sorted(books)}
            told = []
            for name, record in records.items():
                if record["description"] is not None:
                    turns[name].describe(record["description"])
                if record["census"] is not None:
                    leaves = _leaves(record["census"], parts)
                    books[name].take(record["state"], leaves, turns[name], fields["epoch"])
                told.append(_part(books[name], record, parts))
            decision = decide(Question(**fields["question"]), told)
            for book in books.values():
                book.mark()
                book.count(time.monotonic() - start)
        return decision.allowed


def _part(book: Book, record: Fields, parts: Parts) -> Part:
    answer: Answer | None = None
    if record["sets"] is not None:
        if record["sets"]:
            if book.state != record["seen"]:
                raise LedgerError("The relation was read in another state than the answer.")
            book.state = record["state"]
        answer = book.answer([_pieces(item, parts) for item in record["sets"]])
    if record["failure"] is not None:
        answer = None  # the sets were read for those that are compared later
    return Part(book.keeper(_terms(record)), book.population(), answer, record["failure"] or "size")


def _terms(record: Fields) -> Terms:
    return Terms(Rules(**record["rules"]), Budget(**record["per_asker"]), Budget(**record["overall"]))


def _leaves(census: Sequence[Fields], parts: Parts) -> list[Leaf]:
    return [Leaf(item["oid"], *(parts[number] for number in item["parts"])) for item in census]


def _pieces(item: Fields, parts: Parts) -> Pieces | str:
    """Return the sets of a statement, or the key of sets that are known."""
    if "parts" not in item:
        return str(item["key"])
    groups, leaves, *rest = (parts[number] for number in item["parts"])
    rows = [Rows(lengths, places) for lengths, places in zip(rest[::2], rest[1::2], strict=True)]
    return Pieces(item["disjoint"], item["by_content"], groups, leaves, rows[0], tuple(rows[1:]), item["key"])


def _log(fields: Fields) -> list[list[Any]]:
    """Return the heads of all records, without the sets; what cannot be read has an error instead."""
    found: list[list[Any]] = []
    for name in fields["names"]:
        try:
            journal = existing_folder(Path(fields["parent"]), name) / JOURNAL
            found += [[name, *head] for head in heads(journal)]
        except LedgerError as error:
            found.append([name, None, None, None, "unreadable", error.message])
    return found
