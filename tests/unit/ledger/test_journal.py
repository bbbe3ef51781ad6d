"""The journal: order between processes, durability, torn ends and damage."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.journal import DIGEST_BYTES, HEADER_BYTES, Journal, JournalMark, create_journal

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    journal = tmp_path / "1.journal"
    create_journal(journal)
    return journal


def record(path: Path, *payloads: bytes) -> list[JournalMark]:
    journal = Journal(path)
    with journal.exclusive() as writer:
        writer.new_records()
        marks = [writer.append(payload) for payload in payloads]
    journal.close()
    return marks


def recorded(path: Path) -> list[bytes]:
    journal = Journal(path)
    try:
        with journal.exclusive() as writer:
            return writer.new_records()
    finally:
        journal.close()


def test_records_come_back_in_order(path: Path) -> None:
    record(path, b"one", b"two")
    record(path, b"three" * 100_000)
    assert recorded(path) == [b"one", b"two", b"three" * 100_000]


def test_a_view_sees_only_what_is_new_to_it(path: Path) -> None:
    journal = Journal(path)
    record(path, b"one")
    with journal.exclusive() as writer:
        assert writer.new_records() == [b"one"]
        writer.append(b"own")
    record(path, b"two")
    with journal.exclusive() as writer:
        assert writer.new_records() == [b"two"]
    journal.close()


def test_reading_can_start_at_a_mark(path: Path) -> None:
    marks = record(path, b"one", b"two")
    journal = Journal(path, start=marks[0])
    with journal.exclusive() as writer:
        assert writer.new_records() == [b"two"]
    assert journal.mark == marks[1]
    journal.close()


def test_nothing_is_written_before_the_others_were_read(path: Path) -> None:
    journal = Journal(path)
    with journal.exclusive() as writer, pytest.raises(LedgerError, match="must be read before"):
        writer.append(b"one")
    journal.close()


@pytest.mark.parametrize("payload", [b"", None])
def test_a_record_is_neither_empty_nor_endless(path: Path, payload: bytes | None) -> None:
    journal = Journal(path)
    with journal.exclusive() as writer:
        writer.new_records()
        with pytest.raises(LedgerError, match="empty or too long"):
            writer.append(bytes(256 * 1024 * 1024 + 1) if payload is None else payload)
    journal.close()
    assert recorded(path) == []


def test_every_torn_end_is_cut_off(path: Path) -> None:
    record(path, b"kept")
    kept = path.read_bytes()
    record(path, b"torn")
    whole = path.read_bytes()
    for length in range(len(kept) + 1, len(whole)):
        path.write_bytes(whole[:length])
        assert recorded(path) == [b"kept"]
        assert path.read_bytes() == kept
    path.write_bytes(kept + bytes(4096))
    assert recorded(path) == [b"kept"]
    record(path, b"next")
    assert recorded(path) == [b"kept", b"next"]


def test_every_changed_bit_is_damage(path: Path) -> None:
    record(path, b"one", b"two")
    whole = path.read_bytes()
    for position in range(HEADER_BYTES - 16, len(whole)):
        for bit in (0, 7):
            changed = bytearray(whole)
            changed[position] ^= 1 << bit
            path.write_bytes(changed)
            with pytest.raises(LedgerError, match="damaged"):
                recorded(path)
            assert path.read_bytes() == changed


def test_a_record_that_is_struck_out_is_damage(path: Path) -> None:
    marks = record(path, b"one", b"two", b"three")
    whole = path.read_bytes()
    path.write_bytes(whole[: marks[0].length] + whole[marks[1].length :])
    with pytest.raises(LedgerError, match="damaged"):
        recorded(path)


def test_an_anchor_finds_a_shortened_or_exchanged_journal(path: Path, tmp_path: Path) -> None:
    marks = record(path, b"one", b"two")
    journal = Journal(path, anchor=marks[1])
    with journal.exclusive() as writer:
        assert writer.new_records() == [b"one", b"two"]
    journal.close()

    path.write_bytes(path.read_bytes()[: marks[0].length])
    shortened = Journal(path, anchor=marks[1])
    with shortened.exclusive() as writer, pytest.raises(LedgerError, match="shorter than"):
        writer.new_records()
    shortened.close()

    other = tmp_path / "other.journal"
    create_journal(other)
    record(other, b"one", b"two")
    exchanged = Journal(other, anchor=marks[1])
    with exchanged.exclusive() as writer, pytest.raises(LedgerError, match="not the one"):
        writer.new_records()
    exchanged.close()


def test_a_journal_that_shrinks_while_open_is_noticed(path: Path) -> None:
    journal = Journal(path)
    record(path, b"one")
    with journal.exclusive() as writer:
        writer.new_records()
    os.truncate(path, HEADER_BYTES)
    with journal.exclusive() as writer, pytest.raises(LedgerError, match="shortened"):
        writer.new_records()
    journal.close()


def test_a_replaced_journal_is_noticed(path: Path, tmp_path: Path) -> None:
    journal = Journal(path)
    other = tmp_path / "other.journal"
    create_journal(other)
    other.rename(path)
    with pytest.raises(LedgerError, match="replaced"), journal.exclusive():
        pass
    path.unlink()
    with pytest.raises(LedgerError, match="gone"), journal.exclusive():
        pass
    journal.close()


def test_others_may_neither_read_nor_link_it(path: Path, tmp_path: Path) -> None:
    path.chmod(0o640)
    with pytest.raises(LedgerError, match="its owner alone"):
        Journal(path)
    path.chmod(0o600)
    os.link(path, tmp_path / "second-name")
    with pytest.raises(LedgerError, match="its owner alone"):
        Journal(path)


def test_links_missing_and_foreign_files_are_not_opened(path: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "text").write_text("something else, long enough for a header")
    for name, words in (("link", "cannot be opened"), ("none", "cannot be opened"), ("text", "damaged")):
        if name == "text":
            (tmp_path / name).chmod(0o600)
        with pytest.raises(LedgerError, match=words):
            Journal(tmp_path / name)


def test_creating_never_replaces_history(path: Path) -> None:
    record(path, b"one")
    with pytest.raises(LedgerError, match="cannot be created"):
        create_journal(path)
    assert recorded(path) == [b"one"]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_failed_flush_is_an_error_and_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    journal = Journal(path)
    monkeypatch.setattr(os, "fdatasync", fail)
    with journal.exclusive() as writer:
        writer.new_records()
        with pytest.raises(LedgerError, match="cannot be written"):
            writer.append(b"lost")
    with pytest.raises(LedgerError, match="was closed"), journal.exclusive():
        pass
    monkeypatch.undo()
    assert recorded(path) == []


def test_a_record_is_flushed_before_append_returns(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed = []
    sync = os.fdatasync

    def watch(descriptor: int) -> None:
        sync(descriptor)
        flushed.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fdatasync", watch)
    marks = record(path, b"one")
    assert flushed == [marks[0].length] == [HEADER_BYTES + 8 + 3 + DIGEST_BYTES]


def test_waiting_for_a_turn_can_be_cancelled(path: Path) -> None:
    class Cancelled(Exception):
        pass

    def cancel() -> None:
        raise Cancelled

    holder, waiting = Journal(path), Journal(path)
    with holder.exclusive(), pytest.raises(Cancelled), waiting.exclusive(cancel):
        pass
    with waiting.exclusive() as writer:
        assert writer.new_records() == []
    holder.close()
    waiting.close()


COUNTERS = 4
ROUNDS = 25


def count_up(path: Path) -> None:
    """Read the last number and record the next, each time under one lock."""
    journal = Journal(path)
    last = 0
    for _ in range(ROUNDS):
        with journal.exclusive() as writer:
            last = max([last, *map(int, writer.new_records())]) + 1
            writer.append(str(last).encode())
    journal.close()


def test_threads_do_not_overlook_each_other(path: Path) -> None:
    threads = [threading.Thread(target=count_up, args=(path,)) for _ in range(COUNTERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [int(payload) for payload in recorded(path)] == list(range(1, COUNTERS * ROUNDS + 1))


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_processes_do_not_overlook_each_other(path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.unit.ledger.test_journal import count_up; "
        "count_up(Path(sys.argv[1]))"
    )
    processes = [python(code, path) for _ in range(COUNTERS)]
    assert [process.communicate()[0] for process in processes] == [""] * COUNTERS
    assert [process.returncode for process in processes] == [0] * COUNTERS
    assert [int(payload) for payload in recorded(path)] == list(range(1, COUNTERS * ROUNDS + 1))


WRITE_AND_WAIT = """
import os, sys
from pathlib import Path
from kanon_pg.worker.ledger.journal import frame_of
from kanon_pg.worker.ledger.journal import Journal
journal = Journal(Path(sys.argv[1]))
with journal.exclusive() as writer:
    writer.new_records()
    writer.append(b"confirmed")
    frame, _ = frame_of(b"half", journal.mark.digest)
    os.write(journal._descriptor, frame[: len(frame) // 2])
    print("half written", flush=True)
    sys.stdin.read()
"""


def test_a_killed_writer_frees_its_turn_and_leaves_what_was_confirmed(path: Path) -> None:
    writer = python(WRITE_AND_WAIT, path)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "half written\n"
    with path.open() as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    writer.kill()
    writer.communicate()
    record(path, b"next")
    assert recorded(path) == [b"confirmed", b"next"]


def test_a_backend_can_load_the_journal_without_other_libraries() -> None:
    code = (
        "import sys; before = set(sys.modules); "
        "import kanon_pg.worker.ledger.journal, kanon_pg.worker.ledger.rules; "
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))"
    )
    output, _ = python(code).communicate()
    assert output == "['kanon_pg']\n"
