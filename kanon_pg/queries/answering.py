"""Answers one query: cuts it into blocks, which are counted, compared and recorded; the rest runs as it is.

::

    text -> scan -> parse -> cut -> forms, people      nothing is read but the catalog
         -> types                                      PostgreSQL checks types; nothing is read
         -> ask                                        the query is written down
         -> guarded SQL                                figures, people and sketches in one snapshot
         -> judge, record                              which rows are shown, beyond the reach of ROLLBACK
         -> rest                                       the analyst's own SQL over these rows
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b

from kanon_pg.db.identifiers import Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import AnswerWithheld, DatabaseError, InputError, KanonError, LimitExceeded
from kanon_pg.queries.counting.guarded import Guarded, guarded, typed
from kanon_pg.queries.counting.judging import MOST_KEYS, BlockRow, Judgement, judge
from kanon_pg.queries.counting.reader import query_reader
from kanon_pg.queries.counting.rest import BlockAnswer, rest_rows, rest_sql
from kanon_pg.queries.counting.scans import full_scans, without_statistics
from kanon_pg.queries.noise.drawing import Drawing
from kanon_pg.queries.noise.mechanism import Loss, capacity, together
from kanon_pg.queries.noise.plan import NoisyForm, noisy_form
from kanon_pg.queries.noise_settings import NoiseSettings
from kanon_pg.queries.people.forms import check_forms
from kanon_pg.queries.people.people import People, people_of
from kanon_pg.queries.protection_rules import ProtectionRules, fetch_rules
from kanon_pg.queries.reading.blocks import Block, Cut, column_name
from kanon_pg.queries.reading.cutting import cut
from kanon_pg.queries.reading.facts import Facts
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.load_facts import load_facts
from kanon_pg.queries.reading.scanner import PLACE, scan, take_out_constants
from kanon_pg.queries.reading.trees import Tree, parse, render
from kanon_pg.queries.record.log import QueryBudget
from kanon_pg.queries.record.record import Entry, Record, Spending, StoredAnswer
from kanon_pg.queries.record.records import NamedMark, has_folder, open_record
from kanon_pg.queries.request import QueryRequest, refused, withheld

_LEFT_OUT = "Rows are left out: too few people stand behind them, or behind differences."


@dataclass(frozen=True, slots=True)
class Answered:
    """What the blocks of a query gave, for the rest to run.

    Parameters
    ----------
    sql : str
        The rest; its one parameter is `rows` as jsonb.
    notices : tuple of str
        What the analyst is told beside the answer.
    """

    sql: str
    rows: str
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Planned:
    """A block that may be answered."""

    block: Block
    people: People
    k: int
    rules: tuple[ProtectionRules, ...]


Values = dict[str, "str | None"]
"""What a row shows, as text, by column."""

_Row = tuple[BlockRow, Values]


@dataclass(frozen=True, slots=True)
class _Read:
    """What a block gave, before anything is decided."""

    planned: _Planned
    form: Guarded
    kinds: Mapping[str, str]
    rows: Sequence[_Row]


class _AskedAgain(Exception):
    """Leads to an answer that was given before."""

    def __init__(self, stored: StoredAnswer) -> None:
        super().__init__()
        self.stored = stored


@dataclass(frozen=True, slots=True)
class Understood:
    """A query that was read: only the catalog was looked at."""

    cut: Cut
    facts: Facts
    blocks: tuple[_Planned, ...]
    is_noisy: bool = False

    @property
    def relations(self) -> frozenset[int]:
        """OIDs of the relations that its blocks read."""
        return frozenset(
            oid
            for one in self.blocks
            for oid in (
                *(source.relation.oid for source in (*one.block.sources, *one.block.inner)),
                *(step.parent.oid for step in one.people.steps),
            )
        )


def understand(db: Database, request: QueryRequest, role: str) -> Understood:
    """Read a query.

    Raises
    ------
    Refusal
        If it cannot be answered.
    """
    scanned = take_out_constants(scan(request.text), request.parameters)
    facts = load_facts(db, request.text, request.search_path, role)
    found = cut(parse(scanned), facts, scanned.constants)
    understood = Understood(found, facts, tuple(_planned(db, block, facts) for block in found.blocks))
    if not understood.blocks:
        return understood
    relations = sorted({rule.relation for one in understood.blocks for rule in one.rules})
    spaces = sorted({one.people.space for one in understood.blocks})
    if db.row(statement("is_exact"), relations, spaces, role)["is_exact"]:
        return understood
    for one in understood.blocks:
        _noise_form(one, understood, found.constants)
    return replace(understood, is_noisy=True)


def _noise_of(planned: _Planned) -> dict[int, NoiseSettings]:
    """Return the settings of a block's relations, which have one account."""
    found = {rule.relation: rule.noise for rule in planned.rules if rule.noise is not None}
    if len(found) < len(planned.rules) or len({(one.epsilon, one.delta) for one in found.values()}) > 1:
        raise Refusal(
            "Q601",
            0,
            "The tables of these people do not agree in the epsilon and delta of their noise.",
            "A curator gives all of them the same ones: kanon_protect.",
        )
    return found


