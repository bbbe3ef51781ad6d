"""A finding is marked where it is, whatever the text."""

from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.cli.queries import marked


@given(st.text(max_size=300), st.integers(0, 320), st.integers(0, 320))
def test_marks_stand_below_the_piece_and_nothing_moves_the_cursor(text: str, start: int, end: int) -> None:
    line, marks = marked(text, start, end)
    assert all(character.isprintable() for character in line)
    assert set(marks) <= {" ", "^"}
    if min(end, len(text)) <= start:
        assert marks == ""
        return
    place, size = marks.index("^"), marks.count("^")
    piece = text[start:end].splitlines()
    if piece and piece[0].isascii() and piece[0].isprintable() and piece[0]:
        assert line[place : place + size] == piece[0]


def test_long_lines_are_cut_around_the_piece() -> None:
    line, marks = marked("x" * 500 + "name" + "y" * 500, 500, 504)
    assert line[marks.index("^") :].startswith("name")
    assert len(line) < 150
