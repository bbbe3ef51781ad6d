"""A record's folder, the table snapshot, and the sets that arrive packed."""

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

from kanon_pg.errors import LedgerError, LedgerUnavailable
from kanon_pg.worker.ledger import relation_ledger as relation_ledgers
from kanon_pg.worker.ledger import set_cache
from kanon_pg.worker.ledger.answers import AnswerSets
from kanon_pg.worker.ledger.folder import (
    CHECKPOINT,
    MARKS,
    SECRET,
    TABLE_SNAPSHOT,
    create_folder,
    existing_folder,
)
from kanon_pg.worker.ledger.journal import read_heads
from kanon_pg.worker.ledger.partition_files import (
    MOST_STORED,
    PartitionFiles,
    StoredPartition,
    state_digest,
)
from kanon_pg.worker.ledger.relation_ledger import RelationLedger, RulesAndBudgets
from kanon_pg.worker.ledger.rules import LedgerRules, QueryBudget
from kanon_pg.worker.ledger.sent_sets import ComposedSets, PackedRows, PackedSets, SentPartition, SentSets
from kanon_pg.worker.ledger.session import LoggedQuery, RelationPart, decide
from kanon_pg.worker.ledger.table_snapshot import LeafTable

TERMS = RulesAndBudgets(LedgerRules(2, "linear"), QueryBudget(), QueryBudget())
STATE = '{"snapshot": "5:5:", "version": [3, 77, ["f"]]}'
Place = tuple[int, int]


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    return tmp_path / "records"


def tids(*found: Place) -> bytes:
    return b"".join(struct.pack(">IH", block, line) for block, line in found)


def words(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}Q", *numbers)


def leaf(oid: int, rows: Sequence[tuple[Place, int]]) -> LeafTable:
    return LeafTable(oid, tids(*(place for place, _ in rows)), words(*(row for _, row in rows)), b"")


def answer_of(ledger: RelationLedger, levels: Sequence[PackedSets | str]) -> AnswerSets:
    """Return the sets behind an answer whose rows no sensitive column chooses."""
    return ledger.answer(
        [SentSets(1, "groups", narrowed=False, is_whole=True, sets=level) for level in levels]
    )


def pieces(
    *found: tuple[int, int, bytes], filters: Sequence[Sequence[bytes]] = (), **flags: bool
) -> PackedSets:
    """Pack pieces of group, table and tids; the pieces of filters have the same order."""

    def rows(data: Sequence[bytes]) -> PackedRows:
        return PackedRows(words(*map(len, data)), b"".join(data))

    return PackedSets(
        disjoint=flags.get("disjoint", True),
        by_content=flags.get("by_content", False),
        groups=words(*(group for group, _, _ in found)),
        leaves=struct.pack(f">{len(found)}I", *(oid for _, oid, _ in found)),
        rows=rows([data for _, _, data in found]),
        filters=tuple(rows(data) for data in filters),
    )


def opened(parent: Path, name: str, leaves: Sequence[LeafTable], state: str = STATE) -> RelationLedger:
    ledger = RelationLedger(parent, name)
    with ledger.row_numbers.exclusive() as writer:
        writer.set_description([["a", "int4"]])
        ledger.take_snapshot(state, leaves, writer, "epoch")
    return ledger


def test_another_process_takes_the_snapshot_of_the_same_epoch(parent: Path) -> None:
    name = create_folder(parent)
    far = 2**31
    first = opened(
        parent, name, [leaf(7, [((0, 1), 11), ((0, 2), 12)]), leaf(8, [((0, 1), 13), ((far, 2), 14)])]
    )
    first.session(TERMS)
    first.save()
    query = [pieces((1, 7, tids((0, 2))), (2, 8, tids((far, 2))))]
    expected, everybody = answer_of(first, query), first.population().units
    first.close()
    second = RelationLedger(parent, name)
    second.load_snapshot("another epoch")
    assert second.state is None
    second.load_snapshot("epoch")
    # of which snapshot it was says nothing in another process
    assert json.loads(str(second.state)) == {"snapshot": None, "version": [3, 77, ["f"]]}
    assert answer_of(second, query) == expected
    assert second.population().units == everybody
    with pytest.raises(LedgerError, match="not there"):
        answer_of(second, [pieces((1, 7, tids((0, 3))))])
    second.close()