def _noise_form(planned: _Planned, understood: Understood, constants: Sequence[str]) -> NoisyForm:
    return noisy_form(
        planned.block, planned.people, understood.facts, constants, _noise_of(planned), k=planned.k
    )


def _planned(db: Database, block: Block, facts: Facts) -> _Planned:
    people = people_of(block, facts)
    check_forms(block, people, facts)
    if len(block.keys) > MOST_KEYS:
        raise Refusal(
            "Q507", block.keys[-1].place, f"A block has {MOST_KEYS} keys at most.", "Group by fewer."
        )
    protections = [
        source.relation.protection
        for source in (*block.sources, *block.inner)
        if source.relation.protection is not None
    ]
    rules = tuple(filter(None, (fetch_rules(db, oid) for oid in sorted({one.rules for one in protections}))))
    if not rules or any(not one.rules for one in protections):
        raise Refusal(
            "Q109", 0, "A table of people answers no queries.", "A curator can allow them: kanon_protect."
        )
    return _Planned(block, people, max(one.k for one in protections), rules)


def explained(understood: Understood) -> str:
    """Return what would run, for people to read."""
    found = []
    for one in understood.blocks:
        if understood.is_noisy:
            noisy = _noise_form(one, understood, understood.cut.constants)
            share = min(settings.per_query for settings in _noise_of(one).values())
            found.append(
                f"-- {one.block.name}, answered with noise: costs {share:g} of the account\n{noisy.text}"
            )
            continue
        form = guarded(
            one.block, one.people, understood.facts, understood.cut.constants, k=one.k, buckets=128
        )
        found.append(f"-- {one.block.name}\n{form.text}")
    return "\n".join([*found, f"-- the rest\n{render(understood.cut.rest, understood.cut.constants)}"])


def answer(
    db: Database,
    request: QueryRequest,
    role: str,
    login: str,
    *,
    locked: Collection[int],
    folder: str | None = None,
    keep_marks: Callable[[Sequence[NamedMark]], None] = lambda marks: None,
) -> Answered:
    """Answer the blocks of a query.

    Parameters
    ----------
    db : Database
        Has the rights of the reading role; one snapshot.
    locked : collection of int
        OIDs of the relations that cannot be exchanged meanwhile, because they are locked; no others are read.
    folder : str, optional
        Folder of the records; None in a server's backend, which has its own.
    keep_marks : callable
        Receives how far records were written, for the database to know before the answer leaves.

    Raises
    ------
    QueryRefused
        With what is wrong; it does not depend on the data.
    AnswerWithheld
        For every other reason.
    """
    try:
        understood = understand(db, request, role)
        if not understood.blocks:
            return Answered(rest_sql(understood.cut, {}), "{}")
        if not has_folder(folder):
            raise InputError(
                "Queries are recorded, and this process has no folder for records.",
                hint="Ask through the functions in the server, or always give the same ledger_folder.",
            )
        if not understood.relations <= set(locked):
            raise withheld()
        reader = query_reader(db, sorted(understood.relations))
    except Refusal as refusal:
        raise refused((refusal.finding,)) from None
    with db.reading_as(reader):
        return _Answering(db, request, role, login, understood, folder, keep_marks).answered()


