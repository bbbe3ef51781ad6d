"""Examples in the docstrings of rules are refused and accepted; every code stands in the catalogue."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import kanon_pg
from kanon_pg.queries.check.codes import CATALOGUE, CHAPTERS
from kanon_pg.queries.check.options import Options
from kanon_pg.queries.check.rules import LEVEL_RULES, PLAN_RULES
from tests.unit.query.shop import ask

_RULES = [sys.modules[rule.__module__] for rule in (*LEVEL_RULES, *PLAN_RULES)]
_BLOCK = re.compile(r"^(Refused|Accepted)(?: with (\w+) (\w+))?::\n\n((?:    .*\n|\n)+)", re.MULTILINE)
_VALUES: dict[str, str | bool] = {"true": True}


def _examples(kind: str) -> Iterator[tuple[str, set[str], str, Options]]:
    for module in _RULES:
        document = (module.__doc__ or "") + "\n"
        codes = set(re.findall(r"Q\d{3}", document.partition("\nCodes: ")[2].partition("\n")[0]))
        for found, option, value, block in _BLOCK.findall(document):
            chosen = {option: _VALUES.get(value, value)} if option else {}
            for text in re.split(r"\n\s*\n", block.strip()):
                if found == kind:
                    yield module.__name__.rpartition(".")[2], codes, text, replace(Options(), **chosen)


_REFUSED, _ACCEPTED = list(_examples("Refused")), list(_examples("Accepted"))


def test_every_rule_has_a_code_and_examples_of_both_kinds() -> None:
    names = {module.__name__.rpartition(".")[2] for module in _RULES}
    assert {name for name, *_ in _REFUSED} == {name for name, *_ in _ACCEPTED} == names
    assert all(codes for _, codes, *_ in _REFUSED)


@pytest.mark.parametrize(("rule", "codes", "text", "options"), _REFUSED)
def test_a_refused_example_is_refused_by_its_rule(
    rule: str, codes: set[str], text: str, options: Options
) -> None:
    assert {finding.code for finding in ask(text, options).findings} & codes, rule


@pytest.mark.parametrize(("rule", "codes", "text", "options"), _ACCEPTED)
def test_an_accepted_example_is_accepted(rule: str, codes: set[str], text: str, options: Options) -> None:
    assert not ask(text, options).findings, (rule, codes)


def test_the_catalogue_has_every_code_that_is_used_and_no_other() -> None:
    package = Path(kanon_pg.__file__).parent
    used = {
        code
        for path in package.rglob("*.py")
        if path.name != "codes.py"
        for code in re.findall(r"\"([QG]\d{3})\"", path.read_text(encoding="utf-8"))
    }
    listed = [item.code for item in CATALOGUE]
    assert listed == sorted(set(listed), key=lambda code: (code[0] == "G", code))
    assert set(listed) == used
    assert all(item.code[:2] in CHAPTERS and item.sentence and item.reason for item in CATALOGUE)
