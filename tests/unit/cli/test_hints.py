"""Hints name what exists: in SQL functions, views and arguments, in a shell commands and options."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import kanon_pg
from kanon_pg.admin.install.scripts import OPERATIONS
from kanon_pg.cli.commands import COMMANDS, loaded
from kanon_pg.cli.hints import COMMANDS_OF_FUNCTIONS, COMMANDS_OF_VIEWS, as_command
from kanon_pg.db.identifiers import Literal, array_element
from kanon_pg.db.statements import sql_root

_SQL = "\n".join(path.read_text(encoding="utf-8") for path in sql_root().rglob("*.sql"))
_API = set(re.findall(r"FUNCTION \{\{ api \}\}\.(kanon_\w+)\(", _SQL))
_IN_SCHEMA = set(re.findall(r"(?:FUNCTION|VIEW|TABLE(?: IF NOT EXISTS)?|TYPE) kanon\.(\w+)", _SQL))
_SETTINGS = {"memory_budget", "progress"}
_ARGUMENTS = {
    *re.findall(r'^    "?(\w+)"? [a-z][\w \[\]]*(?: DEFAULT|,|$)', _SQL, re.MULTILINE),
    *(argument for operation in OPERATIONS.values() for argument in operation.arguments),
}
_OPTIONS = {
    option
    for name, entry in COMMANDS.items()
    for parameter in loaded(name, entry).params
    for option in (*parameter.opts, *parameter.secondary_opts)
} | {"--help", "--version"}
_NOT_SHOWN = (
    *("cluster/instance.py", "db/operation.py", "demo/story.py", "gateway/rewrite.py"),
    "queries/check/",
)
"""Modules whose texts are options of other programs, or pieces of statements."""


def _texts() -> Iterator[tuple[str, str]]:
    """Yield all texts of the package that are no docstrings, with their place."""
    package = Path(kanon_pg.__file__).parent
    for path in sorted(package.rglob("*.py")):
        place = str(path.relative_to(package))
        if place.startswith(_NOT_SHOWN):
            continue
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        passed = {id(node.value) for node in nodes if isinstance(node, ast.Expr)} | {
            id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values
        }
        for node in nodes:
            if id(node) in passed:
                continue
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{place}:{node.lineno}", node.value
            elif isinstance(node, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "'field'" for part in node.values)
                yield f"{place}:{node.lineno}", "".join(map(str, parts))


_TEXTS = [
    (place, text)
    for place, text in _texts()
    if re.search(r"\bkanon[_ .]|--[a-z]| => ", text) and " " in text and "pip install" not in text
]


def test_the_texts_are_found() -> None:
    assert len([text for _, text in _TEXTS if "SELECT kanon_" in text]) > 5
    assert len([text for _, text in _TEXTS if " => " in text]) > 20


@pytest.mark.parametrize(("place", "text"), _TEXTS, ids=[place for place, _ in _TEXTS])
def test_every_text_names_what_exists(place: str, text: str) -> None:
    for function in re.findall(r"\b(kanon_\w+)\(", text):
        assert function in _API, place
    for name in re.findall(r"(?:FROM|SELECT|SET) kanon\.(\w+)", text):
        assert name in _IN_SCHEMA | _SETTINGS, place
    for argument in re.findall(r"\b(\w+) => ", text):
        assert argument in _ARGUMENTS, place
    for command in re.findall(r"`kanon ([a-z][a-z-]*(?: [a-z]+)?)", text):
        assert command in COMMANDS or command.split()[0] in COMMANDS, place
    for option in re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", text):
        assert option in _OPTIONS | {"--delete", "--cascade", "--name"}, place


@pytest.mark.parametrize(("place", "text"), _TEXTS, ids=[place for place, _ in _TEXTS])
def test_in_a_shell_nothing_is_left_that_has_a_command(place: str, text: str) -> None:
    if place.startswith(("demo/", "cli/", "reports/")):
        return
    shown = as_command(text) or ""
    for function in re.findall(r"SELECT (?:\* FROM )?(kanon_\w+)\(", shown):
        assert function not in COMMANDS_OF_FUNCTIONS, shown
    assert not re.search(r"\w => ['\d]", shown), shown
    for option in re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", shown):
        assert option in _OPTIONS, shown


def test_the_tables_lead_to_commands_and_options_that_exist() -> None:
    assert set(COMMANDS_OF_FUNCTIONS) <= _API
    assert {view.removeprefix("kanon.") for view in COMMANDS_OF_VIEWS} <= _IN_SCHEMA
    assert {*COMMANDS_OF_FUNCTIONS.values(), *COMMANDS_OF_VIEWS.values()} <= set(COMMANDS)


@pytest.mark.parametrize(
    ("hint", "shown"),
    [
        ("SELECT * FROM kanon.releases lists them.", "`kanon releases` lists them."),
        ("SELECT * FROM kanon.hierarchies lists them.", "`kanon hierarchy list` lists them."),
        ("Remove its record: SELECT kanon_drop(...);", "Remove its record: `kanon drop ...`"),
        ('SELECT * FROM kanon_composition(\'{"a","b c@3"}\');', "`kanon composition a 'b c@3'`"),
        (
            'SELECT * FROM kanon_suggest(\'"public"."t (1)"\') proposes it.',
            '`kanon suggest \'"public"."t (1)"\'` proposes it.',
        ),
        (
            "Declare it: SELECT kanon_declare(..., entity => 'person_id');",
            "Declare it: `kanon declare ... --entity person_id`",
        ),
        (
            "Pass a larger time_limit, for example time_limit => '5 minutes'.",
            "Pass a larger --time-limit, for example --time-limit 300.",
        ),
        ("Or: columns => ARRAY['a', 'b c'].", "Or: --column 'a,b c'."),
        ("Or: columns => ARRAY['a, b', 'c]'].", "Or: --column '\"a, b\",c]'."),
        (
            "Do it: SELECT kanon_declare('\"public\".\"t\"', identifiers => ARRAY['id', 'doc'], "
            "quasi_identifiers => ARRAY['age', 'sex'], sensitive => ARRAY['it''s (new)'], "
            "insensitive => ARRAY['x'], entity => 'p');",
            'Do it: `kanon declare \'"public"."t"\' --identifier id,doc --quasi-identifier age,sex '
            "--sensitive 'it'\"'\"'s (new)' --insensitive x --entity p`",
        ),
        (
            'For example: options => \'{"diversity": "entropy", "classes": {"max": 100}}\'.',
            "For example: --diversity entropy --most-classes 100.",
        ),
        (
            'For example: hierarchies => \'{"age": "ages", "zip": {"hierarchy": "zips"}}\'.',
            'For example: --hierarchy age=ages --hierarchy \'zip={"hierarchy": "zips"}\'.',
        ),
        ("Publish it anew with kanon_anonymize.", "Publish it anew with `kanon anonymize`."),
        ("Use method => 'exact'.", "Use --method exact."),
        ("SELECT kanon_unprotect('t');", "SELECT kanon_unprotect('t');"),
        ("Load data first.", "Load data first."),
        (None, None),
    ],
)
def test_what_a_shell_shows(hint: str | None, shown: str | None) -> None:
    assert as_command(hint) == shown


def test_a_list_of_releases_becomes_a_word_for_each() -> None:
    names = ["a", "b c@3", 'say "x\\"', "it's", "a,b"]
    array = "{" + ",".join(map(array_element, names)) + "}"
    shown = as_command(f"SELECT * FROM kanon_composition({Literal(array)}); says more.")
    assert shlex.split((shown or "").split("`")[1]) == ["kanon", "composition", *names]
