"""What is kept of compiled templates changes no statement, and nobody else can put something in its place."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kanon_pg.db import statements, template_cache
from kanon_pg.db.identifiers import Identifier

TEXT = statements.render("call_by_name", function=Identifier.of("f")).text


@pytest.fixture
def rendered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    monkeypatch.setattr(template_cache, "lasting_folder", lambda: tmp_path)
    monkeypatch.setattr(template_cache, "folders", lambda own: (own,))

    def in_a_new_session() -> str:
        statements._environment.cache_clear()
        return statements.render("call_by_name", function=Identifier.of("f")).text

    yield in_a_new_session
    statements._environment.cache_clear()


def test_a_statement_is_the_same_with_what_was_kept_and_where_that_is_damaged(
    tmp_path: Path, rendered: Callable[[], str]
) -> None:
    assert rendered() == TEXT
    (kept,) = tmp_path.iterdir()
    for content in (kept.read_bytes(), kept.read_bytes()[:-9], b"j2", b""):
        kept.write_bytes(content)
        assert rendered() == TEXT


def test_what_others_can_write_to_is_not_loaded(tmp_path: Path, rendered: Callable[[], str]) -> None:
    rendered()
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes().replace(b"SELECT", b"DELETE"))
    assert rendered() == TEXT.replace("SELECT", "DELETE")
    kept.chmod(0o666)
    assert rendered() == TEXT