def test_sets_with_a_key_are_known_until_the_state_changes(parent: Path) -> None:
    name = create_folder(parent)
    ledger = opened(parent, name, [leaf(7, [((0, 1), 11), ((0, 2), 12), ((0, 3), 13)])])
    sent = replace(pieces((1, 7, tids((0, 1), (0, 2))), (2, 7, tids((0, 3)))), key="groups")
    disclosed = answer_of(ledger, [sent])
    assert ledger.cached_keys() == ["groups"]
    assert answer_of(ledger, ["groups"]) == disclosed
    assert answer_of(ledger, [sent, "groups"]) == disclosed
    with ledger.row_numbers.exclusive() as writer:
        ledger.take_snapshot(STATE, [leaf(7, [((0, 1), 11)])], writer, "epoch")
    assert ledger.cached_keys() == []
    with pytest.raises(LedgerError, match="not known"):
        answer_of(ledger, ["groups"])
    answer_of(ledger, [pieces((1, 7, tids((0, 1))))])
    assert ledger.cached_keys() == []
    ledger.close()


def by_value(key: str, *groups: Sequence[Place]) -> SentPartition:
    """Pack a partition of a table."""
    packed = pieces(*((number, 7, tids(*places)) for number, places in enumerate(groups, 1)))
    return SentPartition(replace(packed, key=key), is_truth=False)


def denied(key: str, *places: Place) -> SentPartition:
    """Pack the rows for which a condition is not true."""
    return SentPartition(replace(pieces((1, 7, tids(*places))), key=key), is_truth=True)


def composed_of(ledger: RelationLedger, sets: ComposedSets, *partitions: SentPartition) -> AnswerSets:
    sent = SentSets(1, "groups", narrowed=False, is_whole=True, sets=sets)
    return ledger.answer([sent], partitions)


SIX = [((0, line), line) for line in range(1, 7)]
BY_SEX = by_value("sex", [(0, 1), (0, 2), (0, 3)], [(0, 4), (0, 5)], [(0, 6)])
BY_WARD = by_value("ward", [(0, 1), (0, 4), (0, 6)], [(0, 2), (0, 3), (0, 5)])


def test_sets_are_composed_of_partitions(parent: Path) -> None:
    ledger = opened(parent, create_folder(parent), [leaf(7, SIX)])
    sets = ComposedSets("ward", (("sex", (1, 3)),), ((("paid", (1,)),), (("sex", ()),)), "query")
    found = composed_of(ledger, sets, BY_SEX, BY_WARD, denied("paid", (0, 1), (0, 6)))
    one, two, three, *_, six = (unit(ledger, content) for content in range(1, 7))
    assert found.levels == ((BitMap([one, six]), BitMap([two, three])), (BitMap([two, three]),))
    assert set(ledger.cached_keys()) == {"query", "sex", "ward", "paid"}
    assert answer_of(ledger, ["query"]) == found
    # the partitions need not come again
    again = composed_of(ledger, ComposedSets("sex", (("ward", (2,)),), (), "other"))
    assert set(map(len, again.levels[0])) == {2, 1}
    whole = composed_of(ledger, ComposedSets(None, (), (), "all"))
    assert whole.levels == ((ledger.population().units,),)
    nobody = composed_of(ledger, ComposedSets("ward", (("sex", ()),), (), "none"))
    assert nobody.levels == ()
    ledger.close()


def test_partitions_of_another_state_are_not_known(parent: Path) -> None:
    ledger = opened(parent, create_folder(parent), [leaf(7, SIX)])
    sets = ComposedSets("ward", (), (), "query")
    assert composed_of(ledger, sets, BY_WARD).levels
    with ledger.row_numbers.exclusive() as writer:
        ledger.take_snapshot(STATE, [leaf(7, SIX[:5])], writer, "epoch")
    assert ledger.cached_keys() == []
    with pytest.raises(LedgerError, match="not known"):
        composed_of(ledger, sets)
    ledger.close()


