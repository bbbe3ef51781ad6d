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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kanon_pg.db.identifiers import Literal
from kanon_pg.db.protocol import Database
from kanon_pg.db.statements import Statement, statement
from kanon_pg.errors import DatabaseError, InputError
from kanon_pg.queries.asking import Asking, PlannedBlock
from kanon_pg.queries.counting.guarded import guarded
from kanon_pg.queries.counting.judging import MOST_KEYS
from kanon_pg.queries.counting.reader import query_reader
from kanon_pg.queries.counting.rest import BlockAnswer, rest_rows, rest_sql
from kanon_pg.queries.exact import answer_exactly
from kanon_pg.queries.noise.answering import answer_with_noise, noisy_form_of
from kanon_pg.queries.people.forms import check_forms
from kanon_pg.queries.people.people import people_of
from kanon_pg.queries.protection_rules import fetch_rules
from kanon_pg.queries.reading.blocks import Block, Cut, column_name, constant_tree
from kanon_pg.queries.reading.cutting import cut
from kanon_pg.queries.reading.facts import Facts
from kanon_pg.queries.reading.findings import Refusal
from kanon_pg.queries.reading.load_facts import load_facts
from kanon_pg.queries.reading.scanner import scan, take_out_constants
from kanon_pg.queries.reading.trees import Tree, parse, render
from kanon_pg.queries.record.records import NamedMark, has_folder, open_record
from kanon_pg.queries.request import Asker, QueryRequest, refused, withheld


@dataclass(frozen=True, slots=True)
class Answered:
    """What the blocks of a query gave, for the rest to run."""

    sql: str
    """The rest; its one parameter is `rows` as jsonb."""
    rows: str
    notices: tuple[str, ...] = ()
    """What the analyst is told beside the answer."""


@dataclass(frozen=True, slots=True)
class NoiseCost:
    """What a block costs: a share of an account of noise, which has an epsilon and a delta."""

    share: float
    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class Understood:
    """A query that was read: only the catalog was looked at."""

    cut: Cut
    blocks: tuple[PlannedBlock, ...]
    is_noisy: bool = False

    @property
    def costs(self) -> tuple[NoiseCost, ...]:
        """What each of its blocks costs, none if it is answered exactly."""
        noise = [list(one.noise().values()) for one in self.blocks] if self.is_noisy else []
        return tuple(
            NoiseCost(min(one.per_query for one in tables), tables[0].epsilon, tables[0].delta)
            for tables in noise
        )

    @property
    def relations(self) -> frozenset[int]:
        """OIDs of the relations that its blocks read."""
        return frozenset(
            relation.oid
            for one in self.blocks
            for relation in (
                *(source.relation for source in (*one.block.sources, *one.block.inner)),
                *(step.parent for step in one.people.steps),
            )
        )


def understand(db: Database, request: QueryRequest, role: str) -> Understood:
    """Read a query; a `Refusal` says why it cannot be answered.

    Raises
    ------
    Refusal
        If it cannot be answered.
    """
    scanned = take_out_constants(scan(request.text), request.parameters)
    facts = load_facts(db, request.text, request.search_path, role)
    query = cut(parse(scanned), facts, scanned.constants)
    understood = Understood(query, tuple(_planned(db, block, facts) for block in query.blocks))
    if not understood.blocks:
        return understood
    relations = sorted({rule.relation for one in understood.blocks for rule in one.rules})
    spaces = sorted({one.people.space for one in understood.blocks})
    if db.row(statement("is_exact"), relations, spaces, role)["is_exact"]:
        return understood
    for one in understood.blocks:
        noisy_form_of(one, query.constants)  # refuses what has no noisy form
    return replace(understood, is_noisy=True)


def _planned(db: Database, block: Block, facts: Facts) -> PlannedBlock:
    people = people_of(block, facts)
    check_forms(block, people, facts)
    if len(block.keys) > MOST_KEYS:
        raise Refusal(
            "Q507", block.keys[-1].place, f"A block has {MOST_KEYS} keys at most.", "Group by fewer."
        )
    sources = (*block.sources, *block.inner)
    protections = list(filter(None, (source.relation.protection for source in sources)))
    rules = tuple(filter(None, (fetch_rules(db, oid) for oid in sorted({one.rules for one in protections}))))
    if not rules or any(not one.rules for one in protections):
        raise Refusal(
            "Q109", 0, "A table of people answers no queries.", "A curator can allow them: kanon_protect."
        )
    return PlannedBlock(block, people, max(one.k for one in protections), rules)


