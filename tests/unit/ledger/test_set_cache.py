"""Sets that are kept for the next query with the same groups."""

from __future__ import annotations

import pytest
from pyroaring import BitMap

from kanon_pg.errors import LedgerError
from kanon_pg.worker.ledger import set_cache
from kanon_pg.worker.ledger.set_cache import SetCache, distinct


def part(*numbers: int) -> tuple[BitMap, ...]:
    return (BitMap(numbers),)


def test_sets_are_kept_until_they_are_cleared() -> None:
    known = SetCache()
    known.remember("a", ((part(1, 2),),), 9)
    assert known.get("a") == ((part(1, 2),),)
    assert known.keys() == ["a"]
    known.clear()
    assert known.keys() == []
    with pytest.raises(LedgerError, match="not known"):
        known.get("a")


def test_those_that_were_not_used_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_cache, "_MAX_SETS", 2)
    known = SetCache()
    for key in ("a", "b"):
        known.remember(key, ((part(1),),), 9)
    known.get("a")
    known.remember("c", ((part(1),),), 9)
    assert known.keys() == ["a", "c"]


@pytest.mark.parametrize("members", [(), (1,), (1, 2, 3)])
def test_how_many_are_kept_depends_on_units_and_conditions_never_on_the_sets(
    members: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_cache, "_MAX_UNITS", 10)
    known = SetCache()
    sets = (part(*members),) if members else ()
    known.remember("a", (sets,), 3)
    known.remember("b", (sets, sets), 3)
    assert known.keys() == ["a", "b"]
    known.remember("c", (sets,), 3)
    assert known.keys() == ["b", "c"]
    known.remember("d", (sets,) * 4, 3)
    assert known.keys() == []


def test_equal_and_empty_parts_are_left_out() -> None:
    assert distinct([part(1), (), part(2), part(1)]) == (part(1), part(2))
