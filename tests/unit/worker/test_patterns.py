"""Pattern masks as users write them."""

import numpy as np
import pytest

from kanon_pg.core.packed import QuasiIdentifier
from kanon_pg.errors import InputError, UnknownName
from kanon_pg.worker.patterns import MOST_PATTERNS, all_patterns, parse_patterns

ABCD = tuple(QuasiIdentifier(name) for name in "abcd")
FULL = 0b1111


def vectors(patterns, columns=ABCD):
    return parse_patterns(patterns, columns).vectors.tolist()


def test_lists_name_suppressed_columns_and_the_full_vector_is_added():
    assert vectors([[], ["a"], ["c", "b"], ["a"]]) == [0b0000, 0b0001, 0b0110, FULL]
    assert vectors([]) == [FULL]


def test_constraints():
    assert vectors({}) == list(range(16))
    assert vectors({"max_suppressed": 1}) == [0, 1, 2, 4, 8, FULL]
    assert vectors({"max_suppressed": 0}) == [0, FULL]
    assert vectors({"never": ["a", "b"]}) == [0, 4, 8, 12, FULL]
    assert vectors({"together": [["a", "b"]], "max_suppressed": 2}) == [0, 3, 4, 8, 12, FULL]
    assert vectors({"at_most_one": [["a", "b", "c", "d"]]}) == [0, 1, 2, 4, 8, FULL]


def test_constraints_that_overlap():
    assert vectors({"together": [["a", "b"], ["b", "c"]]}) == [0, 7, 8, FULL]
    assert vectors({"together": [["a", "b"]], "never": ["b"]}) == [0, 4, 8, 12, FULL]
    assert vectors({"together": [["a", "b"]], "at_most_one": [["a", "b"]]}) == [0, 4, 8, 12, FULL]


@pytest.mark.parametrize(
    "patterns",
    [
        "a",
        ["a"],
        [[1]],
        [None],
        7,
        {"max_suppressed": -1},
        {"max_suppressed": True},
        {"max_suppressed": "2"},
        {"never": "a"},
        {"together": ["a"]},
        {"at_most_one": "a"},
    ],
)
def test_other_forms_are_refused_with_the_form_as_hint(patterns):
    with pytest.raises(InputError) as caught:
        parse_patterns(patterns, ABCD)
    assert "max_suppressed" in caught.value.hint


@pytest.mark.parametrize("patterns", [[["z"]], {"never": ["z"]}, {"together": [["a", "z"]]}, {"maximum": 2}])
def test_unknown_names_are_refused(patterns):
    with pytest.raises(UnknownName):
        parse_patterns(patterns, ABCD)


def test_too_many_patterns():
    many = tuple(QuasiIdentifier(f"c{number}") for number in range(40))
    with pytest.raises(InputError, match="too many"):
        parse_patterns({}, many)
    with pytest.raises(InputError, match="too many"):
        all_patterns(many)
    assert len(parse_patterns({"max_suppressed": 2}, many).vectors) == 1 + 40 + 780 + 1 <= MOST_PATTERNS


def test_costs_add_up_the_weights_of_suppressed_columns():
    columns = (QuasiIdentifier("a", weight=0.5), QuasiIdentifier("b", weight=3.0))
    np.testing.assert_array_equal(all_patterns(columns).costs(), [0.0, 0.5, 3.0, 3.5])
