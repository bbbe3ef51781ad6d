"""The worker process that keeps the ledgers of a session's protected relations."""

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
from kanon_pg.runner.limits import limited_memory, more_free_memory
from kanon_pg.runner.messages import Message
from kanon_pg.worker.ledger.answers import AnswerSets
from kanon_pg.worker.ledger.folder import (
    JOURNAL,
    create_folder,
    existing_folder,
    read_percent_used,
    remove_unused,
)
from kanon_pg.worker.ledger.journal import JournalMark, read_heads
from kanon_pg.worker.ledger.relation_ledger import RelationLedger, RulesAndBudgets, verified
from kanon_pg.worker.ledger.rules import LedgerRules, QueryBudget
from kanon_pg.worker.ledger.sent_sets import (
    ComposedSets,
    DerivedSets,
    PackedRows,
    PackedSets,
    SentPartition,
    SentSets,
)
from kanon_pg.worker.ledger.session import LoggedQuery, RelationPart, decide
from kanon_pg.worker.ledger.table_snapshot import LeafTable
from kanon_pg.worker.serving import Reply, Service, ignore_signals, serve

_MAX_OPEN = 8
"""Most ledgers that a session keeps open; chosen, not measured: each holds its sets in memory."""

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
    ignore_signals()
    os.umask(0o077)
    ledgers = _OpenLedgers()
    # after any error the process ends: a ledger that was read in part must not decide again
    service = Service(
        "ledger", LedgerError, more_free_memory, ledgers.work, afterwards=ledgers.save, forgives=False
    )
    with socket.socket(fileno=channel) as connection:
        serve(service, connection, parent, idle_seconds)


class _OpenLedgers:
    """The most recently used ledgers, kept open."""

    def __init__(self) -> None:
        self._ledgers: dict[tuple[str, str], RelationLedger] = {}

    def work(self, job: Message, connection: socket.socket) -> Reply:
        del connection
        with limited_memory(job.fields["memory_bytes"]):
            return self._done(job)

    def _done(self, job: Message) -> Reply:
        text, *parts = job.map_parts()
        fields = json.loads(bytes(text))
        if job.kind == "create":
            remove_unused(Path(fields["parent"]), fields["names"])
            return Reply("created", {"name": create_folder(Path(fields["parent"]))})
        if job.kind == "state":
            return _long("state", [self._state(fields, name) for name in fields["names"]])
        if job.kind == "partition":
            return Reply("partition", self._partition(fields))
        if job.kind == "decide":
            return Reply("decided", self._decide(fields, parts))
        if job.kind == "verify":
            return _long("verified", [_verified(fields["parent"], request) for request in fields["ledgers"]])
        if job.kind == "log":
            return _long("log", _log(fields))
        raise LedgerError("The ledger does not know this kind of job.")

    def save(self) -> None:
        for ledger in self._ledgers.values():
            ledger.save()

    def _ledger(self, fields: Fields, name: str) -> RelationLedger:
        key = (fields["parent"], name)
        ledger = self._ledgers.pop(key, None) or RelationLedger(Path(fields["parent"]), name)
        self._ledgers[key] = ledger
        while len(self._ledgers) > max(_MAX_OPEN, len(fields.get("ledgers", ()))):
            self._ledgers.pop(next(iter(self._ledgers))).close()
        return ledger

    def _state(self, fields: Fields, name: str) -> dict[str, Any]:
        ledger = self._ledger(fields, name)
        ledger.load_snapshot(fields["epoch"], renew=fields["renew"])
        return {
            "seed": ledger.secret.seed,
            "state": ledger.state,
            "sets": ledger.sets.keys(),
            "stored": ledger.stored_partitions(),
        }

    def _partition(self, fields: Fields) -> dict[str, Any]:
        """Load a stored partition of the state that the parent was told."""
        ledger = self._ledger(fields, fields["name"])
        is_present = ledger.state == fields["state"]
        return {"loaded": is_present and ledger.load_partition(fields["statement"], fields["key"])}

    def _decide(self, fields: Fields, parts: Parts) -> dict[str, Any]:
        start = time.monotonic()
        requests = {request["name"]: request for request in fields["ledgers"]}
        ledgers = {name: self._ledger(fields, name) for name in requests}
        with ExitStack() as stack:
            # who holds the numbers of a relation writes its journal; all take them in the same order
            writers = {
                name: stack.enter_context(ledgers[name].row_numbers.exclusive()) for name in sorted(ledgers)
            }
            relation_parts = []
            for name, request in requests.items():
                if request["description"] is not None:
                    writers[name].set_description(request["description"])
                if request["table_snapshot"] is not None:
                    leaves = _leaves(request["table_snapshot"], parts)
                    ledgers[name].take_snapshot(request["state"], leaves, writers[name], fields["epoch"])
                relation_parts.append(_part(ledgers[name], request, parts))
            decision = decide(LoggedQuery(**fields["query"]), relation_parts)
            for ledger in ledgers.values():
                ledger.save_marks()
                ledger.add_work(time.monotonic() - start)
            marks = {
                name: part.session.journal.mark for name, part in zip(requests, relation_parts, strict=True)
            }
        return {
            "allowed": decision.allowed,
            "marks": {name: [mark.records, mark.length, mark.digest.hex()] for name, mark in marks.items()},
        }