@pytest.mark.parametrize(
    "partition",
    [
        by_value("ward", [(0, 1), (0, 2)], [(0, 3), (0, 4), (0, 5)]),
        by_value("ward", [(0, 1), (0, 2), (0, 3)], [(0, 3), (0, 4), (0, 5), (0, 6)]),
        by_value("ward", [(0, 1), (0, 2)], [(0, 2), (0, 3), (0, 4), (0, 5)]),
        SentPartition(
            replace(pieces((2, 7, tids(*(place for place, _ in SIX)))), key="ward"), is_truth=False
        ),
    ],
    ids=["a row lacks", "one twice", "one twice, one lacks", "numbers"],
)
def test_a_partition_has_every_row_once(parent: Path, partition: SentPartition) -> None:
    ledger = opened(parent, create_folder(parent), [leaf(7, SIX)])
    with pytest.raises(LedgerError, match="every row once"):
        composed_of(ledger, ComposedSets("ward", (), (), "query"), partition)
    ledger.close()


def storing(parent: Path, name: str) -> list[str]:
    """Have two partitions of six rows stored, and one that is for one session; return their files."""
    ledger = opened(parent, name, [leaf(7, SIX)])
    sets = ComposedSets("ward", (("sex", (1, 3)), ("paid", (1,))), (), "query")
    composed_of(
        ledger,
        sets,
        replace(BY_SEX, statement="aa"),
        replace(BY_WARD, statement="bb"),
        denied("paid", (0, 1), (0, 6)),
    )
    assert ledger.stored_partitions() == []
    ledger.save()
    assert sorted(ledger.stored_partitions()) == ["aa", "bb"]
    ledger.close()
    return sorted(path.name for path in (parent / name).glob("partition*"))


def test_partitions_serve_other_sessions(parent: Path) -> None:
    name = create_folder(parent)
    assert len(storing(parent, name)) == 2
    other = RelationLedger(parent, name)
    assert not other.load_partition("aa", "sex"), "of no state"
    other.load_snapshot("epoch")
    assert sorted(other.stored_partitions()) == ["aa", "bb"]
    assert not other.load_partition("cc", "sex")
    assert other.cached_keys() == []
    assert other.load_partition("aa", "sex")
    assert other.load_partition("bb", "ward")
    with other.row_numbers.exclusive():
        pass  # reads them
    sets = ComposedSets("ward", (("sex", (1, 3)),), (), "query")
    one, two, three, *_, six = (unit(other, content) for content in range(1, 7))
    assert composed_of(other, sets).levels == ((BitMap([one, six]), BitMap([two, three])),)
    assert other.cached_keys() == ["query", "sex", "ward"]
    # one of other values is of no use
    assert not other.load_partition("aa", "another key")
    assert other.stored_partitions() == ["bb"]
    other.close()


@pytest.mark.parametrize(
    "state",
    [
        STATE.replace("77", "78"),
        STATE.replace('["f"]', '["g"]'),
    ],
)
def test_partitions_of_another_state_are_removed(parent: Path, state: str) -> None:
    name = create_folder(parent)
    storing(parent, name)
    ledger = RelationLedger(parent, name)
    with ledger.row_numbers.exclusive() as writer:
        ledger.take_snapshot(state, [leaf(7, SIX)], writer, "epoch")
    assert ledger.stored_partitions() == []
    assert not ledger.load_partition("aa", "sex")
    ledger.save()
    assert not list(ledger.folder.glob("partition*"))
    ledger.close()


def test_partitions_of_another_epoch_are_not_known(parent: Path) -> None:
    name = create_folder(parent)
    storing(parent, name)
    ledger = RelationLedger(parent, name)
    with ledger.row_numbers.exclusive() as writer:
        ledger.take_snapshot(STATE, [leaf(7, SIX)], writer, "another epoch")
    assert ledger.stored_partitions() == []
    ledger.close()


