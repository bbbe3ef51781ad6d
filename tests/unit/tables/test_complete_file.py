"""A file appears complete or not at all, and leaves nothing else."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from kanon_pg.errors import InputError
from kanon_pg.tables.complete_file import complete_or_absent


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.parametrize(("private", "mode"), [(False, 0o644), (True, 0o600)])
def test_a_file_is_replaced_when_it_is_complete(tmp_path: Path, private: bool, mode: int) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"before")
    with complete_or_absent(path, "It", private=private) as file:
        file.write(b"after")
        (part,) = set(tmp_path.iterdir()) - {path}
        assert stat.S_IMODE(part.stat().st_mode) == mode
        assert path.read_bytes() == b"before"
    assert path.read_bytes() == b"after"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, OSError(28, "No space left on device"), KeyboardInterrupt])
def test_what_stops_leaves_the_file_as_it_was(
    tmp_path: Path, error: BaseException | type[BaseException]
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"before")
    kind = error if isinstance(error, type) else InputError
    with pytest.raises(kind), complete_or_absent(path, "It") as file:
        _stop(file, error)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def _stop(file: BinaryIO, error: BaseException | type[BaseException]) -> None:
    file.write(b"after")
    raise error


@pytest.mark.parametrize("place", [".", "folder", "nowhere/t.csv", "t" * 256])
def test_a_place_for_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()
    with (
        pytest.raises(InputError, match=r"^It cannot be written: [A-Z]"),
        complete_or_absent(Path(place), "It"),
    ):
        pass
    assert list(tmp_path.iterdir()) == [folder]


def test_a_pipe_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with complete_or_absent(pipe, "It") as file:
            file.write(b"x")
        assert os.read(reading, 10) == b"x"
    finally:
        os.close(reading)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_name_may_be_as_long_as_names_may_be(tmp_path: Path) -> None:
    path = tmp_path / ("t" * 255)
    with complete_or_absent(path, "It") as file:
        file.write(b"x")
    assert path.read_bytes() == b"x"
