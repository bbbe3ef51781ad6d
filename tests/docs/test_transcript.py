"""The comparison of transcripts sees what differs and overlooks figures only."""

import pytest

from tests.docs.transcript import exchanges, matches

OUTPUT = " people | unique \n--------+--------\n  20500 |  19809\n"


def test_statements_and_answers_are_told_apart() -> None:
    text = "db=# SELECT 1\nFROM t;\n a\n\ndb=> SELECT * FROM u \\gx\nERROR:  no\n"
    first, second = exchanges(text)
    assert (first.sql, first.output, first.is_superuser) == ("SELECT 1\nFROM t;", [" a", ""], True)
    assert (second.sql, second.output, second.is_superuser) == ("SELECT * FROM u \\gx", ["ERROR:  no"], False)


@pytest.mark.parametrize(
    "shown",
    [
        OUTPUT.splitlines(),
        ["people|unique".replace("|", " | "), "---+---", "1 | 2"],
        [" people | unique ", "..."],
        ["...", " 5 | 7,000.25"],
        [" people ...", "---+---", "1 ..."],
    ],
)
def test_figures_and_left_out_lines_do_not_matter(shown: list[str]) -> None:
    assert matches(shown, OUTPUT)


@pytest.mark.parametrize(
    "shown",
    [
        [],
        [" people | unique "],
        [" people | alone ", "---+---", "1 | 2"],
        [" people | unique ", "---+---", "1 | x"],
        [" people | unique ", "---+---", "1 | 2", "3 | 4"],
        ["ERROR:  permission denied"],
        [" unique ...", "---+---", "1 | 2"],
        [" people ..."],
    ],
)
def test_everything_else_does(shown: list[str]) -> None:
    assert not matches(shown, OUTPUT)
