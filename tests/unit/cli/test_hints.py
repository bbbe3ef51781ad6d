"""Hints and notices name functions, views, arguments, commands and options that exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import kanon_pg
from kanon_pg.admin.install.scripts import OPERATIONS
from kanon_pg.cli.commands import COMMANDS, loaded
from kanon_pg.db.statements import sql_root

_SETTINGS = {"memory_budget", "progress"}


def _texts() -> Iterator[tuple[str, str]]:
    """Yield the texts of the package that are no docstrings and mention kanon, with their place."""
    package = Path(kanon_pg.__file__).parent
    for path in sorted(package.rglob("*.py")):
        place = str(path.relative_to(package))
        if place == "db/operation.py":  # its texts are pieces of statements
            continue
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        passed = {id(node.value) for node in nodes if isinstance(node, ast.Expr)} | {
            id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values
        }
        for node in nodes:
            if id(node) in passed:
                continue
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            elif isinstance(node, ast.JoinedStr):
                text = "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "'field'" for part in node.values
                )
            else:
                continue
            if re.search(r"\bkanon[_ .]|--[a-z]| => ", text) and " " in text and "pip install" not in text:
                yield f"{place}:{node.lineno}", text


def test_every_text_names_what_exists() -> None:
    sql = "\n".join(path.read_text(encoding="utf-8") for path in sql_root().rglob("*.sql"))
    functions = set(re.findall(r"FUNCTION \{\{ api \}\}\.(kanon_\w+)\(", sql))
    in_schema = set(re.findall(r"(?:FUNCTION|VIEW|TABLE(?: IF NOT EXISTS)?|TYPE) kanon\.(\w+)", sql))
    arguments = {
        *re.findall(r'^    "?(\w+)"? [a-z][\w \[\]]*(?: DEFAULT|,|$)', sql, re.MULTILINE),
        *(argument for operation in OPERATIONS.values() for argument in operation.arguments),
    }
    options = {
        option
        for name, entry in COMMANDS.items()
        for parameter in loaded(name, entry).params
        for option in (*parameter.opts, *parameter.secondary_opts)
    } | {"--help", "--version", "--delete", "--cascade", "--name"}
    texts = list(_texts())
    for place, text in texts:
        for function in re.findall(r"\b(kanon_\w+)\(", text):
            assert function in functions, place
        for name in re.findall(r"(?:FROM|SELECT|SET) kanon\.(\w+)", text):
            assert name in in_schema | _SETTINGS, place
        for argument in re.findall(r"\b(\w+) => ", text):
            assert argument in arguments, place
        for command in re.findall(r"`kanon ([a-z][a-z-]*(?: [a-z]+)?)", text):
            assert command in COMMANDS or command.split()[0] in COMMANDS, place
        for option in re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", text):
            assert option in options, place
    assert len([text for _, text in texts if "SELECT kanon_" in text]) > 5
    assert len([text for _, text in texts if " => " in text]) > 20