class _Answering:
    def __init__(
        self,
        db: Database,
        request: QueryRequest,
        role: str,
        login: str,
        understood: Understood,
        folder: str | None,
        keep_marks: Callable[[Sequence[NamedMark]], None],
    ) -> None:
        self.db, self.request, self.role, self.login = db, request, role, login
        self.understood, self.keep_marks = understood, keep_marks
        self.rules = [rule for one in understood.blocks for rule in one.rules]
        self.records: dict[int, tuple[str, Record]] = {
            space: open_record(db, space, folder)
            for space in sorted({one.people.space for one in understood.blocks})
        }
        self.now = float(db.row(statement("now"))["seconds"])
        self.notices: list[str] = []
        self.constants = list(understood.cut.constants)

    def answered(self) -> Answered:
        kinds = self.all_types()
        answers: dict[str, BlockAnswer] = {}
        try:
            for round_ in self.rounds():
                self.answer_round(round_, kinds, answers)
        finally:
            self.keep_marks([NamedMark(name, record.mark()) for name, record in self.records.values()])
        return Answered(
            rest_sql(self.understood.cut, answers), rest_rows(answers), tuple(dict.fromkeys(self.notices))
        )

    def all_types(self) -> dict[str, Mapping[str, str]]:
        """Return the types of keys and figures of every block, before anything is read."""
        found: dict[str, Mapping[str, str]] = {}
        for planned in self.understood.blocks:
            try:
                found[planned.block.name] = self.types(self.form(planned))
            except Refusal as refusal:
                raise refused((refusal.finding,)) from None
            self.set_computed(planned.block.name, found[planned.block.name], {})
        return found

    def set_computed(self, block: str, kinds: Mapping[str, str], row: Mapping[str, str | None]) -> None:
        """Have the constants that are computed of a block's row stand for their values."""
        literals = [
            f"{Literal(value)}::{kind}" if (value := row.get(name)) is not None else f"NULL::{kind}"
            for name, kind in kinds.items()
        ]
        places = {name: len(self.constants) + number for number, name in enumerate(kinds)}

        def literal(node: Tree) -> Tree | None:
            if node.kind != "Column":
                return None
            return Tree("Literal", {"this": f"{PLACE}{places[column_name(node)[1]]}", "is_string": True})

        for one in self.understood.cut.computed:
            if one.block == block:
                text = render(one.figure.replaced(literal), [*self.constants, *literals])
                self.constants[one.place] = f"({text})"

    def rounds(self) -> list[list[_Planned]]:
        """Return the blocks in order: first those whose figures are constants in others."""
        rounds: list[list[_Planned]] = []
        of: dict[str, int] = {}
        for planned in self.understood.blocks:
            needed = [of[one.block] for one in self.understood.cut.computed if one.is_in(planned.block)]
            of[planned.block.name] = place = max(needed, default=-1) + 1
            if place == len(rounds):
                rounds.append([])
            rounds[place].append(planned)
        return rounds

    def answer_round(
        self,
        planned: Sequence[_Planned],
        kinds: Mapping[str, Mapping[str, str]],
        answers: dict[str, BlockAnswer],
    ) -> None:
        """Answer blocks together, as one query.

        Raises
        ------
        AnswerWithheld
            If one of them cannot be answered.
        """
        if self.understood.is_noisy:
            for one in planned:
                answers[one.block.name] = self.noisy(one, kinds[one.block.name])
        else:
            self.answer_exactly(planned, kinds, answers)
        if any(one.block.leaves_out_nobody for one in planned):
            self.notices.append("Rows about nobody are left out.")
        for computed in self.understood.cut.computed:
            if computed.block in {one.block.name for one in planned}:
                shown = answers[computed.block].rows
                if not shown:
                    raise withheld()
                self.set_computed(computed.block, kinds[computed.block], shown[0])

    def answer_exactly(
        self,
        planned: Sequence[_Planned],
        kinds: Mapping[str, Mapping[str, str]],
        answers: dict[str, BlockAnswer],
    ) -> None:
        forms = [self.form(one) for one in planned]
        types = [kinds[one.block.name] for one in planned]
        spaces = sorted({one.people.space for one in planned})
        entries = {space: self.ask(self.records[space][1]) for space in spaces}
        try:
            rows = self.read(planned, forms, types)
        except KanonError as error:
            self.give_up(entries, "time" if isinstance(error, LimitExceeded) else "error")
            raise withheld() from None
        found = [
            _Read(one, form, types_, of_block)
            for one, form, types_, of_block in zip(planned, forms, types, rows, strict=True)
        ]
        may_leave = True
        for space in spaces:
            own = [one for one in found if one.planned.people.space == space]
            may_leave &= self.record(self.records[space][1], entries[space], own, answers)
        if not may_leave:
            raise withheld()

    def noisy(self, planned: _Planned, kinds: Mapping[str, str]) -> BlockAnswer:
        """Answer a block with noise, or as it was answered before.

        Raises
        ------
        AnswerWithheld
            If the account does not hold what it costs, or it failed, which costs as much.
        """
        _, record = self.records[planned.people.space]
        form = _noise_form(planned, self.understood, self.constants)
        settings = list(_noise_of(planned).values())
        same = [form.text, dict(kinds), asdict(settings[0]), [asdict(one) for one in form.figures], planned.k]
        key = blake2b(json.dumps(["noise", *same]).encode(), digest_size=16).digest()
        stored = record.stored(key)
        if stored is not None:
            with record.begin(self.ask(record), self.now) as recording:
                recording.answered("asked again")
            notices, rows = json.loads(stored.payload)
            when = datetime.fromtimestamp(stored.time, UTC).isoformat(timespec="seconds")
            self.notices += [*notices, f"This is the answer of {when}, which costs nothing again."]
            return BlockAnswer(kinds, rows)
        whole = capacity(settings[0].epsilon, settings[0].delta)
        share = min(one.per_query for one in settings)
        drawing = Drawing(form, Loss(whole.rho * share, whole.delta * share), planned.k)
        most = min(one.per_login for one in settings)
        entry = self.ask(
            record,
            Spending(
                (*drawing.loss, settings[0].epsilon, settings[0].delta),
                self.account(drawing.loss, whole, most),
            ),
        )
        try:
            with ExitStack() as stack:
                for one in (
                    self.db.deadline(min(rule.seconds for rule in self.rules)),
                    self.db.savepoint(),
                    without_statistics(self.db),
                ):
                    stack.enter_context(one)
                found = self.db.read(Statement(typed(form.text, kinds), ("text",)), str(record.seed))
            rows = drawing.rows(found, kinds)
            if len(rows) > min(rule.rows for rule in self.rules):
                raise LimitExceeded("The answer has too many rows.", hint="Ask for fewer.")
        except Exception as error:
            if self.db.was_cancelled(error):
                raise
            self.give_up(
                {planned.people.space: entry}, "time" if isinstance(error, LimitExceeded) else "error"
            )
            raise withheld() from None
        notices = drawing.notices()
        with record.begin(entry, self.now) as recording:
            recording.answered(key=key, payload=json.dumps([notices, rows]).encode())
        self.notices += notices
        return BlockAnswer(kinds, rows)

    def account(
        self, loss: Loss, whole: Loss, share: float
    ) -> Callable[[Sequence[tuple[str, tuple[float, ...]]]], bool]:
        """Return what says whether a loss can be spent beside others, in total and by this login."""

        def allows(spent: Sequence[tuple[str, tuple[float, ...]]]) -> bool:
            everybody = together([*(Loss(*one[:2]) for _, one in spent), loss])
            own = together([*(Loss(*one[:2]) for login, one in spent if login == self.login), loss])
            return all(
                total.rho <= whole.rho * part and total.delta <= whole.delta * part
                for total, part in ((everybody, 1.0), (own, share))
            )

        return allows

    def form(self, planned: _Planned) -> Guarded:
        _, record = self.records[planned.people.space]
        return guarded(
            planned.block,
            planned.people,
            self.understood.facts,
            self.constants,
            k=planned.k,
            buckets=record.buckets,
        )

    def types(self, form: Guarded) -> Mapping[str, str]:
        """Return the types of keys and figures; PostgreSQL checks the text without reading a row."""
        try:
            with self.db.savepoint():
                (row,) = self.db.read(Statement(form.types, ()))
        except DatabaseError as error:
            raise refused((Refusal("Q200", 0, error.message, "").finding,)) from None
        return dict(row)

    def ask(self, record: Record, spending: Spending | None = None) -> int:
        """Write the query down, and return its entry."""
        budget = QueryBudget(
            _smallest(rule.queries for rule in self.rules), _smallest(rule.refusals for rule in self.rules)
        )
        text = json.dumps([self.request.text, self.request.parameters, self.role])
        asked = record.ask(self.login, text, self.now, budget, spending)
        if not asked.is_affordable:
            raise AnswerWithheld(
                "The account of these people is used up.",
                hint="What was answered is answered again. A curator can allow more: a larger epsilon lets "
                "more be known of everybody.",
            )
        if not asked.budget.allows:
            raise withheld()
        return asked.entry

    def read(
        self, blocks: Sequence[_Planned], forms: Sequence[Guarded], types: Sequence[Mapping[str, str]]
    ) -> list[list[_Row]]:
        """Run blocks in one snapshot."""
        seconds, most = min(rule.seconds for rule in self.rules), min(rule.rows for rule in self.rules)
        found = []
        with ExitStack() as stack:
            for one in (
                self.db.deadline(seconds),
                self.db.savepoint(),
                without_statistics(self.db),
                full_scans(self.db),
            ):
                stack.enter_context(one)
            for form, kinds, planned in zip(forms, types, blocks, strict=True):
                _, record = self.records[planned.people.space]
                rows = self.db.read(
                    Statement(f"{form.typed(kinds)} LIMIT {most + 1}", ("text",)), str(record.seed)
                )
                if len(rows) > most:
                    raise LimitExceeded("The answer has too many rows.", hint="Ask for fewer.")
                figures = range(1, len(planned.block.figures) + 1)
                found.append(
                    [
                        (
                            BlockRow(
                                tuple(row[f"k{number}"] for number in range(1, len(planned.block.keys) + 1)),
                                row["n0"],
                                tuple(row[f"n{number}"] for number in figures),
                                row["counts"],
                                row["sketch"],
                            ),
                            {name: row[name] for name in kinds},
                        )
                        for row in rows
                    ]
                )
        return found

    def record(
        self, record: Record, entry: int, blocks: Sequence[_Read], answers: dict[str, BlockAnswer]
    ) -> bool:
        """Decide which rows are shown, and record them; return whether the answer may leave."""
        forms = [[one.form.text, dict(one.kinds)] for one in blocks]
        key = blake2b(json.dumps(forms).encode(), digest_size=16).digest()
        try:
            with record.begin(entry, self.now) as recording:
                payload = self.judged(record, recording, blocks, key)
        except _AskedAgain as again:
            with record.begin(entry, self.now) as recording:
                recording.answered("asked again")
            was_whole, payload = json.loads(again.stored.payload)
            when = datetime.fromtimestamp(again.stored.time, UTC).isoformat(timespec="seconds")
            self.notices.append(f"This is the answer of {when}: too few people have changed since.")
            if not was_whole:
                self.notices.append(_LEFT_OUT)
        if payload is None:
            return False
        for one, rows in zip(blocks, payload, strict=True):
            answers[one.planned.block.name] = BlockAnswer(one.kinds, rows)
        return True

    def judged(
        self, record: Record, recording: Entry, blocks: Sequence[_Read], key: bytes
    ) -> list[list[Values]] | None:
        """Return the rows of blocks that are shown, and record them; None if the answer is withheld.

        Raises
        ------
        _AskedAgain
            If the answer of before is shown instead; what was recorded is not shown then.
        """
        judgements: list[Judgement] = []
        for one in blocks:
            k = one.planned.k
            judgement = judge(
                [row for row, _ in one.rows],
                one.form,
                lambda sets, k=k: recording.conflicting(sets, k),  # type: ignore[misc]
                k=k,
                buckets=record.buckets,
            )
            judgements.append(judgement)
            recording.record(judgement.sets, k)
        is_whole = all(
            len(judgement.shown) == len(one.rows) for judgement, one in zip(judgements, blocks, strict=True)
        )
        payload = [
            [values for place, (_, values) in enumerate(one.rows) if place in judgement.shown]
            for judgement, one in zip(judgements, blocks, strict=True)
        ]
        if not is_whole:
            stored = record.stored(key)
            if stored is not None and not _has_keys(payload, json.loads(stored.payload)[1]):
                raise _AskedAgain(stored)
            if any(rule.mode == "reject" for rule in self.rules):
                recording.withheld("size")
                return None
            self.notices.append(_LEFT_OUT)
        cost = int(any(judgement.left_out_secretly for judgement in judgements))
        recording.answered(
            "" if is_whole else "left out",
            cost,
            key=key,
            payload=json.dumps([is_whole, payload]).encode(),
        )
        return payload

    def give_up(self, entries: Mapping[int, int], reason: str) -> None:
        for space, entry in entries.items():
            with self.records[space][1].begin(entry, self.now) as recording:
                recording.withheld(reason)


def _has_keys(payload: Sequence[Sequence[Values]], earlier: Sequence[Sequence[Values]]) -> bool:
    """Return whether an answer shows every row that an earlier one to the same query has."""

    def keys(rows: Sequence[Values]) -> set[tuple[str | None, ...]]:
        return {tuple(value for name, value in row.items() if name.startswith("k")) for row in rows}

    return all(keys(then) <= keys(now) for now, then in zip(payload, earlier, strict=True))


def _smallest(limits: Iterable[int | None]) -> int | None:
    """Return the least of limits that there are."""
    return min((one for one in limits if one is not None), default=None)