def _long(kind: str, found: Sequence[Any]) -> Reply:
    """Return a reply whose length nothing bounds: it does not fit into a message's fields."""
    return Reply(kind, {}, [json.dumps(found).encode()])


def _part(ledger: RelationLedger, request: Fields, parts: Parts) -> RelationPart:
    answer: AnswerSets | None = None
    if request["sets"] is not None:
        if request["sets"]:
            if ledger.state != request["seen"]:
                raise LedgerError("The relation was read in another state than the answer.")
            ledger.state = request["state"]
        partitions = [
            SentPartition(_packed(item, parts), item["is_truth"], item["statement"])
            for item in request["partitions"]
        ]
        answer = ledger.sets.answer([_sent(item, parts) for item in request["sets"]], partitions)
    failure = request["failure"]
    session = ledger.session(_terms(request))
    mark = _mark(request)
    if mark is not None:
        session.journal.expect(mark)
    return RelationPart(
        session,
        ledger.population(),
        answer,
        failure or "size",
        failed=failure is not None,
        left_out=request["left_out"],
    )


def _mark(request: Fields) -> JournalMark | None:
    """Return what the database says of a journal, None if it says nothing."""
    if request["mark"] is None:
        return None
    records, length, digest = request["mark"]
    return JournalMark(records, length, bytes.fromhex(digest))


def _terms(request: Fields) -> RulesAndBudgets:
    return RulesAndBudgets(
        LedgerRules(**request["rules"]),
        QueryBudget(**request["per_analyst"]),
        QueryBudget(**request["overall"]),
    )


def _leaves(table_snapshot: Sequence[Fields], parts: Parts) -> list[LeafTable]:
    return [LeafTable(item["oid"], *(parts[number] for number in item["parts"])) for item in table_snapshot]


def _sent(item: Fields, parts: Parts) -> SentSets:
    return SentSets(
        item["level"],
        item["kind"],
        item["narrowed"],
        item["is_whole"],
        _pieces(item, parts),
        tuple(item["spreads"]),
    )


def _pieces(item: Fields, parts: Parts) -> PackedSets | str | DerivedSets | ComposedSets:
    """Return the sets of a statement, the key of cached sets, or what they follow from."""
    if item["everybody"]:
        return DerivedSets.EVERYBODY
    if item["union"]:
        return DerivedSets.GROUPS
    if "composed" in item:
        return _composed(item["composed"], str(item["key"]))
    return _packed(item, parts) if "parts" in item else str(item["key"])


def _composed(fields: Fields, key: str) -> ComposedSets:
    def choices(found: Sequence[Any]) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return tuple((str(partition), tuple(map(int, places))) for partition, places in found)

    groups = None if fields["groups"] is None else str(fields["groups"])
    return ComposedSets(groups, choices(fields["where"]), tuple(map(choices, fields["filters"])), key)


def _packed(item: Fields, parts: Parts) -> PackedSets:
    groups, leaves, *rest = (parts[number] for number in item["parts"])
    rows = [PackedRows(lengths, row_ids) for lengths, row_ids in zip(rest[::2], rest[1::2], strict=True)]
    return PackedSets(
        item["disjoint"], item["by_content"], groups, leaves, rows[0], tuple(rows[1:]), item["key"]
    )


def _verified(parent: str, request: Fields) -> dict[str, Any]:
    """Return what is wrong with a ledger, None if nothing is, and what its rows are made of."""
    try:
        folder = Path(parent)
        description = verified(folder, request["name"], _mark(request))
        percent = read_percent_used(folder / request["name"])
        return {"error": None, "description": description, "percent_used": percent}
    except LedgerError as error:
        return {"error": error.message, "description": None, "percent_used": None}


def _log(fields: Fields) -> list[list[Any]]:
    """Return the heads of all ledgers, without the sets; what cannot be read has an error instead."""
    found: list[list[Any]] = []
    for name in fields["names"]:
        try:
            journal = existing_folder(Path(fields["parent"]), name) / JOURNAL
            found += [[name, *head] for head in read_heads(journal)]
        except LedgerError as error:
            found.append([name, None, None, None, "unreadable", error.message])
    return found
