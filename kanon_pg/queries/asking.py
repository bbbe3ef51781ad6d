"""A query while it is answered: it is written down before it runs, and its blocks are read within limits."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import statement
from kanon_pg.errors import AnswerWithheld, LimitExceeded
from kanon_pg.queries.counting.guarded import Guarded, guarded
from kanon_pg.queries.counting.scans import without_statistics
from kanon_pg.queries.noise_settings import NoiseSettings
from kanon_pg.queries.people.people import People
from kanon_pg.queries.protection_rules import ProtectionRules
from kanon_pg.queries.reading.blocks import Block
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.record.log import QueryBudget
from kanon_pg.queries.record.record import Record, Spending, StoredAnswer
from kanon_pg.queries.request import Asker, QueryRequest, withheld


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """A block that may be answered, and the rules of its tables."""

    block: Block
    people: People
    k: int
    rules: tuple[ProtectionRules, ...]

    @property
    def name(self) -> str:
        """The block's name."""
        return self.block.name

    def noise(self) -> dict[int, NoiseSettings]:
        """Return the settings of noise by relation, which have one account."""
        settings = {rule.relation: rule.noise for rule in self.rules if rule.noise is not None}
        if (
            len(settings) < len(self.rules)
            or len({(one.epsilon, one.delta) for one in settings.values()}) > 1
        ):
            raise Refusal(
                "Q601",
                0,
                "The tables of these people do not agree in the epsilon and delta of their noise.",
                "A curator gives all of them the same ones: kanon_protect.",
            )
        return settings


class Asking:
    """A query while it is answered.

    Parameters
    ----------
    blocks : sequence of PlannedBlock
        All of the query.
    constants : sequence of str
        SQL of the constants in their trees.
    records : Mapping of int to Record
        By the space of people.

    Attributes
    ----------
    constants : list of str
        Those that are figures of other blocks are NULL until these are answered.
    notices : list of str
        What the analyst is told beside the answer.
    """

    def __init__(
        self,
        db: Database,
        request: QueryRequest,
        asker: Asker,
        blocks: Sequence[PlannedBlock],
        constants: Sequence[str],
        records: Mapping[int, Record],
    ) -> None:
        self.db, self.request, self.asker, self.records = db, request, asker, records
        self.rules = [rule for one in blocks for rule in one.rules]
        self.most_rows = min(rule.rows for rule in self.rules)
        self.constants = list(constants)
        self.now = float(db.row(statement("now"))["seconds"])
        self.notices: list[str] = []

    def record_of(self, planned: PlannedBlock) -> Record:
        """Return the record of a block's people."""
        return self.records[planned.people.space]

    def form(self, planned: PlannedBlock) -> Guarded:
        """Return the SQL of a block."""
        buckets = self.record_of(planned).buckets
        return guarded(planned.block, planned.people, self.constants, k=planned.k, buckets=buckets)

    def ask(self, record: Record, spending: Spending | None = None) -> int:
        """Write the query down, and return its entry.

        Raises
        ------
        AnswerWithheld
            If no budget is left, or the account has less than what the query spends.
        """
        budget = QueryBudget(
            _smallest(rule.queries for rule in self.rules), _smallest(rule.refusals for rule in self.rules)
        )
        text = json.dumps([self.request.text, self.request.parameters, self.asker.role])
        asked = record.ask(self.asker.login, text, self.now, budget, spending)
        if not asked.is_affordable:
            raise AnswerWithheld(
                "The account of these people is used up.",
                hint="What was answered is answered again. A curator can allow more: a larger epsilon lets "
                "more be known of everybody.",
            )
        if not asked.budget.allows:
            raise withheld()
        return asked.entry

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read within the limit of time, and out of the server's statistics."""
        seconds = min(rule.seconds for rule in self.rules)
        with self.db.deadline(seconds), self.db.savepoint(), without_statistics(self.db):
            yield

    @contextmanager
    def withholding(self, entries: Mapping[int, int]) -> Iterator[None]:
        """End the query's entries, by the space of people, as withheld if something goes wrong.

        A cancellation alone passes as it is.

        Raises
        ------
        AnswerWithheld
            For everything but a cancellation.
        """
        try:
            yield
        except Exception as error:
            if self.db.was_cancelled(error):
                raise
            for space, entry in entries.items():
                with self.records[space].begin(entry, self.now) as recording:
                    recording.withheld("time" if isinstance(error, LimitExceeded) else "error")
            raise withheld() from None

    def require_few(self, rows: Sequence[object]) -> None:
        """Refuse more rows than one answer may have.

        Raises
        ------
        LimitExceeded
            There are more.
        """
        if len(rows) > self.most_rows:
            raise LimitExceeded("The answer has too many rows.", hint="Ask for fewer.")

    def answer_again(self, record: Record, entry: int, stored: StoredAnswer, why: str) -> None:
        """Record that a stored answer is given once more, and say when it was first."""
        with record.begin(entry, self.now) as recording:
            recording.answered("asked again")
        when = datetime.fromtimestamp(stored.time, UTC).isoformat(timespec="seconds")
        self.notices.append(f"This is the answer of {when}{why}")


def _smallest(limits: Iterable[int | None]) -> int | None:
    """Return the least of limits that there are."""
    return min((one for one in limits if one is not None), default=None)