@pytest.mark.parametrize("damage", ["a byte", "cut off", "another's", "of another state", "gone"])
def test_a_partition_that_cannot_be_trusted_is_not_loaded(parent: Path, damage: str) -> None:
    name = create_folder(parent)
    first, second = storing(parent, name)
    folder = parent / name
    ledger = RelationLedger(parent, name)
    ledger.load_snapshot("epoch")
    data = bytearray((folder / first).read_bytes())
    if damage == "a byte":
        data[-1] ^= 1
        (folder / first).write_bytes(data)
    elif damage == "cut off":
        (folder / first).write_bytes(data[:-1])
    elif damage == "another's":
        (folder / first).write_bytes((folder / second).read_bytes())
    elif damage == "of another state":
        ledger.state = STATE.replace("77", "78")
        (folder / first).rename(folder / f"partition.{state_digest(ledger.state, 'epoch')}.aa")
        assert ledger.stored_partitions() == ["aa"]
    else:
        (folder / first).unlink()
    assert not ledger.load_partition("aa", "sex")
    # so that the relation is read, and the partition stored
    assert "aa" not in ledger.stored_partitions()
    ledger.close()


def test_the_partitions_that_were_used_last_are_stored(tmp_path: Path) -> None:
    files = PartitionFiles(tmp_path, b"key")
    for number in range(MOST_STORED + 3):
        partition = StoredPartition(f"{number:02x}", "key", (BitMap([number]),))
        files.write("aa", partition)
        os.utime(tmp_path / f"partition.aa.{number:02x}", ns=(number, number))
        assert files.read("aa", "00") == StoredPartition("00", "key", (BitMap([0]),))
    assert sorted(files.statements("aa")) == [
        "00",
        *(f"{number:02x}" for number in range(4, MOST_STORED + 3)),
    ]


def test_a_transaction_that_may_roll_back_removes_no_partitions(parent: Path) -> None:
    name = create_folder(parent)
    stored = storing(parent, name)
    ledger = RelationLedger(parent, name)
    ledger.load_snapshot("epoch")
    with ledger.row_numbers.exclusive() as writer:
        ledger.take_snapshot('{"snapshot": null, "version": null}', [leaf(7, SIX[:5])], writer, "epoch")
    assert ledger.stored_partitions() == []
    ledger.save()
    assert sorted(path.name for path in ledger.folder.glob("partition*")) == stored
    # after it rolled back the stored state is the present one
    ledger.load_snapshot("epoch", renew=True)
    assert sorted(ledger.stored_partitions()) == ["aa", "bb"]
    ledger.close()


def test_partitions_belong_to_the_table_snapshot_that_others_load(parent: Path) -> None:
    name = create_folder(parent)
    first = opened(parent, name, [leaf(7, SIX)])
    first.save()
    # the same rows, read when another transaction was the oldest one
    second = opened(parent, name, [leaf(7, SIX)], STATE.replace("77", "78"))
    second.save()
    composed_of(second, ComposedSets("ward", (), (), "query"), replace(BY_WARD, statement="bb"))
    second.save()
    composed_of(first, ComposedSets("sex", (), (), "query"), replace(BY_SEX, statement="aa"))
    first.save()
    assert second.stored_partitions() == ["bb"]
    assert first.stored_partitions() == []
    # a session whose table snapshot is not of the present state takes that
    first.load_snapshot("epoch")
    assert first.stored_partitions() == []
    first.load_snapshot("epoch", renew=True)
    assert first.stored_partitions() == ["bb"]
    assert first.cached_keys() == []
    composed_of(first, ComposedSets("sex", (), (), "query"), replace(BY_SEX, statement="aa"))
    first.save()
    assert sorted(second.stored_partitions()) == ["aa", "bb"]
    # its own one stays if nobody saved another
    state, keys = second.state, second.cached_keys()
    second.load_snapshot("epoch", renew=True)
    assert (second.state, second.cached_keys()) == (state, keys)
    # of another epoch nothing holds
    second.load_snapshot("another epoch")
    assert (second.state, second.cached_keys()) == (None, [])
    first.close()
    second.close()


