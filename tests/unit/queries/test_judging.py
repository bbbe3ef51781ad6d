"""Figures of one answer are compared with each other, however many people they are about."""

import random
import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_pg.queries.counting.guarded import Guarded, Measure
from kanon_pg.queries.counting.judging import BlockRow, judge
from tests.fixtures.examples import examples

K, BUCKETS = 5, 128
FORM = Guarded(
    types="",
    text="",
    channels=("people", "table:1"),
    measures=(Measure(0, K, False), Measure(1, K, False)),
    sets=2,
    rounded=(None, None),
    divides_people=True,
    secret_keys=(),
    chooses_secretly=False,
)


def shown(people: int, others: int, seed: int) -> int:
    """Return how many rows are shown of an answer with two figures, one of them without `others` people."""
    chance = random.Random(seed)
    cells = [[0] * 4 for _ in range(BUCKETS)]
    for number in range(people):
        bucket, rows = chance.randrange(BUCKETS), [chance.randrange(1, 2**31) for _ in range(2)]
        for place, value in enumerate([*rows, *(rows if number >= others else (0, 0))]):
            cells[bucket][place] = (cells[bucket][place] + value) % 2**31
    sketch = b"".join(struct.pack(">h4i", bucket, *sums) for bucket, sums in enumerate(cells) if any(sums))
    row = BlockRow((), people, (people, people - others), b"", sketch)
    return len(judge([row], FORM, lambda sets: (), k=K, buckets=BUCKETS).shown)


@settings(max_examples=examples(100))
@given(st.integers(2 * K, 2_000), st.integers(1, K - 1), st.integers(0, 2**32))
def test_figures_that_differ_in_few_people_are_not_shown_together(
    people: int, others: int, seed: int
) -> None:
    assert shown(people, others, seed) == 0


def test_figures_of_the_same_people_and_of_many_others_are_shown() -> None:
    assert shown(1_000, 0, 1) == 1
    assert shown(1_000, 500, 1) == 1
