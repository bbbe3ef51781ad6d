from collections.abc import Iterator
from pathlib import Path

import pytest

from kanon_pg.queries.record.record import Record
from tests.fixtures.records import K


@pytest.fixture
def path(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    Record.create(tmp_path / "record", K)
    return tmp_path / "record"


@pytest.fixture
def record(path: Path) -> Iterator[Record]:
    opened = Record.open(path)
    yield opened
    opened.close()
