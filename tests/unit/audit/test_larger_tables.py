"""Tables large enough for merged lines, several suffixes and shared people, against counting every subset."""

from itertools import combinations

import numpy as np
import pytest

from kanon_pg.core.packed import PackedRowTypes, QuasiIdentifier
from kanon_pg.worker.audit.column_sets import Persons, grouping_of
from kanon_pg.worker.audit.identifying import minimal_identifying_set, smallest_identifying_set
from kanon_pg.worker.audit.violating import find_violating_sets
from kanon_pg.worker.row_types import RowTypeTable
from tests.fixtures.auditing import minimal_by_hand
from tests.fixtures.packing import integers

CARDINALITIES = (40, 12, 7, 5, 4, 3, 3, 2, 2, 2)


def skewed_table(seed: int, rows: int, *, people: int | None = None, nobody: float = 0.0) -> RowTypeTable:
    """Return a table of skewed columns; with `people`, each row is one of so many people, or of nobody."""
    generator = np.random.default_rng(seed)
    cells = [
        (size * generator.random(rows) ** generator.uniform(1.0, 3.0)).astype(int) for size in CARDINALITIES
    ]
    cells[6] = cells[5]  # determined by another column
    types, inverse = np.unique(np.array(cells), axis=1, return_inverse=True)
    count = np.bincount(inverse.ravel())
    keys = list(range(types.shape[1]))
    columns = tuple(QuasiIdentifier(f"c{number}") for number in range(len(CARDINALITIES)))
    packed = tuple(integers(column.tolist()) for column in types)
    if people is None:
        return RowTypeTable.from_packed(
            PackedRowTypes(
                columns, integers(keys), integers(count), integers(count), packed, (None,) * len(columns)
            )
        )
    who = generator.integers(0, people, rows)
    is_known = generator.random(rows) >= nobody
    pairs = np.unique(np.stack([inverse.ravel()[is_known], who[is_known]]), axis=1)
    known = np.bincount(pairs[0], minlength=len(keys))
    return RowTypeTable.from_packed(
        PackedRowTypes(
            columns,
            integers(keys),
            integers(count),
            integers(known),
            packed,
            (None,) * len(columns),
            integers(pairs[0]),
            integers(pairs[1]),
        )
    )


def sizes_of(table: RowTypeTable, columns) -> list[int]:
    """Return the people of each class, counted one by one."""
    class_of = grouping_of(table, columns).class_of
    members: dict[int, set] = {}
    for row_type, number in enumerate(class_of.tolist()):
        own = {(row_type, one) for one in range(int(table.own[row_type]))}
        shared = table.shared_people[table.shared_start[row_type] : table.shared_start[row_type + 1]]
        members.setdefault(number, set()).update(own, shared.tolist())
    return sorted(max(1, len(who)) for who in members.values())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("people", [None, 400, 1500])
@pytest.mark.parametrize("k", [2, 5, 11])
def test_violating_sets_of_larger_tables(seed, people, k):
    table = skewed_table(seed, 2000, people=people, nobody=0.1 * (seed % 2))
    counting = Persons.of(table)
    expected = minimal_by_hand(
        table.width, lambda columns: counting.sizes(grouping_of(table, columns)).min() < k
    )
    assert find_violating_sets(table, k).sets == tuple(expected)


@pytest.mark.parametrize("people", [None, 150])
def test_people_of_classes_are_counted_once(people):
    table = skewed_table(3, 500, people=people, nobody=0.2)
    counting = Persons.of(table)
    for columns in combinations(range(table.width), 2):
        assert sorted(counting.sizes(grouping_of(table, columns)).tolist()) == sizes_of(table, columns)


@pytest.mark.parametrize("seed", range(3))
def test_identifying_sets_of_larger_tables(seed):
    table = skewed_table(seed, 1500)
    expected = minimal_by_hand(table.width, lambda columns: grouping_of(table, columns).count == len(table))
    assert minimal_identifying_set(table) in expected
    smallest = smallest_identifying_set(table)
    assert smallest.columns in expected
    assert len(smallest.columns) == smallest.lower_bound == len(expected[0])