def test_loading_partitions_pushes_out_nothing_that_the_query_needs(
    parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = create_folder(parent)
    storing(parent, name)
    monkeypatch.setattr(set_cache, "_MAX_SETS", 1)
    ledger = RelationLedger(parent, name)
    ledger.load_snapshot("epoch")
    paid = ComposedSets(None, (("paid", (1,)),), (), "paid")
    composed_of(ledger, paid, denied("paid", (0, 1), (0, 6)))
    assert ledger.load_partition("aa", "sex")
    assert ledger.load_partition("bb", "ward")
    found = composed_of(ledger, ComposedSets("ward", (("sex", (1,)), ("paid", (1,))), (), "query"))
    assert [len(units) for units in found.levels[0]] == [2]
    ledger.close()


def test_what_cannot_be_written_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "partition.aa.01").mkdir()
    with pytest.raises(LedgerUnavailable):
        PartitionFiles(tmp_path, b"key").write("aa", StoredPartition("01", "key", ()))
    assert [path.name for path in tmp_path.iterdir()] == ["partition.aa.01"]


def test_drafts_of_processes_that_were_killed_are_removed(parent: Path) -> None:
    name = create_folder(parent)
    old, new = parent / name / ".partition.aa.01.5", parent / name / ".census.6"
    for draft in (old, new):
        draft.write_bytes(b"begun")
    os.utime(old, (0, 0))
    ledger = opened(parent, name, [leaf(7, SIX)])
    ledger.save()
    assert not old.exists()
    assert new.exists()
    ledger.close()


@pytest.mark.parametrize("place", [0, 3, -1])
def test_a_value_that_a_partition_does_not_have_is_refused(parent: Path, place: int) -> None:
    ledger = opened(parent, create_folder(parent), [leaf(7, SIX)])
    with pytest.raises(LedgerError, match="does not have"):
        composed_of(ledger, ComposedSets(None, (("ward", (place,)),), (), "query"), BY_WARD)
    ledger.close()


@pytest.mark.parametrize("place", [0, 40, -1])
def test_a_snapshot_that_was_changed_is_not_taken(parent: Path, place: int) -> None:
    name = create_folder(parent)
    first = opened(parent, name, [leaf(7, [((0, 1), 11)])])
    first.session(TERMS)
    first.save()
    first.close()
    data = bytearray((parent / name / TABLE_SNAPSHOT).read_bytes())
    data[place] ^= 1
    (parent / name / TABLE_SNAPSHOT).write_bytes(data)
    second = RelationLedger(parent, name)
    second.load_snapshot("epoch")
    assert second.state is None
    second.close()


def test_a_snapshot_that_nobody_can_compare_later_is_not_kept(parent: Path) -> None:
    name = create_folder(parent)
    for state, leaves in (
        ('{"snapshot": "5:5:", "version": null}', [leaf(7, [((0, 1), 11)])]),
        (STATE, [LeafTable(0, b"", words(11, 12), b"")]),
    ):
        ledger = RelationLedger(parent, name)
        with ledger.row_numbers.exclusive() as writer:
            writer.set_description([["a", "int4"]])
            ledger.take_snapshot(state, leaves, writer, "epoch")
        ledger.session(TERMS)
        ledger.save()
        ledger.close()
        assert not (parent / name / TABLE_SNAPSHOT).exists()


def unit(ledger: RelationLedger, content: int) -> int:
    return int(ledger.row_numbers.find(np.array([content], dtype=np.uint64))[0])


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
        RelationLedger(parent, name)


def test_sets_are_found_by_place_in_every_table(parent: Path) -> None:
    name = create_folder(parent)
    ledger = opened(
        parent, name, [leaf(7, [((0, 1), 11), ((0, 2), 12), ((900, 3), 13)]), leaf(8, [((0, 1), 14)])]
    )
    found = answer_of(
        ledger, [pieces((1, 7, tids((0, 1))), (2, 7, tids((900, 3), (0, 2))), (1, 8, tids((0, 1))))]
    )
    assert set(map(frozenset, found.levels[0])) == {
        frozenset({unit(ledger, 11), unit(ledger, 14)}),
        frozenset({unit(ledger, 12), unit(ledger, 13)}),
    }
    assert ledger.population().units == BitMap(range(4))
    ledger.close()


