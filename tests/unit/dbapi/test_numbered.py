"""Placeholders of psycopg become numbered parameters, and nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.dbapi import with_numbered_parameters
from kanon_pg.errors import InputError

WITHOUT_PERCENT = st.text().filter(lambda text: "%" not in text)


@given(st.lists(st.tuples(WITHOUT_PERCENT, st.sampled_from(["%s", "%b", "%t"]))), WITHOUT_PERCENT)
def test_each_placeholder_takes_the_next_value(pieces: list[tuple[str, str]], end: str) -> None:
    query = "".join(text + placeholder for text, placeholder in pieces) + end
    text, values = with_numbered_parameters(query, list(range(len(pieces))))
    assert values == list(range(len(pieces)))
    assert text == "".join(f"{before}${place}" for place, (before, _) in enumerate(pieces, 1)) + end


@given(WITHOUT_PERCENT)
def test_two_percent_signs_are_one(text: str) -> None:
    assert with_numbered_parameters(text.join(["%%", "%%", "%%"]), []) == (text.join("%%%"), [])


def test_a_name_is_one_parameter_wherever_it_stands() -> None:
    text, values = with_numbered_parameters("%(b)s %(a)s %(b)s", {"a": 1, "b": 2, "c": 3})
    assert (text, values) == ("$1 $2 $1", [2, 1])


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        ("%s", []),
        ("%s", [1, 2]),
        ("", [1]),
        ("%(a)s", [1]),
        ("%s", {"a": 1}),
        ("%(b)s", {"a": 1}),
        ("100 %", [1]),
        ("%d", [1]),
        ("%", []),
        ("%(a)d", {"a": 1}),
        ("%s", "x"),
        ("%s", b"x"),
        ("%s", 1),
        ("%s", {1}),
    ],
)
def test_what_does_not_fit_together_is_refused(query: str, parameters: Any) -> None:
    with pytest.raises(InputError):
        with_numbered_parameters(query, parameters)