def explained(understood: Understood) -> str:
    """Return what would run, for people to read."""
    constants, parts = understood.cut.constants, []
    for number, one in enumerate(understood.blocks):
        if understood.is_noisy:
            share = understood.costs[number].share
            parts.append(f"-- {one.name}, answered with noise: costs {share:g} of the account")
            parts.append(noisy_form_of(one, constants).text)
        else:
            form = guarded(one.block, one.people, constants, k=one.k, buckets=128)
            parts += [f"-- {one.name}", form.text]
    return "\n".join([*parts, "-- the rest", render(understood.cut.rest, constants)])


def answer(
    db: Database,
    request: QueryRequest,
    asker: Asker,
    *,
    folder: str | None = None,
    keep_marks: Callable[[Sequence[NamedMark]], None] = lambda marks: None,
) -> Answered:
    """Answer the blocks of a query.

    Parameters
    ----------
    db : Database
        Has the rights of the reading role; one snapshot.
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
        understood = understand(db, request, asker.role)
        if not understood.blocks:
            return Answered(rest_sql(understood.cut, {}), "{}")
        if not has_folder(folder):
            raise InputError(
                "Queries are recorded, and this process has no folder for records.",
                hint="Ask through the functions in the server, or always give the same ledger_folder.",
            )
        if not understood.relations <= asker.locked:
            raise withheld()
        reader = query_reader(db, sorted(understood.relations))
    except Refusal as refusal:
        raise refused((refusal.finding,)) from None
    with db.reading_as(reader):
        spaces = sorted({one.people.space for one in understood.blocks})
        records = {space: open_record(db, space, folder) for space in spaces}
        by_space = {space: record for space, (_, record) in records.items()}
        constants = understood.cut.constants
        asking = Asking(db, request, asker, understood.blocks, constants, by_space)
        kinds = _all_types(asking, understood)
        try:
            answers = _answered(asking, understood, kinds)
        finally:
            keep_marks([NamedMark(name, record.mark()) for name, record in records.values()])
    notices = tuple(dict.fromkeys(asking.notices))
    return Answered(rest_sql(understood.cut, answers), rest_rows(answers), notices)


def _all_types(asking: Asking, understood: Understood) -> dict[str, Mapping[str, str]]:
    """Return the types of keys and figures of every block; PostgreSQL checks their text and reads no row."""
    kinds: dict[str, Mapping[str, str]] = {}
    for planned in understood.blocks:
        try:
            types = asking.form(planned).types
        except Refusal as refusal:
            raise refused((refusal.finding,)) from None
        try:
            with asking.db.savepoint():
                (row,) = asking.db.read(Statement(types, ()))
        except DatabaseError as error:
            raise refused((Refusal("Q200", 0, error.message, "").finding,)) from None
        kinds[planned.name] = dict(row)
        _compute_constants(asking, understood.cut, planned.name, kinds[planned.name], {})
    return kinds


def _answered(
    asking: Asking, understood: Understood, kinds: Mapping[str, Mapping[str, str]]
) -> dict[str, BlockAnswer]:
    """Return the answers of all blocks, first of those whose figures are constants in others."""
    answers: dict[str, BlockAnswer] = {}
    for blocks in _rounds(understood):
        if understood.is_noisy:
            for one in blocks:
                answers[one.name] = answer_with_noise(asking, one, kinds[one.name])
        else:
            answers |= answer_exactly(asking, blocks, kinds)
        if any(one.block.leaves_out_nobody for one in blocks):
            asking.notices.append("Rows about nobody are left out.")
        computed = {computed.block for computed in understood.cut.computed}
        for name in (one.name for one in blocks if one.name in computed):
            if not answers[name].rows:
                raise withheld()
            _compute_constants(asking, understood.cut, name, kinds[name], answers[name].rows[0])
    return answers


def _rounds(understood: Understood) -> list[list[PlannedBlock]]:
    rounds: list[list[PlannedBlock]] = []
    round_of: dict[str, int] = {}
    for planned in understood.blocks:
        needed = [round_of[one.block] for one in understood.cut.computed if one.is_in(planned.block)]
        round_of[planned.name] = place = max(needed, default=-1) + 1
        if place == len(rounds):
            rounds.append([])
        rounds[place].append(planned)
    return rounds


def _compute_constants(
    asking: Asking, query: Cut, block: str, kinds: Mapping[str, str], row: Mapping[str, str | None]
) -> None:
    """Have the constants that are computed of a block's row stand for their values; NULL without a row."""
    literals = [
        f"{Literal(value)}::{kind}" if (value := row.get(name)) is not None else f"NULL::{kind}"
        for name, kind in kinds.items()
    ]
    places = {name: len(asking.constants) + number for number, name in enumerate(kinds)}

    def literal(node: Tree) -> Tree | None:
        return constant_tree(places[column_name(node)[1]]) if node.kind == "Column" else None

    for one in query.computed:
        if one.block == block:
            text = render(one.figure.replaced(literal), [*asking.constants, *literals])
            asking.constants[one.place] = f"({text})"
