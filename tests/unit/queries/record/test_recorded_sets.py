"""What conflicts with recorded figures, held against a comparison with each of them."""

import tempfile
from array import array
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_pg.errors import InputError
from kanon_pg.queries.record import sets as recorded_sets
from kanon_pg.queries.record.record import Record
from kanon_pg.queries.record.sketches import FigureSet, conflict
from tests.fixtures.records import BUCKETS, K, answer, conflicts, figure, people_sketch


@st.composite
def close_sketches(draw: st.DrawFn) -> list[bytes]:
    """Sketches that stem from few others by few changes, so that many conflict."""
    found = [[0] * BUCKETS]
    for _ in range(draw(st.integers(1, 3))):
        start, size = draw(st.integers(0, BUCKETS - 1)), draw(st.sampled_from([2, 4, 5, 6, 7, 20, 128]))
        cells = [0] * BUCKETS
        for place in range(start, start + size):
            cells[place * 7 % BUCKETS] = draw(st.integers(1, 2))
        found.append(cells)
    for _ in range(draw(st.integers(1, 8))):
        cells = list(draw(st.sampled_from(found)))
        for place in draw(st.lists(st.integers(0, BUCKETS - 1), min_size=1, max_size=7, unique=True)):
            cells[place] = draw(st.integers(0, 2))
        found.append(cells)
    return [array("I", cells).tobytes() for cells in found]


@st.composite
def histories(draw: st.DrawFn) -> list[list[tuple[FigureSet, int]]]:
    """Answers with figures of several tables and contents, by several k."""
    some = st.sampled_from(draw(close_sketches()))
    figures = st.builds(
        FigureSet,
        some,
        st.dictionaries(st.sampled_from(["t", "u", "v"]), some, max_size=2),
        st.dictionaries(st.sampled_from(["c", "d"]), some, max_size=1),
    )
    ks = st.sampled_from([2, 3, K])
    return draw(st.lists(st.lists(st.tuples(figures, ks), min_size=1, max_size=5), min_size=2, max_size=5))


@settings(max_examples=60, deadline=None)
@given(histories(), st.booleans())
def test_conflicts_are_those_of_a_comparison_with_all(
    history: list[list[tuple[FigureSet, int]]], moves_keys: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorded_sets, "_FRESH_KEYS", 3 if moves_keys else 400_000)
        path = Path(folder, "record")
        Record.create(path, K)
        record = Record.open(path)
        recorded: list[tuple[FigureSet, int]] = []
        for figures in history:
            k = figures[0][1]
            expected = {
                place
                for place, (new, _) in enumerate(figures)
                if any(_conflict(new, old, max(k, old_k)) for old, old_k in recorded)
            }
            assert conflicts(record, *(new for new, _ in figures), k=k) == expected
            answer(record, *(new for new, _ in figures), k=k)
            recorded += [(new, k) for new, _ in figures]
        record.verify()
        record.close()


def _conflict(one: FigureSet, other: FigureSet, k: int) -> bool:
    return conflict(one, other, k)


def test_the_same_figures_are_recorded_once(record: Record) -> None:
    figures = [figure(range(20)), figure(range(40, 60)), FigureSet(bytes(512), {"table:1": bytes(512)})]
    answer(record, *figures)
    numbers = record._sets.last()
    answer(record, *figures)
    assert record._sets.last() == numbers
    assert [entry.sets for entry in record.log()] == [numbers, numbers]


def test_a_set_that_is_answered_again_by_a_larger_k_is_compared_by_it(record: Record) -> None:
    answer(record, figure(range(20)), k=2)
    assert not conflicts(record, figure(range(23)), k=2)
    answer(record, figure(range(20)), k=5)
    assert conflicts(record, figure(range(23)), k=2)


def test_people_are_compared_where_no_table_is_shared(record: Record) -> None:
    answer(record, figure(range(20), "table:1"))
    assert conflicts(record, figure(range(21), "table:2")) == {0}
    assert conflicts(record, figure(range(20), "table:2")) == frozenset()


def test_the_content_of_one_person_that_changed_conflicts(record: Record) -> None:
    people = people_sketch(range(20))
    answer(record, FigureSet(people, {"t": people}, {"t:5": people_sketch(range(20), "before")}))
    changed = bytearray(people_sketch(range(20), "before"))
    changed[:4] = b"\1\2\3\4"
    assert conflicts(record, FigureSet(people, {"t": people}, {"t:5": bytes(changed)})) == {0}


def test_k_is_raised_for_all_sets(path: Path, record: Record) -> None:
    other = Record.open(path)
    answer(record, figure(range(40)), figure(range(100, 103)))
    with pytest.raises(InputError):
        conflicts(record, figure(range(48)), k=12)
    record.raise_k(12)
    record.verify()
    for each in (record, other):
        assert conflicts(each, figure(range(48)), k=12) == {0}
        assert conflicts(each, figure(range(48)), k=5) == frozenset()
    with pytest.raises(InputError):
        record.raise_k(33)
    assert record.k == 12
    other.close()
