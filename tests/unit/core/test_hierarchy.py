import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.core.hierarchy import MAX_BYTES, MAX_HEIGHT, GeneralizationHierarchy, from_levels, hierarchy_of
from kanon_pg.errors import InputError


def test_a_last_level_with_one_node_is_the_top() -> None:
    found = hierarchy_of([["a", "vowel", "*"], ["b", "consonant", "*"]])
    assert found == GeneralizationHierarchy(("a", "b"), (("vowel", "consonant"),))
    assert (found.height, found.node_counts) == (2, (2, 2, 1))


def test_a_top_is_added_where_the_last_level_has_several_nodes() -> None:
    found = hierarchy_of([["a", "vowel"], ["b", "consonant"]])
    assert found == hierarchy_of([["a", "vowel", "*"], ["b", "consonant", "*"]])


@pytest.mark.parametrize("row", [["a"], ["a", "*"]])
def test_one_value_can_only_be_suppressed(row: list[str]) -> None:
    assert hierarchy_of([row]).height == 1


_ODD = "secret"
_HOSTILE = {
    "has no values": [],
    "has gaps: row 2 has 2 levels, the first has 3": [[_ODD, "x", "*"], ["b", "x"]],
    "has gaps: 1 of its cells at level 1 are NULL": [[_ODD, None, "*"], ["b", "x", "*"]],
    "has gaps: 1 of its cells at level 0 are NULL": [[None, "x", "*"], [_ODD, "x", "*"]],
    "has duplicates: 1 of 2 rows": [[_ODD, "x", "*"], [_ODD, "y", "*"]],
    "1 nodes of level 1 have two parents at level 2": [[_ODD, "x", "p", "*"], ["b", "x", "q", "*"]],
    "1 nodes of level 2 have two parents at level 3": [
        [_ODD, "x", "m", "p", "*"],
        ["b", "y", "m", "q", "*"],
    ],
    "levels above its values": [[_ODD, *map(str, range(MAX_HEIGHT)), "p"], ["b", *map(str, range(64))]],
    "at level 0 has more than": [[_ODD * MAX_BYTES, "x"], ["b", "y"]],
    "at level 1 has more than": [["a", f"{_ODD}\0"], ["b", "y"]],
    "or half a character": [[f"{_ODD}\ud800", "x"], ["b", "y"]],
}


@pytest.mark.parametrize("sentence", _HOSTILE)
def test_what_is_no_hierarchy_is_refused_by_level_and_never_by_value(sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        hierarchy_of(_HOSTILE[sentence])
    assert sentence in refused.value.message
    assert _ODD not in str(refused.value)


def test_a_node_may_have_the_name_of_a_value_or_of_a_node_elsewhere() -> None:
    rows = [["a", "a", "b", "*"], ["b", "b", "b", "*"], ["c", "b", "b", "*"]]
    assert hierarchy_of(rows).node_counts == (3, 2, 1, 1)


def test_single_nodes_below_the_top_stay_only_where_they_are_meant() -> None:
    levels = [["x", "y"], ["all", "all"], ["world", "world"]]
    assert from_levels(["a", "b"], levels).height == 2
    assert from_levels(["a", "b"], levels, keeps_all=True).height == 4


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=12))
def test_levels_are_accepted_exactly_if_each_is_a_function_of_the_one_below(rows: list[list[int]]) -> None:
    texts = [[str(n), *(f"{level}: {cell}" for level, cell in enumerate(row))] for n, row in enumerate(rows)]
    # The top is put on, so that the three random levels are all below it.
    nests = all(
        len({(a, b) for a, b in zip(*pair, strict=True)}) == len(set(pair[0]))
        for pair in ((column, above) for column, above in zip(*_neighbours(rows), strict=True))
    )
    try:
        found = hierarchy_of([*row, "*"] for row in texts)
    except InputError:
        assert not nests
    else:
        assert nests
        assert found.rows() == texts
        assert list(found.node_counts) == sorted(found.node_counts, reverse=True)


def _neighbours(rows: list[list[int]]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    columns = list(zip(*rows, strict=True))
    return columns[:-1], columns[1:]


@pytest.mark.parametrize(
    "rows",
    [
        # the node of a and the node of b
        [["a", "x", "y"], ["b", "z", "x"]],
        # a value and the node of others
        [["1", "0s"], ["10", "1"], ["11", "1"]],
    ],
)
def test_a_name_with_two_meanings_is_refused(rows: list[list[str]]) -> None:
    with pytest.raises(InputError, match="One name of the hierarchy stands for nodes of different levels"):
        hierarchy_of(rows)


@pytest.mark.parametrize(
    "rows",
    [
        [["a", "a", "a"], ["b", "b", "other"], ["c", "other", "other"], ["d", "other", "other"]],
        [["A", "A", "I"], ["A1", "A", "I"], ["B1", "B", "I"], ["C1", "C", "II"]],
    ],
)
def test_a_name_may_go_up_with_its_values(rows: list[list[str]]) -> None:
    assert hierarchy_of(rows).rows() == rows
