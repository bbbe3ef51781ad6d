"""A record's folder, the census, and the sets that arrive packed."""

from __future__ import annotations

import json
import os
import stat
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger import relation_ledger as books
from kanon_pg.worker.ledger.answers import Answer
from kanon_pg.worker.ledger.folder import CENSUS, CHECKPOINT, MARKS, SECRET, create_folder, existing_folder
from kanon_pg.worker.ledger.journal import heads
from kanon_pg.worker.ledger.relation_ledger import Book, Pieces, Rows, Terms
from kanon_pg.worker.ledger.rules import Budget, Rules
from kanon_pg.worker.ledger.session import Part, Question, decide
from kanon_pg.worker.ledger.table_snapshot import Leaf

TERMS = Terms(Rules(2, "linear"), Budget(), Budget())
STATE = '{"snapshot": "5:5:", "version": [3, 77, ["f"]]}'
Place = tuple[int, int]


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    return tmp_path / "records"


def places(*found: Place) -> bytes:
    return b"".join(struct.pack(">IH", block, line) for block, line in found)


def words(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}Q", *numbers)


def leaf(oid: int, rows: Sequence[tuple[Place, int]]) -> Leaf:
    return Leaf(oid, places(*(place for place, _ in rows)), words(*(row for _, row in rows)), b"")


def pieces(*found: tuple[int, int, bytes], filters: Sequence[Sequence[bytes]] = (), **flags: bool) -> Pieces:
    """Pack pieces of group, table and places; the pieces of filters have the same order."""

    def rows(data: Sequence[bytes]) -> Rows:
        return Rows(words(*map(len, data)), b"".join(data))

    return Pieces(
        disjoint=flags.get("disjoint", True),
        by_content=flags.get("by_content", False),
        groups=words(*(group for group, _, _ in found)),
        leaves=struct.pack(f">{len(found)}I", *(oid for _, oid, _ in found)),
        rows=rows([data for _, _, data in found]),
        filters=tuple(rows(data) for data in filters),
    )


def opened(parent: Path, name: str, leaves: Sequence[Leaf]) -> Book:
    book = Book(parent, name)
    with book.numbering.turn() as turn:
        turn.describe([["a", "int4"]])
        book.take(STATE, leaves, turn, "epoch")
    return book


def test_another_process_takes_the_census_of_the_same_epoch(parent: Path) -> None:
    name = create_folder(parent)
    far = 2**31
    first = opened(
        parent, name, [leaf(7, [((0, 1), 11), ((0, 2), 12)]), leaf(8, [((0, 1), 13), ((far, 2), 14)])]
    )
    first.keeper(TERMS)
    first.save()
    question = [pieces((1, 7, places((0, 2))), (2, 8, places((far, 2))))]
    expected, everybody = first.answer(question), first.population().units
    first.close()
    second = Book(parent, name)
    second.recall("another epoch")
    assert second.state is None
    second.recall("epoch")
    # of which snapshot it was says nothing in another process
    assert json.loads(str(second.state)) == {"snapshot": None, "version": [3, 77, ["f"]]}
    assert second.answer(question) == expected
    assert second.population().units == everybody
    with pytest.raises(LedgerError, match="not there"):
        second.answer([pieces((1, 7, places((0, 3))))])
    second.close()


def test_sets_with_a_key_are_known_until_the_state_changes(parent: Path) -> None:
    name = create_folder(parent)
    book = opened(parent, name, [leaf(7, [((0, 1), 11), ((0, 2), 12), ((0, 3), 13)])])
    sent = replace(pieces((1, 7, places((0, 1), (0, 2))), (2, 7, places((0, 3)))), key="groups")
    told = book.answer([sent])
    assert book.known_sets() == ["groups"]
    assert book.answer(["groups"]) == told
    assert book.answer([sent, "groups"]) == told
    with book.numbering.turn() as turn:
        book.take(STATE, [leaf(7, [((0, 1), 11)])], turn, "epoch")
    assert book.known_sets() == []
    with pytest.raises(LedgerError, match="not known"):
        book.answer(["groups"])
    book.answer([pieces((1, 7, places((0, 1))))])
    assert book.known_sets() == []
    book.close()


@pytest.mark.parametrize("place", [0, 40, -1])
def test_a_census_that_was_changed_is_not_taken(parent: Path, place: int) -> None:
    name = create_folder(parent)
    first = opened(parent, name, [leaf(7, [((0, 1), 11)])])
    first.keeper(TERMS)
    first.save()
    first.close()
    data = bytearray((parent / name / CENSUS).read_bytes())
    data[place] ^= 1
    (parent / name / CENSUS).write_bytes(data)
    second = Book(parent, name)
    second.recall("epoch")
    assert second.state is None
    second.close()