def test_rows_far_apart_are_found_as_well(parent: Path) -> None:
    name = create_folder(parent)
    far = (2**31, 5)
    ledger = opened(parent, name, [leaf(7, [((0, 1), 11), (far, 12)])])
    assert answer_of(ledger, [pieces((1, 7, tids(far)))]).levels == ((BitMap([unit(ledger, 12)]),),)
    with pytest.raises(LedgerError):
        answer_of(ledger, [pieces((1, 7, tids((1, 5))))])
    ledger.close()


@pytest.mark.parametrize(
    "level",
    [
        pieces((1, 7, tids((0, 3)))),
        pieces((1, 7, tids((0, 200)))),
        pieces((1, 7, tids((4, 1)))),
        pieces((1, 9, tids((0, 1)))),
        pieces((1, 7, tids((0, 1), (0, 1)))),
        pieces((1, 7, words(99)), by_content=True),
        PackedSets(True, False, words(1), b"\0\0\0\7", PackedRows(words(6), tids((0, 1), (0, 2)))),
    ],
    ids=["no line", "long line", "no block", "no table", "twice", "no content", "too long"],
)
def test_sets_that_do_not_fit_the_snapshot_are_refused(parent: Path, level: PackedSets) -> None:
    ledger = opened(parent, create_folder(parent), [leaf(7, [((0, 1), 11), ((0, 2), 12)])])
    with pytest.raises(LedgerError):
        answer_of(ledger, [level])
    ledger.close()


def test_a_filter_leaves_rows_out(parent: Path) -> None:
    rows = [((0, line), 10 + line) for line in range(1, 7)]
    ledger = opened(parent, create_folder(parent), [leaf(7, rows)])
    every = tids(*(place for place, _ in rows[:4])), tids(*(place for place, _ in rows[4:]))
    level = pieces(
        (1, 7, every[0]),
        (2, 7, every[1]),
        filters=[[b"", b""], [tids((0, 1)), every[1]], [tids((0, 1)), b""]],
    )
    units = [unit(ledger, 10 + line) for line in range(1, 7)]
    groups = (BitMap(units[:4]), BitMap(units[4:]))
    assert answer_of(ledger, [level]).levels == (
        groups,
        (BitMap(units[1:4]),),
        (BitMap(units[1:4]), groups[1]),
    )
    ledger.close()


def test_sets_of_rows_that_a_join_repeats_stand_alone(parent: Path) -> None:
    ledger = opened(parent, create_folder(parent), [leaf(7, [((0, line), line) for line in range(1, 5)])])
    level = pieces(
        (1, 7, tids((0, 1), (0, 2), (0, 1))),
        (2, 7, tids((0, 1), (0, 3))),
        filters=[[tids((0, 1)), b""]],
        disjoint=False,
    )
    one, two, three = (unit(ledger, content) for content in (1, 2, 3))
    assert answer_of(ledger, [level]).levels == (
        (BitMap([one, two]),),
        (BitMap([one, three]),),
        (BitMap([one]),),
    )
    ledger.close()


def test_rows_without_tids_are_known_by_their_content(parent: Path) -> None:
    view = [LeafTable(0, b"", words(5, 6, 5, 7), b"")]
    ledger = opened(parent, create_folder(parent), view)
    found = answer_of(ledger, [pieces((1, 0, words(5, 5)), (2, 0, words(7)), by_content=True)])
    assert [len(units) for units in found.levels[0]] == [2, 1]
    repeated = answer_of(ledger, [pieces((1, 0, words(5, 5, 5, 5)), by_content=True, disjoint=False)])
    assert [len(units) for units in repeated.levels[0]] == [2]
    ledger.close()


def asked(ledger: RelationLedger, units: BitMap, terms: RulesAndBudgets = TERMS) -> bool:
    with ledger.row_numbers.exclusive():
        part = RelationPart(ledger.session(terms), ledger.population(), AnswerSets(((units,),)))
        allowed = decide(LoggedQuery(1.0, "ann", "q"), [part]).allowed
        ledger.save_marks()
    return allowed


