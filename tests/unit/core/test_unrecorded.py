"""Withheld queries that wait to be recorded: what a file of them holds, whatever was written to it."""

from __future__ import annotations

import fcntl
import json
import threading
from itertools import count
from pathlib import Path

import pytest

from kanon_pg.core.unrecorded import FILE, UnrecordedQuery, has_room, moved, note, noted
from kanon_pg.errors import LimitExceeded


def query(number: int, text: str = "SELECT") -> UnrecordedQuery:
    return UnrecordedQuery(float(number), "ann", json.dumps([text, None, "ann"]), "error")


def test_what_is_noted_is_read_in_order_until_it_is_moved(tmp_path: Path) -> None:
    assert noted(tmp_path) == []
    note(tmp_path, query(1))
    note(tmp_path, query(2))
    assert noted(tmp_path) == [query(1), query(2)]
    with moved(tmp_path) as found:
        assert found == [query(1), query(2)]
    assert noted(tmp_path) == []
    with moved(tmp_path) as found:
        assert found == []


def test_what_could_not_be_moved_stays(tmp_path: Path) -> None:
    note(tmp_path, query(1))
    with pytest.raises(ZeroDivisionError), moved(tmp_path):
        raise ZeroDivisionError
    assert noted(tmp_path) == [query(1)]


def test_a_file_that_another_process_keeps_ends_no_limit(tmp_path: Path) -> None:
    """The process that moves queries may hang."""
    note(tmp_path, query(1))
    checks = count()

    def checkpoint() -> None:
        if next(checks) == 3:
            raise LimitExceeded("The time is over.")

    with (tmp_path / FILE).open("rb") as kept:
        fcntl.flock(kept, fcntl.LOCK_EX)
        # without a limit the test would wait for ever
        release = threading.Timer(5, fcntl.flock, (kept, fcntl.LOCK_UN))
        release.start()
        with pytest.raises(LimitExceeded):
            note(tmp_path, query(2), checkpoint)
        release.cancel()
        release.join()
    assert noted(tmp_path) == [query(1)]
    note(tmp_path, query(2), checkpoint)
    assert noted(tmp_path) == [query(1), query(2)]


@pytest.mark.parametrize(
    "line",
    [
        "5",
        "null",
        "{}",
        "[]",
        '["a"]',
        "[" * 100_000,
        '[1.0, "ann", "SELECT", "error"]',
        '[1.0, "ann", "[1, 2, 3]", "error"]',
        '[NaN, "ann", "[\\"SELECT\\", null, \\"ann\\"]", "error"]',
        "\N{SNOWMAN}",
        '[1.0, "ann", "[\\"SEL',
    ],
)
def test_a_line_that_is_no_query_hides_no_other(tmp_path: Path, line: str) -> None:
    """The last one is half written: there was no room, or the machine stopped."""
    note(tmp_path, query(1))
    with (tmp_path / FILE).open("ab") as file:
        file.write(b"\n" + line.encode() + b"\xff")
    note(tmp_path, query(2))
    assert noted(tmp_path) == [query(1), query(2)]
    with moved(tmp_path) as found:
        assert found == [query(1), query(2)]


def test_many_long_queries_are_counted_without_their_texts(tmp_path: Path) -> None:
    for number in range(300):
        note(tmp_path, query(number, "x" * 10_000))
    found = noted(tmp_path)
    assert [one.time for one in found] == list(range(300))
    assert found[0] == query(0, "x" * 10_000)
    assert json.loads(found[-1].query) == [None, None, "ann"]
    assert (tmp_path / FILE).stat().st_size < 2 * 1024 * 1024


def test_the_file_has_a_largest_size(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"\n" * 2 * 1024 * 1024)
    note(tmp_path, query(1))
    assert (tmp_path / FILE).stat().st_size == 2 * 1024 * 1024


def test_there_is_room_until_hundreds_more_would_fill_the_file(tmp_path: Path) -> None:
    assert has_room(tmp_path)
    numbers = count()
    while has_room(tmp_path):
        note(tmp_path, query(next(numbers), "x" * 100_000))
        if next(numbers) > 100:  # lines without texts are short
            with (tmp_path / FILE).open("ab") as file:
                file.write(b"\n" * 100_000)
    before = len(noted(tmp_path))
    for number in range(500):
        note(tmp_path, query(number))
    assert len(noted(tmp_path)) == before + 500
    with moved(tmp_path):
        pass
    assert has_room(tmp_path)


def test_a_file_that_cannot_be_looked_at_has_no_room(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not has_room(tmp_path / "file")
