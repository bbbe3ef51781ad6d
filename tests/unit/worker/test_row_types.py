"""Row types as arrays, their pairs with people, classes, usefulness and the independent recount."""

import struct
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.core.packed import PackedRowTypes
from kanon_pg.errors import SolverError
from kanon_pg.worker.classes import classes_of
from kanon_pg.worker.measures import usefulness
from kanon_pg.worker.numbering import _by_occurrence, number_values
from kanon_pg.worker.row_types import RowTypeTable, with_distinct_pairs
from kanon_pg.worker.solution import Solution
from kanon_pg.worker.verification.recount import CountedSolution, recount, require_k
from tests.fixtures.packing import pack


def table_of(rows, **options):
    return RowTypeTable.from_packed(pack(rows, **options))


def test_people_in_several_row_types_are_kept_apart_from_the_others():
    table = table_of([("a",), ("a",), ("b",), ("b",), ("c",)], people=["p", "q", "p", "r", None])
    assert table.people.tolist() == [2, 2, 0]
    assert table.own.tolist() == [1, 1, 0]
    assert np.diff(table.shared_start).tolist() == [1, 1, 0]
    assert table.total_people == 3


def test_numeric_codes_follow_the_numbers():
    table = table_of([(10,), (9,), (-1,)], names=["n"], numeric=["n"])
    assert table.codes.tolist() == [[2, 1, 0]]
    assert table.cardinalities.tolist() == [3]


def test_equal_values_of_different_columns_have_different_hashes():
    table = table_of([("a", "a")])
    assert table.hashes[0, 0] != table.hashes[1, 0]


def test_usefulness_is_the_mean_tuple_diversity():
    # Classes {1, 2} and {3, 3}: numbers span 1 of 2 and 0; names cover 2 of 3 and 1 of 3.
    rows = [(1, "a"), (2, "b"), (3, "c"), (3, "c")]
    table = table_of(rows, names=["n", "x"], numeric=["n"])
    assert usefulness(table, np.array([0, 0, 1]), 2) == pytest.approx(((0.5 + 2 / 3) + (0 + 1 / 3)) / 2)


def test_usefulness_leaves_missing_numbers_out_of_ranges():
    table = table_of([(float("nan"),), (1.0,), (3.0,)], names=["n"], numeric=["n"])
    assert usefulness(table, np.array([0, 0, 1]), 2) == 0.0
    assert usefulness(table, np.array([0, 0, 0]), 1) == 1.0


def suppressed(packed, vectors):
    return Solution.undivided(RowTypeTable.from_packed(packed), np.array(vectors))


def test_recount_counts_people_and_costs():
    packed = pack([("a", 1), ("a", 2), ("b", 1)], ["x", "y"], people=["p", "p", "q"], weights={"y": 2.5})
    counted = recount(packed, suppressed(packed, [0b10, 0b10, 0b00]), np.array([0, 0, 1]))
    assert counted == CountedSolution(smallest=1, suppressed_cells=2, weighted_cost=5.0, average=1.0)


@pytest.mark.parametrize("patterns", [[0b00, 0b00], [0b10, 0b00], [0b01, 0b10], [0b01, 0b01]], ids=str)
def test_recount_refuses_classes_whose_rows_look_different(patterns):
    packed = pack([("a", 1), ("a", 2)])
    with pytest.raises(SolverError, match="taken for one class"):
        recount(packed, suppressed(packed, patterns), np.array([0, 0]))


def test_require_k():
    require_k(CountedSolution(5, 0, 0.0, 5.0), 5)
    with pytest.raises(SolverError, match="class of 4 people, fewer than 5"):
        require_k(CountedSolution(4, 0, 0.0, 4.0), 5)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=50), st.integers(1, 60))
def test_values_are_numbered_as_by_sorting(values, repeats):
    array = np.array(values * repeats, dtype=np.int64)
    numbers, first = number_values(array)
    _, expected_first, expected = np.unique(array, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(numbers, expected)
    np.testing.assert_array_equal(first, expected_first)


def test_a_column_of_a_larger_array_is_numbered_by_the_same_compiled_code():
    random = np.random.default_rng(3)
    columns = random.integers(0, 9, (40, 3))
    expected = number_values(columns[:, 1].copy())
    compiled = len(_by_occurrence.signatures)
    for found, known in zip(number_values(columns[:, 1]), expected, strict=True):
        np.testing.assert_array_equal(found, known)
    assert len(_by_occurrence.signatures) == compiled


def test_class_numbers_do_not_depend_on_the_order_of_rows():
    rows = [("a", 1), ("b", 1), ("c", 2), ("a", 2)]
    assigned = np.array([0b01, 0b01, 0b10, 0b10])
    straight = classes_of(table_of(rows), assigned)
    reverse = classes_of(table_of(rows[::-1]), assigned[::-1].copy())
    assert straight.class_of.tolist() == reverse.class_of[::-1].tolist()
    assert straight.rows.tolist() == reverse.rows.tolist()


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
