"""Files that must not be trusted: older copies, other ones, damaged ones, those that others may change."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from kanon_pg.errors import LedgerError
from kanon_pg.queries.record.log import Mark
from kanon_pg.queries.record.record import Record
from tests.fixtures.records import answer, figure


def written(path: Path) -> Mark:
    """Write several answers; return the mark after them."""
    record = Record.open(path)
    for start in range(0, 400, 40):
        answer(record, *(figure(range(start, start + size)) for size in (10, 17, 25)))
    mark = record.mark()
    record.close()
    return mark


def changed(path: Path, command: str, *values: object) -> None:
    db = sqlite3.connect(path)
    db.execute(command, values)
    db.commit()
    db.close()


def test_marks_of_before_and_now_are_found(path: Path) -> None:
    before, now = Mark(0, b""), written(path)
    Record.open(path, [before, now]).close()


def test_an_older_copy_is_refused(path: Path) -> None:
    written(path)
    shutil.copy2(path, path.with_name("copy"))
    mark = written(path)
    path.with_name("copy").rename(path)
    with pytest.raises(LedgerError, match="older than what was written") as refused:
        Record.open(path, [mark])
    assert "begin a new record" in str(refused.value.hint)


def test_an_older_copy_that_was_written_to_is_refused(path: Path) -> None:
    written(path)
    shutil.copy2(path, path.with_name("copy"))
    mark = written(path)
    path.with_name("copy").rename(path)
    record = Record.open(path)
    for start in range(0, 400, 40):
        answer(record, figure(range(start, start + 21)), now=1.0)
    record.close()
    with pytest.raises(LedgerError, match="not the one that was written here"):
        Record.open(path, [mark])


def test_the_end_of_the_log_cannot_be_cut_off(path: Path) -> None:
    mark = written(path)
    changed(path, "DELETE FROM log WHERE number = ?", mark.events)
    with pytest.raises(LedgerError):
        Record.open(path, [mark])


@pytest.mark.parametrize(
    "command",
    [
        "DELETE FROM log WHERE number = 5",
        "UPDATE log SET cost = 5 WHERE number = 6",
        "UPDATE log SET login = 'bob' WHERE number = 7",
        "UPDATE log SET digest = zeroblob(32) WHERE number = 8",
        "UPDATE log SET time = time + 0.001 WHERE number = 9",
        "DELETE FROM sets WHERE id = (SELECT max(id) FROM sets)",
        "UPDATE shape SET k = 1000",
        "DROP TABLE keys",
        "PRAGMA user_version = 77",
    ],
)
def test_what_was_changed_is_refused(path: Path, command: str) -> None:
    written(path)
    changed(path, command)
    with pytest.raises(LedgerError):
        _open_and_use(path)


@pytest.mark.parametrize(
    "command",
    [
        "UPDATE sets SET sketch = zeroblob(512) WHERE id = 5",
        "UPDATE sets SET channel = 3 - channel WHERE id = 5",
        "DELETE FROM sets WHERE id = 5",
        "DELETE FROM fresh_keys WHERE key = (SELECT min(key) FROM fresh_keys)",
        "INSERT INTO tiny VALUES (1, 5)",
        "UPDATE sets SET entry = NULL WHERE id = 5",
        "UPDATE log SET seal = zeroblob(16) WHERE number = 4",
    ],
)
def test_what_was_changed_among_the_sets_is_found_by_reading_all(path: Path, command: str) -> None:
    written(path)
    record = Record.open(path)
    record.verify()
    record.close()
    changed(path, command)
    with pytest.raises(LedgerError):
        _open_and_use(path)


def test_a_changed_stored_answer_is_not_given(path: Path, record: Record) -> None:
    with record.begin(record.ask("ann", "q", 0.0).entry, 0.0) as recording:
        recording.answered(key=b"k", payload=b"[1]")
    changed(path, "UPDATE answers SET payload = ?", b"[2]")
    with pytest.raises(LedgerError, match="damaged"):
        record.stored(b"k")
    with pytest.raises(LedgerError, match="damaged"):
        record.verify()


def test_a_truncated_file_is_refused(path: Path) -> None:
    mark = written(path)
    size = path.stat().st_size
    for length in (0, 1, 100, 4096, size // 2, size - 4096, size - 1):
        copy = path.with_name(f"cut{length}")
        shutil.copy2(path, copy)
        os.truncate(copy, length)
        with pytest.raises(LedgerError):
            _open_and_use(copy, mark)


def test_flipped_bytes_are_found_by_reading_all(path: Path) -> None:
    mark = written(path)
    content = path.read_bytes()
    for place in range(0, len(content), 1009):
        page = content[place - place % 4096 : place - place % 4096 + 4096]
        if not any(page):
            continue
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            _open_and_use(path, mark)
        except LedgerError:
            continue
        finally:
            for end in ("-wal", "-shm"):
                path.with_name(path.name + end).unlink(missing_ok=True)
        # only bytes that no one reads: free space in pages, or counters of the header
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        assert _same_rows(path, content)


def _same_rows(path: Path, content: bytes) -> bool:
    original = path.with_name("original")
    original.write_bytes(content)
    dumps = []
    for one in (path, original):
        db = sqlite3.connect(one)
        dumps.append(list(db.iterdump()))
        db.close()
    return dumps[0] == dumps[1]


def _open_and_use(path: Path, *marks: Mark) -> None:
    record = Record.open(path, marks)
    try:
        record.verify(marks)
        record.ask("ann", "q", 0.0)
    finally:
        record.close()


def test_something_else_is_no_record(path: Path) -> None:
    path.write_bytes(b"a text " * 1000)
    with pytest.raises(LedgerError, match="damaged"):
        Record.open(path)


def test_a_missing_file_is_refused_and_not_made(path: Path) -> None:
    path.unlink()
    with pytest.raises(LedgerError, match="missing"):
        Record.open(path)
    assert not path.exists()


def _readable(path: Path) -> None:
    path.chmod(0o640)


def _linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def _hard_linked(path: Path) -> None:
    path.with_name("elsewhere").hardlink_to(path)


def _in_an_open_folder(path: Path) -> None:
    path.parent.chmod(0o770)


def _beside_a_linked_log(path: Path) -> None:
    path.with_name("elsewhere").touch(0o600)
    path.with_name("record-wal").symlink_to(path.with_name("elsewhere"))


def _a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    "change", [_readable, _linked, _hard_linked, _in_an_open_folder, _beside_a_linked_log, _a_pipe]
)
def test_a_file_that_others_could_have_changed_is_refused(path: Path, change: Callable[[Path], None]) -> None:
    change(path)
    with pytest.raises(LedgerError, match="alone can read and write"):
        Record.open(path)


def test_a_file_of_another_account_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(LedgerError, match="alone can read and write"):
        Record.open(path)


def test_a_file_that_is_replaced_while_it_is_open_is_not_written(path: Path, record: Record) -> None:
    answer(record, figure(range(20)))
    path.rename(path.with_name("elsewhere"))
    Record.create(path, 5)
    with pytest.raises(LedgerError, match="replaced"):
        record.ask("ann", "q", 0.0)


def test_a_file_that_is_removed_while_it_is_open_is_not_written(path: Path, record: Record) -> None:
    path.unlink()
    with pytest.raises(LedgerError, match="missing"):
        record.ask("ann", "q", 0.0)


def test_files_are_readable_by_their_owner_alone(path: Path, record: Record) -> None:
    answer(record, figure(range(20)))
    assert {one.stat().st_mode & 0o777 for one in path.parent.iterdir()} == {0o600}
