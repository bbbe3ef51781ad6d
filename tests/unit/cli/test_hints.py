"""Hints and notices name functions, views, arguments, commands and options that exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import kanon_pg
from kanon_pg.admin.install.scripts import OPERATIONS
from kanon_pg.cli.commands import COMMANDS, loaded
from kanon_pg.db.statements import sql_root

_SQL = "\n".join(path.read_text(encoding="utf-8") for path in sql_root().rglob("*.sql"))
_API = set(re.findall(r"FUNCTION \{\{ api \}\}\.(kanon_\w+)\(", _SQL))
_IN_SCHEMA = set(re.findall(r"(?:FUNCTION|VIEW|TABLE(?: IF NOT EXISTS)?|TYPE) kanon\.(\w+)", _SQL))
_SETTINGS = {"memory_budget", "progress"}
_ARGUMENTS = {
    *re.findall(r'(?:^    |[(,] ?)"?(\w+)"? [a-z][\w \[\]]*(?= DEFAULT|,|\)|$)', _SQL, re.MULTILINE),
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


def test_every_text_names_what_exists() -> None:
    for place, text in _TEXTS:
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