def test_a_census_that_nobody_can_compare_later_is_not_kept(parent: Path) -> None:
    name = create_folder(parent)
    for state, leaves in (
        ('{"snapshot": "5:5:", "version": null}', [leaf(7, [((0, 1), 11)])]),
        (STATE, [Leaf(0, b"", words(11, 12), b"")]),
    ):
        book = Book(parent, name)
        with book.numbering.turn() as turn:
            turn.describe([["a", "int4"]])
            book.take(state, leaves, turn, "epoch")
        book.keeper(TERMS)
        book.save()
        book.close()
        assert not (parent / name / CENSUS).exists()


def unit(book: Book, content: int) -> int:
    return int(book.numbering.find(np.array([content], dtype=np.uint64))[0])


def test_a_folder_is_private_and_named_at_random(parent: Path) -> None:
    one, other = create_folder(parent), create_folder(parent)
    assert one != other
    for path in (parent, parent / one, *(parent / one).iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    assert existing_folder(parent, one) == parent / one


@pytest.mark.parametrize("name", ["..", "", "x" * 32, "f" * 32])
def test_no_other_folder_is_opened(parent: Path, name: str) -> None:
    create_folder(parent)
    with pytest.raises(LedgerError):
        existing_folder(parent, name)


def test_a_folder_that_others_may_enter_is_refused(parent: Path) -> None:
    name = create_folder(parent)
    (parent / name).chmod(0o750)
    with pytest.raises(LedgerError, match="private"):
        Book(parent, name)


def test_sets_are_found_by_place_in_every_table(parent: Path) -> None:
    name = create_folder(parent)
    book = opened(
        parent, name, [leaf(7, [((0, 1), 11), ((0, 2), 12), ((900, 3), 13)]), leaf(8, [((0, 1), 14)])]
    )
    found = book.answer(
        [pieces((1, 7, places((0, 1))), (2, 7, places((900, 3), (0, 2))), (1, 8, places((0, 1))))]
    )
    assert set(map(frozenset, found.levels[0])) == {
        frozenset({unit(book, 11), unit(book, 14)}),
        frozenset({unit(book, 12), unit(book, 13)}),
    }
    assert book.population().units == BitMap(range(4))
    book.close()


def test_rows_far_apart_are_found_as_well(parent: Path) -> None:
    name = create_folder(parent)
    far = (2**31, 5)
    book = opened(parent, name, [leaf(7, [((0, 1), 11), (far, 12)])])
    assert book.answer([pieces((1, 7, places(far)))]).levels == ((BitMap([unit(book, 12)]),),)
    with pytest.raises(LedgerError):
        book.answer([pieces((1, 7, places((1, 5))))])
    book.close()


@pytest.mark.parametrize(
    "level",
    [
        pieces((1, 7, places((0, 3)))),
        pieces((1, 7, places((0, 200)))),
        pieces((1, 7, places((4, 1)))),
        pieces((1, 9, places((0, 1)))),
        pieces((1, 7, places((0, 1), (0, 1)))),
        pieces((1, 7, words(99)), by_content=True),
        Pieces(True, False, words(1), b"\0\0\0\7", Rows(words(6), places((0, 1), (0, 2)))),
    ],
    ids=["no line", "long line", "no block", "no table", "twice", "no content", "too long"],
)
def test_sets_that_do_not_fit_the_census_are_refused(parent: Path, level: Pieces) -> None:
    book = opened(parent, create_folder(parent), [leaf(7, [((0, 1), 11), ((0, 2), 12)])])
    with pytest.raises(LedgerError):
        book.answer([level])
    book.close()


def test_a_filter_leaves_rows_out(parent: Path) -> None:
    rows = [((0, line), 10 + line) for line in range(1, 7)]
    book = opened(parent, create_folder(parent), [leaf(7, rows)])
    every = places(*(place for place, _ in rows[:4])), places(*(place for place, _ in rows[4:]))
    level = pieces(
        (1, 7, every[0]),
        (2, 7, every[1]),
        filters=[[b"", b""], [places((0, 1)), every[1]], [places((0, 1)), b""]],
    )
    units = [unit(book, 10 + line) for line in range(1, 7)]
    groups = (BitMap(units[:4]), BitMap(units[4:]))
    assert book.answer([level]).levels == (
        groups,
        (BitMap(units[1:4]),),
        (BitMap(units[1:4]), groups[1]),
    )
    book.close()


def test_sets_of_rows_that_a_join_repeats_stand_alone(parent: Path) -> None:
    book = opened(parent, create_folder(parent), [leaf(7, [((0, line), line) for line in range(1, 5)])])
    level = pieces(
        (1, 7, places((0, 1), (0, 2), (0, 1))),
        (2, 7, places((0, 1), (0, 3))),
        filters=[[places((0, 1)), b""]],
        disjoint=False,
    )
    one, two, three = (unit(book, content) for content in (1, 2, 3))
    assert book.answer([level]).levels == ((BitMap([one, two]),), (BitMap([one, three]),), (BitMap([one]),))
    book.close()


def test_rows_without_places_are_known_by_their_content(parent: Path) -> None:
    view = [Leaf(0, b"", words(5, 6, 5, 7), b"")]
    book = opened(parent, create_folder(parent), view)
    found = book.answer([pieces((1, 0, words(5, 5)), (2, 0, words(7)), by_content=True)])
    assert [len(units) for units in found.levels[0]] == [2, 1]
    repeated = book.answer([pieces((1, 0, words(5, 5, 5, 5)), by_content=True, disjoint=False)])
    assert [len(units) for units in repeated.levels[0]] == [2]
    book.close()


def asked(book: Book, units: BitMap, terms: Terms = TERMS) -> bool:
    with book.numbering.turn():
        part = Part(book.keeper(terms), book.population(), Answer(((units,),)))
        allowed = decide(Question(1.0, "ann", "q"), [part]).allowed
        book.mark()
    return allowed


ROWS = [leaf(7, [((0, line), line) for line in range(1, 21)])]


def test_a_checkpoint_is_written_after_some_records_and_used(
    parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(books, "CHECKPOINT_RECORDS", 2)
    name = create_folder(parent)
    book = opened(parent, name, ROWS)
    assert asked(book, BitMap(range(10)))
    book.save()
    assert not (parent / name / CHECKPOINT).exists()
    assert asked(book, BitMap(range(5)))
    book.save()
    book.close()
    again = opened(parent, name, ROWS)
    assert again.keeper(TERMS).journal.mark.records == 2
    assert not asked(again, BitMap(range(9)))
    other = Terms(Rules(3, "pairwise"), Budget(), Budget())
    assert again.keeper(other).journal.mark.records == 0
    assert not asked(again, BitMap(range(9)), other)
    assert not asked(again, BitMap(range(8)), other)
    again.close()


@pytest.mark.parametrize("keep", [0, 20, 40, -1])
def test_a_damaged_checkpoint_is_not_used(parent: Path, monkeypatch: pytest.MonkeyPatch, keep: int) -> None:
    monkeypatch.setattr(books, "CHECKPOINT_RECORDS", 1)
    name = create_folder(parent)
    book = opened(parent, name, ROWS)
    assert asked(book, BitMap(range(10)))
    book.save()
    book.close()
    file = parent / name / CHECKPOINT
    file.write_bytes(file.read_bytes()[:keep])
    again = opened(parent, name, ROWS)
    assert again.keeper(TERMS).journal.mark.records == 0
    assert not asked(again, BitMap(range(9)))
    again.close()


def test_a_journal_cut_at_a_record_is_noticed(parent: Path) -> None:
    name = create_folder(parent)
    book = opened(parent, name, ROWS)
    sizes = []
    for count in (10, 15):
        assert asked(book, BitMap(range(count)))
        sizes.append((parent / name / "journal").stat().st_size)
    book.close()
    os.truncate(parent / name / "journal", sizes[0])
    again = opened(parent, name, ROWS)
    with pytest.raises(LedgerError, match="shorter"):
        asked(again, BitMap(range(10)))
    again.close()


@pytest.mark.parametrize("file", [MARKS, SECRET])
@pytest.mark.parametrize("content", [None, b"", b"x" * 200])
def test_marks_and_secret_must_be_there(parent: Path, file: str, content: bytes | None) -> None:
    name = create_folder(parent)
    path = parent / name / file
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with pytest.raises(LedgerError):
        Book(parent, name)


def test_heads_tell_who_asked_what(parent: Path) -> None:
    name = create_folder(parent)
    journal = parent / name / "journal"
    book = opened(parent, name, ROWS)
    assert list(heads(journal)) == []
    asked(book, BitMap(range(10)))
    asked(book, BitMap(range(9)))
    book.close()
    assert list(heads(journal)) == [
        [1.0, "ann", "q", "answered", ""],
        [1.0, "ann", "q", "withheld", "difference"],
    ]
    data = bytearray(journal.read_bytes())
    with journal.open("ab") as file:
        file.write(data[24:40])
    assert len(list(heads(journal))) == 2
    data[-40] ^= 1
    journal.write_bytes(data)
    with pytest.raises(LedgerError, match="damaged"):
        list(heads(journal))
