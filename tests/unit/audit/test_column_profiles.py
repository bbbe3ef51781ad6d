"""Statistics behind suggested roles, against counting by hand."""

from collections import Counter, defaultdict
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.worker.audit.auditor import column_profiles, dependencies
from kanon_pg.worker.clock import Clock
from tests.fixtures.auditing import read, tables


@given(tables())
def test_profiles_are_counted_values(table):
    rows, people = table
    for number, profile in enumerate(column_profiles(read(rows, people))):
        values = Counter(row[number] for row in rows)
        assert profile.distinct == len(values)
        assert profile.single == sum(count == 1 for count in values.values())
        pairs = [one[number] != other[number] for one, other in combinations(rows, 2)]
        assert abs(profile.separation - (sum(pairs) / len(pairs) if pairs else 0)) < 1e-12


def told_by_hand(rows, telling, told):
    groups = defaultdict(Counter)
    for row in rows:
        groups[row[telling]][row[told]] += 1
    repeated = [group for group in groups.values() if group.total() > 1]
    total = sum(group.total() for group in repeated)
    values = Counter(row[told] for row in rows)
    if len(values) < 2 or total < 0.1 * len(rows) or not total:
        return None
    share = sum(max(group.values()) for group in repeated) / total
    blind = max(values.values()) / len(rows)
    return share if share >= 0.99 and share - blind >= 0.8 * (1 - blind) else None


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 2), min_size=1, max_size=60),
    st.integers(1, 4),
    st.integers(0, 1),
)
def test_dependencies_are_what_the_most_frequent_value_tells(pairs, times, mistakes):
    rows = [(one, other, one // 2, one * 10 + other) for one, other in pairs] * (30 * times)
    rows += [(0, 0, 1, 99)] * mistakes
    found, is_complete = dependencies(read(rows), Clock())
    assert is_complete
    shares = {(one.determinant, one.dependent): one.share for one in found}
    expected = {
        (one, other): share
        for one in range(4)
        for other in range(4)
        if one != other and (share := told_by_hand(rows, one, other)) is not None
    }
    assert shares.keys() == expected.keys()
    assert all(abs(shares[pair] - expected[pair]) < 1e-12 for pair in shares)


def test_a_key_tells_nothing():
    rows = [(number, number % 3) for number in range(50)]
    assert dependencies(read(rows), Clock()) == ([], True)


def test_no_time_is_no_answer():
    rows = [(number % 5, number % 5 // 2) for number in range(50)]
    assert dependencies(read(rows), Clock(0.0)) == ([], False)
    assert [(one.determinant, one.dependent) for one in dependencies(read(rows), Clock())[0]] == [(0, 1)]
