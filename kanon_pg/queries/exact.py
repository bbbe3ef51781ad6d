"""Exact answers: blocks are read in one snapshot, judged, and recorded before they leave."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b

from kanon_pg.db.statements import Statement
from kanon_pg.queries.asking import Asking, PlannedBlock
from kanon_pg.queries.counting.guarded import Guarded
from kanon_pg.queries.counting.judging import BlockRow, judge
from kanon_pg.queries.counting.rest import BlockAnswer, Values
from kanon_pg.queries.counting.scans import full_scans
from kanon_pg.queries.record.record import Entry, Record, StoredAnswer
from kanon_pg.queries.request import withheld

_LEFT_OUT = "Rows are left out: too few people stand behind them, or behind differences."


@dataclass(frozen=True, slots=True)
class _ReadBlock:
    """A block as it was read, before anything is decided: its rows, and what each would show."""

    planned: PlannedBlock
    form: Guarded
    kinds: Mapping[str, str]
    rows: Sequence[BlockRow]
    values: Sequence[Values]


class _AskedAgain(Exception):
    """Ends a recording, which is taken back, because a stored answer is given in its place."""

    def __init__(self, stored: StoredAnswer) -> None:
        super().__init__()
        self.stored = stored


def answer_exactly(
    asking: Asking, planned: Sequence[PlannedBlock], kinds: Mapping[str, Mapping[str, str]]
) -> dict[str, BlockAnswer]:
    """Answer blocks together, as one query.

    Parameters
    ----------
    kinds : Mapping of str to Mapping
        Types of keys and figures, by the name of the block.

    Raises
    ------
    AnswerWithheld
        If one of them cannot be answered.
    """
    forms = [asking.form(one) for one in planned]
    spaces = sorted({one.people.space for one in planned})
    entries = {space: asking.ask(asking.records[space]) for space in spaces}
    with asking.withholding(entries), asking.reading(), full_scans(asking.db):
        blocks = [_read(asking, one, form, kinds[one.name]) for one, form in zip(planned, forms, strict=True)]
    answers: dict[str, BlockAnswer | None] = {}
    for space in spaces:
        own = [one for one in blocks if one.planned.people.space == space]
        answers |= _recorded(asking, asking.records[space], entries[space], own)
    # every record has its entry ended before anything is withheld
    shown = {name: answer for name, answer in answers.items() if answer is not None}
    if len(shown) < len(answers):
        raise withheld()
    return shown


def _read(asking: Asking, planned: PlannedBlock, form: Guarded, kinds: Mapping[str, str]) -> _ReadBlock:
    text = f"{form.typed(kinds)} LIMIT {asking.most_rows + 1}"
    groups = asking.db.read(Statement(text, ("text",)), str(asking.record_of(planned).seed))
    asking.require_few(groups)
    keys = [f"k{number}" for number in range(1, len(planned.block.keys) + 1)]
    people = [f"n{number}" for number in range(1, len(planned.block.figures) + 1)]
    rows = [
        BlockRow(
            tuple(row[key] for key in keys),
            row["n0"],
            tuple(row[one] for one in people),
            row["counts"],
            row["sketch"],
        )
        for row in groups
    ]
    return _ReadBlock(planned, form, kinds, rows, [{name: row[name] for name in kinds} for row in groups])


def _recorded(
    asking: Asking, record: Record, entry: int, blocks: Sequence[_ReadBlock]
) -> dict[str, BlockAnswer | None]:
    """Return what is shown of the blocks about the same people, and record it; None if it is withheld."""
    forms = [[one.form.text, dict(one.kinds)] for one in blocks]
    key = blake2b(json.dumps(forms).encode(), digest_size=16).digest()
    try:
        with record.begin(entry, asking.now) as recording:
            payload = _judged(asking, record, recording, blocks, key)
    except _AskedAgain as again:
        asking.answer_again(record, entry, again.stored, ": too few people have changed since.")
        is_complete, payload = json.loads(again.stored.payload)
        if not is_complete:
            asking.notices.append(_LEFT_OUT)
    if payload is None:
        return dict.fromkeys(one.planned.name for one in blocks)
    return {one.planned.name: BlockAnswer(one.kinds, rows) for one, rows in zip(blocks, payload, strict=True)}


def _judged(
    asking: Asking, record: Record, recording: Entry, blocks: Sequence[_ReadBlock], key: bytes
) -> list[list[Values]] | None:
    """Return the rows of blocks that are shown, and record them; None if the answer is withheld.

    `_AskedAgain` has a stored answer to be shown instead; what was recorded is not shown then.

    Raises
    ------
    _AskedAgain
        If a stored answer is shown instead; what was recorded is not shown then.
    """
    judgements = []
    for one in blocks:
        k = one.planned.k
        conflicting = partial(recording.conflicting, k=k)
        judgements.append(judge(one.rows, one.form, conflicting, k=k, buckets=record.buckets))
        recording.record(judgements[-1].sets, k)
    payload = [
        [values for place, values in enumerate(one.values) if place in judgement.shown]
        for judgement, one in zip(judgements, blocks, strict=True)
    ]
    is_complete = [len(judgement.shown) for judgement in judgements] == [len(one.rows) for one in blocks]
    if not is_complete:
        stored = record.stored(key)
        if stored is not None and not _has_keys(payload, json.loads(stored.payload)[1]):
            raise _AskedAgain(stored)
        if any(rule.mode == "reject" for rule in asking.rules):
            recording.withheld("size")
            return None
        asking.notices.append(_LEFT_OUT)
    recording.answered(
        "" if is_complete else "left out",
        int(any(judgement.left_out_secretly for judgement in judgements)),
        key=key,
        payload=json.dumps([is_complete, payload]).encode(),
    )
    return payload


def _has_keys(payload: Sequence[Sequence[Values]], earlier: Sequence[Sequence[Values]]) -> bool:
    """Return whether an answer shows every row that an earlier one to the same query has."""

    def keys(rows: Sequence[Values]) -> set[tuple[str | None, ...]]:
        return {tuple(value for name, value in row.items() if name.startswith("k")) for row in rows}

    return all(keys(then) <= keys(now) for now, then in zip(payload, earlier, strict=True))
