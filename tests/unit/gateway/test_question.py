"""Which statements are taken for questions about people, and how parameters become constants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.gateway.question import question, with_constants
from kanon_pg.queries.reading.scanner import scan, take_out_constants

NAMES = frozenset({"patients", "Straße", 'a"b'})


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("select count(*) from patients", "select count(*) from patients"),
        (
            "/* ; */ WITH p AS (SELECT 1) SELECT * FROM Patients;",
            "/* ; */ WITH p AS (SELECT 1) SELECT * FROM Patients;",
        ),
        ('select count(*) from "Straße"', 'select count(*) from "Straße"'),
        ('(select count(*) from "a""b")', '(select count(*) from "a""b")'),
        ("declare c no scroll cursor for select 1 from patients", " select 1 from patients"),
        (
            "copy (select 1 from patients where (a)) to stdout (format csv)",
            "select 1 from patients where (a)",
        ),
    ],
)
def test_a_query_that_names_people_is_found(text: str, query: str) -> None:
    found = question(text, NAMES)
    assert found is not None
    assert found.query == query
    assert found.before + found.query + found.after == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "select 'patients'",
        "select $$patients$$ -- patients",
        "select * from wards",
        'select count(*) from "PATIENTS"',
        "select count(*) from straße",
        "insert into x select * from patients",
        "select 1; select count(*) from patients",
        "select U&'x' from patients",
        "select 'patients",
    ],
)
def test_everything_else_passes(text: str) -> None:
    assert question(text, NAMES) is None


values = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=12)


@given(st.lists(st.none() | values, min_size=1, max_size=4), st.sampled_from([20, 25, 1082, 0]))
def test_constants_are_those_of_the_values(given_values: list[str | None], kind: int) -> None:
    text = "select " + ", ".join(f"${number}" for number in range(1, len(given_values) + 1))
    found = with_constants(text, given_values, [kind] * len(given_values))
    scanned = take_out_constants(scan(found.text))
    # equal constants are one, so that a parameter given twice is the same key
    assert len(scanned.constants) == len({value for value in given_values if value is not None})


def test_places_are_those_of_the_text_as_written() -> None:
    text = "select $1, $2 from a where b = $1"
    found = with_constants(text, ["long enough", "7"], [25, 23])
    assert found.text == "select 'long enough', int4 '7' from a where b = 'long enough'"
    for piece in ("select", "from", "where", "b ="):
        assert found.written_at(found.text.index(piece)) == text.index(piece)
