"""Regular expressions that may be asked: constants without groups, matched in linear time.

PostgreSQL compiles a pattern without parentheses, back references and counted repetitions to a
deterministic automaton and reads the text once, so that neither its time nor its memory grows beyond
proportion with a person's value. Nothing in such a pattern can fail while it is matched.
"""

from __future__ import annotations

import re

from kanon_pg.queries.check.bind.constant_checks import text_of
from kanon_pg.queries.check.findings import Refusal
from kanon_pg.queries.check.plan.typed import Bound

_ATOM = r"(?:[A-Za-z0-9 _,;:@%&='\"#~/<>-]|\.|\[\^?(?:[A-Za-z0-9](?:-[A-Za-z0-9])?|[ _,;:@%./])+\])"
_BRANCH = rf"\^?(?:{_ATOM}[*+?]?)+\$?"
_PATTERN = re.compile(rf"{_BRANCH}(?:\|{_BRANCH})*")
_LENGTH = 100
_REPETITIONS = 8


def check_regular_expression(expression: Bound) -> None:
    """Refuse a pattern that is not constant, could fail, or could be slow.

    Parameters
    ----------
    expression : Bound
        The pattern.

    Raises
    ------
    Refusal
        Q205.
    """
    text = text_of(expression)
    if text is None:
        hint = "Write ~ '^abc', or LIKE with a parameter."
        raise Refusal("Q205", expression.span, "A regular expression has to be a constant.", hint)
    repeated = sum(text.count(sign) for sign in "*+?")
    if len(text) <= _LENGTH and repeated <= _REPETITIONS and _PATTERN.fullmatch(text) and _in_order(text):
        return
    sentence = "This regular expression is not allowed."
    hint = "Letters, digits, dots, [a-z], ^, $, | and * + ? are allowed; use LIKE for everything else."
    raise Refusal("Q205", expression.span, sentence, hint)


def _in_order(text: str) -> bool:
    """Tell whether every range runs upwards, inside one kind of characters."""
    ranges = re.findall(r"([A-Za-z0-9])-([A-Za-z0-9])", text)
    return all(first <= last and _kind(first) == _kind(last) for first, last in ranges)


def _kind(character: str) -> str:
    return "digit" if character.isdigit() else "upper" if character.isupper() else "lower"