ROWS = [leaf(7, [((0, line), line) for line in range(1, 21)])]


def test_a_checkpoint_is_written_after_some_records_and_used(
    parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relation_ledgers, "CHECKPOINT_RECORDS", 2)
    name = create_folder(parent)
    ledger = opened(parent, name, ROWS)
    assert asked(ledger, BitMap(range(10)))
    ledger.save()
    assert not (parent / name / CHECKPOINT).exists()
    assert asked(ledger, BitMap(range(5)))
    ledger.save()
    ledger.close()
    again = opened(parent, name, ROWS)
    assert again.session(TERMS).journal.mark.records == 2
    assert not asked(again, BitMap(range(9)))
    other = RulesAndBudgets(LedgerRules(3, "pairwise"), QueryBudget(), QueryBudget())
    assert again.session(other).journal.mark.records == 0
    assert not asked(again, BitMap(range(9)), other)
    assert not asked(again, BitMap(range(8)), other)
    again.close()


@pytest.mark.parametrize("keep", [0, 20, 40, -1])
def test_a_damaged_checkpoint_is_not_used(parent: Path, monkeypatch: pytest.MonkeyPatch, keep: int) -> None:
    monkeypatch.setattr(relation_ledgers, "CHECKPOINT_RECORDS", 1)
    name = create_folder(parent)
    ledger = opened(parent, name, ROWS)
    assert asked(ledger, BitMap(range(10)))
    ledger.save()
    ledger.close()
    file = parent / name / CHECKPOINT
    file.write_bytes(file.read_bytes()[:keep])
    again = opened(parent, name, ROWS)
    assert again.session(TERMS).journal.mark.records == 0
    assert not asked(again, BitMap(range(9)))
    again.close()


def test_a_journal_cut_at_a_record_is_noticed(parent: Path) -> None:
    name = create_folder(parent)
    ledger = opened(parent, name, ROWS)
    sizes = []
    for count in (10, 15):
        assert asked(ledger, BitMap(range(count)))
        sizes.append((parent / name / "journal").stat().st_size)
    ledger.close()
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
        RelationLedger(parent, name)


def test_every_changed_bit_of_the_secret_is_noticed(parent: Path) -> None:
    name = create_folder(parent)
    file = parent / name / SECRET
    whole = file.read_bytes()
    for bit in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        with pytest.raises(LedgerError, match="secret"):
            RelationLedger(parent, name)
    file.write_bytes(whole)
    RelationLedger(parent, name).close()


def test_the_secret_of_another_record_is_refused(parent: Path) -> None:
    one, other = create_folder(parent), create_folder(parent)
    (parent / one / SECRET).write_bytes((parent / other / SECRET).read_bytes())
    with pytest.raises(LedgerError, match="another journal"):
        RelationLedger(parent, one)


def test_a_secret_of_an_older_version_is_kept_and_protected_from_then_on(parent: Path) -> None:
    name = create_folder(parent)
    file = parent / name / SECRET
    whole = file.read_bytes()
    file.write_bytes(whole[:24])
    ledger = RelationLedger(parent, name)
    assert ledger.secret.seed == int.from_bytes(whole[16:24], signed=True)
    assert ledger.secret.key == whole[:16]
    ledger.close()
    assert file.read_bytes() == whole
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_heads_tell_who_asked_what(parent: Path) -> None:
    name = create_folder(parent)
    journal = parent / name / "journal"
    ledger = opened(parent, name, ROWS)
    assert list(read_heads(journal)) == []
    asked(ledger, BitMap(range(10)))
    asked(ledger, BitMap(range(9)))
    ledger.close()
    assert list(read_heads(journal)) == [
        [1.0, "ann", "q", "answered", "", None, []],
        [1.0, "ann", "q", "withheld", "difference"],
    ]
    data = bytearray(journal.read_bytes())
    with journal.open("ab") as file:
        file.write(data[24:40])
    assert len(list(read_heads(journal))) == 2
    data[-40] ^= 1
    journal.write_bytes(data)
    with pytest.raises(LedgerError, match="damaged"):
        list(read_heads(journal))
