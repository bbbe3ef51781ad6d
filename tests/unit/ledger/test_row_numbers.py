"""Numbers of rows and people: given once, the same in every process, durable before they are used."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger.journal import create_journal
from kanon_pg.worker.ledger.row_numbers import MISSING, KeyIndex, RowNumbers, occurrences

ROWS = [["age", "int4"]]
WITH_PEOPLE = [["age", "int4"], ["person"]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "numbers"
    create_journal(file)
    return file


def keys(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.uint64)


def given(
    path: Path, *rows: int, people: tuple[int, ...] | None = None
) -> tuple[list[int], list[int] | None]:
    """Number rows in a process of their own; return their numbers and all owners."""
    row_numbers = RowNumbers(path)
    with row_numbers.exclusive() as writer:
        writer.set_description(ROWS if people is None else WITH_PEOPLE)
        found = writer.number(keys(*rows), None if people is None else keys(*people)).tolist()
    owners = row_numbers.owners
    row_numbers.close()
    return found, None if owners is None else owners.tolist()


def test_a_number_is_given_once(path: Path) -> None:
    first, _ = given(path, 50, 10, 30)
    assert sorted(first) == [0, 1, 2]
    again, _ = given(path, 30, 99, 50)
    assert again[::2] == [first[2], first[0]]
    assert again[1] == 3
    assert given(path, 10)[0] == [first[1]]


def test_rows_that_look_the_same_have_numbers_of_their_own(path: Path) -> None:
    first, _ = given(path, 7, 5, 7, 7)
    assert len(set(first)) == 4
    fewer, _ = given(path, 7, 7)
    assert set(fewer) < set(first)
    more, _ = given(path, 7, 7, 7, 7)
    assert {*first} - {first[1]} < set(more)
    assert len(set(more)) == 4


def test_rows_belong_to_the_people_of_their_hashes(path: Path) -> None:
    first, owners = given(path, 1, 2, 3, people=(100, 200, 100))
    assert owners is not None
    assert owners[first[0]] == owners[first[2]] != owners[first[1]]
    later, owners = given(path, 4, 1, 5, people=(200, 100, 300))
    assert owners is not None
    assert owners[later[0]] == owners[first[1]]
    assert owners[later[1]] == owners[first[0]]
    assert owners[later[2]] == 2


def test_processes_that_read_and_processes_that_gave_agree(path: Path) -> None:
    one, other = RowNumbers(path), RowNumbers(path)
    random = np.random.default_rng(3)
    for row_numbers in (one, other, one):
        with row_numbers.exclusive() as writer:
            writer.set_description(WITH_PEOPLE)
            contents = random.integers(0, 40, 30).astype(np.uint64)
            writer.number(contents, contents % np.uint64(7))
    fresh = RowNumbers(path)
    for row_numbers in (one, other, fresh):
        with row_numbers.exclusive():
            pass
    assert one.owners == other.owners == fresh.owners
    everything = np.arange(40, dtype=np.uint64)
    assert one.find(everything).tolist() == other.find(everything).tolist() == fresh.find(everything).tolist()


def test_another_description_is_refused(path: Path) -> None:
    given(path, 1)
    row_numbers = RowNumbers(path)
    with row_numbers.exclusive() as writer, pytest.raises(LedgerError, match="columns"):
        writer.set_description([["age", "int8"]])
    row_numbers.close()


def test_rows_without_their_people_are_refused(path: Path) -> None:
    row_numbers = RowNumbers(path)
    with row_numbers.exclusive() as writer:
        writer.set_description(WITH_PEOPLE)
        with pytest.raises(LedgerError, match="people"):
            writer.number(keys(1), None)
    row_numbers.close()


@pytest.mark.parametrize("position", [30, -5])
def test_a_changed_file_is_refused(path: Path, position: int) -> None:
    given(path, 1, 2, 3)
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
    with pytest.raises(LedgerError):
        given(path, 1)


def test_what_a_crash_left_half_written_is_given_anew(path: Path) -> None:
    given(path, 1, 2, 3)
    whole = path.stat().st_size
    given(path, 4)
    os.truncate(path, path.stat().st_size - 1)
    assert given(path, 5)[0] == [3]
    assert path.stat().st_size > whole


def test_an_index_tells_occurrences_apart() -> None:
    index = KeyIndex()
    index.add(keys(5, 3, 5), np.array([0, 1, 2], dtype=np.uint32))
    index.add(keys(5), np.array([3], dtype=np.uint32))
    assert index.find(keys(5, 5, 3, 5, 5, 9)).tolist() == [0, 2, 1, 3, int(MISSING), int(MISSING)]
    assert occurrences(keys(1, 1, 2, 3, 3, 3)).tolist() == [0, 1, 0, 0, 1, 2]
    assert KeyIndex().find(keys(1)).tolist() == [int(MISSING)]
