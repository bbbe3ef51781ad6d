"""Pairs of row types and people that come once for each row: each counts once, whatever their order."""

from __future__ import annotations

import struct
from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.worker.row_types import with_distinct_pairs

NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2)


def packed(numbers: list[int]) -> bytes:
    return struct.pack(f">{len(numbers)}q", *numbers)


def numbers(buffer: bytes) -> list[int]:
    return [number for (number,) in struct.iter_unpack(">q", buffer)]


@given(st.data())
def test_repeated_pairs_count_once(data: st.DataObject) -> None:
    keys = data.draw(st.lists(NUMBERS, min_size=1, max_size=6, unique=True))
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(keys), NUMBERS), max_size=20))
    given_types = PackedRowTypes(
        columns=(),
        keys=packed(keys),
        rows=packed([max(1, len(pairs))] * len(keys)),
        people=b"",
        cells=(),
        values=(),
        pair_keys=packed([key for key, _ in pairs]),
        pair_people=packed([person for _, person in pairs]),
    )
    people = defaultdict(set)
    for key, person in pairs:
        people[key].add(person)
    found = with_distinct_pairs(given_types)
    assert numbers(found.people) == [len(people[key]) for key in keys]
    listed = list(zip(numbers(found.pair_keys), numbers(found.pair_people), strict=True))
    assert len(listed) == len(set(listed))
    assert set(listed) == set(pairs)
    assert with_distinct_pairs(found) is found
