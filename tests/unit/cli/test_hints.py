from __future__ import annotations

from pathlib import Path

import pytest

import kanon_pg
from kanon_pg.cli.hints import IN_COMMANDS, as_command

_SOURCES = "".join(
    path.read_text(encoding="utf-8")
    for path in Path(kanon_pg.__file__).parent.rglob("*.py")
    if path.name != "hints.py"
)


@pytest.mark.parametrize(("statement", "command"), IN_COMMANDS)
def test_every_hint_that_is_replaced_is_one_that_is_given(statement: str, command: str) -> None:
    assert statement in _SOURCES
    assert as_command(f"Now: {statement} Then more.") == f"Now: {command} Then more."


def test_other_hints_stay() -> None:
    assert as_command("Load data first.") == "Load data first."
    assert as_command(None) is None
