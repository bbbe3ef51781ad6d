"""Hierarchies as they travel between functions."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.core.hierarchy import hierarchy_of
from kanon_pg.errors import InputError
from kanon_pg.hierarchies.definition import folded, unfolded


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12), st.lists(st.integers(0, 2), min_size=4, max_size=4)
)
def test_a_hierarchy_travels_unchanged(below: list[int], above: list[int]) -> None:
    found = hierarchy_of(
        [f"{place}", f"[{node}]", f"{{{above[node]}}}", ""] for place, node in enumerate(below)
    )
    assert unfolded(json.loads(json.dumps(folded(found)))) == found


def test_a_level_with_one_node_stays_below_the_top() -> None:
    found = hierarchy_of([["a", "all", "*"], ["b", "all", "*"]])
    assert found.height == 2
    assert unfolded(folded(found)) == found


_SECRET = "secret1"


@pytest.mark.parametrize(
    "tree",
    [
        [],
        {},
        5,
        "ab",
        ["ab"],
        [None],
        [[_SECRET, 5]],
        [[_SECRET], 5],
        [[_SECRET], [["x"]]],
        [[_SECRET], [["x"], [1]]],
        [[_SECRET], [["x"], []]],
        [[_SECRET], [["x"], ["0"]]],
        [[_SECRET], [["x"], [0.0]]],
        [[_SECRET], [[5], [0]]],
        [[_SECRET], [[None], [0]]],
        [[_SECRET], [[["x"]], [0]]],
        [[_SECRET], [{"x": 1}, [0]]],
        [[_SECRET], *[[["x"], [0]]] * 100],
        [[_SECRET, _SECRET]],
        [[]],
    ],
)
def test_what_is_no_folded_hierarchy_is_refused_without_a_value(tree: Any) -> None:
    with pytest.raises(InputError) as refused:
        unfolded(tree)
    assert _SECRET not in str(refused.value)
