"""Texts are cut as PostgreSQL cuts them, or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.gateway.tokens import MAX_TEXT_CHARACTERS, TokenKind, statements, tokens
from kanon_pg.queries.check.findings import Refusal


def cut(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select 'a;b', \"c;d\" -- e;f\n;", ["select", "'a;b'", ",", '"c;d"', ";"]),
        ("a /* b /* c */ ; */ d", ["a", "d"]),
        ("'it''s' E'it\\'s' e'\\\\'", ["'it''s'", "E'it\\'s'", "e'\\\\'"]),
        ("'a\\' b", ["'a\\'", "b"]),
        ("$1::int4", ["$1", "::", "int4"]),
        ("a+-- b\nc", ["a", "+", "c"]),
        ("a*/**/b", ["a", "*", "b"]),
        ("x$1$ y", ["x$1$", "y"]),
        ("1.5e-3 .5 5.", ["1.5e-3", ".5", "5."]),
        ("größe\u00a0x", ["größe\u00a0x"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_names_are_folded_as_postgresql_folds_them() -> None:
    found = tokens('Abc "Abc" "a""b" ÄB')
    assert [token.name for token in found] == ["abc", "Abc", 'a"b', "Äb"]


@pytest.mark.parametrize(
    "text",
    [
        "do $$begin end$$", "$a$x$a$", "$é$x$é$", "U&'\\0061'", 'u&"\\0061"', "b'1'", "X'1F'", "n'a'",
        "'open", '"open', '""',
        "/* open", "/* /* */", "{fn now()}", "a\\b", "\v", "\x01", "1a", "1_000", "0x1F",
        "$1a", "1.2.3", "1..2", "x" * 64, '"' + "é" * 32 + '"', "a" * (MAX_TEXT_CHARACTERS + 1),
    ],
)  # fmt: skip
def test_what_is_read_differently_elsewhere_is_refused(text: str) -> None:
    with pytest.raises(Refusal):
        tokens(text)


def test_statements_end_at_semicolons_outside_of_everything() -> None:
    found = [[token.text for token in one] for one in statements(tokens("a; ;b ';' (c) -- ;\n;"))]
    assert found == [["a"], ["b", "';'", "(", "c", ")"]]


@pytest.mark.parametrize("text", ["(", ")", "(a;b)", "a)(b", "();)"])
def test_parentheses_must_match(text: str) -> None:
    with pytest.raises(Refusal):
        list(statements(tokens(text)))


@given(st.text())
def test_any_text_is_cut_or_refused_and_nothing_but_blanks_and_comments_is_left_out(text: str) -> None:
    try:
        found = tokens(text)
    except Refusal:
        return
    position = 0
    for token in found:
        gap = text[position : token.start]
        assert token.text == text[token.start : token.end]
        assert not gap.strip(" \t\r\n\f") or gap.strip(" \t\r\n\f").startswith(("--", "/*"))
        position = token.end
    assert all(token.name for token in found if token.kind in (TokenKind.WORD, TokenKind.QUOTED))
