"""Writes the reference pages from their sources: comments in the database, help texts, the error tree."""

import ast
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

import psycopg
from psycopg.rows import namedtuple_row

from kanon_pg.cli.commands import COMMANDS, loaded
from kanon_pg.errors import KanonError
from tests.docs.pages import ROOT

NOTE = "<!-- Written by `.venv/bin/python -m tests.docs --write`; do not edit. -->"

FUNCTIONS = (
    "kanon_suggest",
    "kanon_declare",
    "kanon_link",
    "kanon_audit",
    "kanon_risk",
    "kanon_identify",
    "kanon_curve",
    "kanon_intervals",
    "kanon_groups",
    "kanon_regions",
    "kanon_rectangles",
    "kanon_hierarchy_build",
    "kanon_hierarchy_load",
    "kanon_hierarchy_define",
    "kanon_hierarchy_show",
    "kanon_hierarchy_values",
    "kanon_hierarchy_missing",
    "kanon_anonymize",
    "kanon_is_anonymous",
    "kanon_measure",
    "kanon_certificate",
    "kanon_release_report",
    "kanon_composition",
    "kanon_refresh",
    "kanon_erase",
    "kanon_drop",
    "kanon_hierarchy_drop",
    "kanon_protect",
    "kanon_check_query",
    "kanon_query",
    "kanon_query_record",
    "kanon_unprotect",
    "kanon_unlink",
    "kanon_undeclare",
    "kanon_help",
    "kanon_version",
    "kanon_install_check",
)
"""In the order in which they are used; the examples run in this order."""

_FAILING = {
    "kanon_composition": ["<!-- fails: KA101 -->"],
    "kanon_erase": ["<!-- fails: KA100 -->"],
    "kanon_link": ["<!-- fails: 42P01 -->"],
    "kanon_unlink": ["<!-- fails: 42P01 -->"],
}
"""Examples that are refused here: the page has one ordinary release, and no table that refers to it."""

_FUNCTION = """
select pg_get_function_arguments(p.oid) as arguments, pg_get_function_result(p.oid) as result,
    obj_description(p.oid, 'pg_proc') as comment,
    array(select a.grantee::regrole::text from aclexplode(p.proacl) as a
        where a.grantee <> p.proowner order by 1) as callers
from pg_proc as p where p.proname = %s
"""

_COLUMNS = """
select a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
    coalesce(col_description(a.attrelid, a.attnum), '') as comment
from pg_attribute as a where a.attrelid = %s::regclass and a.attnum > 0 order by a.attnum
"""

_OWN_FUNCTIONS = "select proname from pg_proc where proname like 'kanon\\_%' order by 1"


def sql_reference(connection: psycopg.Connection[Any]) -> str:
    """Return the page of the functions, types and views of a database with kanon.

    Parameters
    ----------
    connection : psycopg.Connection
        Of a superuser.
    """
    found = {row[0] for row in connection.execute(_OWN_FUNCTIONS)}
    assert found == set(FUNCTIONS), "FUNCTIONS must list every function for users"
    lines = [
        "<!-- database: clinic -->",
        NOTE,
        "# SQL reference",
        "",
        "The functions are in the schema chosen by `kanon install` (`public` by default), the types and",
        "views in schema `kanon`. The server shows the same: `SELECT * FROM kanon_help();`",
        "lists the functions, `SELECT * FROM kanon_help('anonymize');` explains one.",
        "[Arguments](arguments.md) explains the arguments one by one, [errors](errors.md) the refusals.",
        "",
        "## Functions",
    ]
    for name in FUNCTIONS:
        lines += _function(connection, name)
    lines += ["", "## Types", *_columns(connection, "kanon.release_report", "type")]
    lines += _columns(connection, "kanon.curve_point", "type")
    lines += _columns(connection, "kanon.measures", "type")
    lines += _columns(connection, "kanon.composition", "type")
    for name in ("violating_set", "risk", "identifying_set", "suggestion", "value_class", "point_class"):
        lines += _columns(connection, f"kanon.{name}", "type")
    lines += ["", "## Views", *_columns(connection, "kanon.declarations", "view")]
    lines += _columns(connection, "kanon.links", "view")
    lines += _columns(connection, "kanon.hierarchies", "view")
    lines += _columns(connection, "kanon.protections", "view")
    lines += _columns(connection, "kanon.queryable", "view")
    lines += _columns(connection, "kanon.releases", "view")
    lines += _columns(connection, "kanon.published_roles", "view")
    lines += _columns(connection, "kanon.violations", "view")
    lines += _columns(connection, "kanon.health", "view")
    lines += _columns(connection, "kanon.history", "view")
    lines += _columns(connection, "kanon.query_log", "view")
    lines += _columns(connection, "kanon.record_states", "view")
    lines += _columns(connection, "kanon.accounts", "view")
    return "\n".join(lines) + "\n"


def _function(connection: psycopg.Connection[Any], name: str) -> list[str]:
    with connection.cursor(row_factory=namedtuple_row) as cursor:
        row = cursor.execute(_FUNCTION, [name]).fetchone()
    assert row is not None
    description, _, example = row.comment.partition("\nExample: ")
    description, _, meanings = description.partition("\nArguments:\n")
    described = [
        (f"`{name}`", meaning)
        for name, _, meaning in (line.partition(": ") for line in meanings.splitlines())
    ]
    table = ["", *_table(["argument", "meaning"], described)] if described else []
    arguments = ",".join(f"\n    {argument}" for argument in row.arguments.split(", ") if argument)
    signature = f"{name}({arguments}{chr(10) if arguments else ''}) -> {row.result}"
    callers = " and ".join(f"`{caller}`" for caller in row.callers)
    return [
        "", f"### {name}", "", description, "",
        "```text", signature, "```", *table, "",
        f"May be called by members of {callers}.", "",
        *_FAILING.get(name, []), "```sql", example, "```",
    ]  # fmt: skip


def _columns(connection: psycopg.Connection[Any], name: str, kind: str) -> list[str]:
    comment = f"select obj_description('{name}'::reg{'type' if kind == 'type' else 'class'}, %s)"
    described = connection.execute(comment, ["pg_type" if kind == "type" else "pg_class"]).fetchone()
    assert described is not None
    columns = connection.execute(_COLUMNS, [name]).fetchall()
    rows = [[f"`{column}`", f"`{of_type}`", meaning] for column, of_type, meaning in columns]
    return ["", f"### {name}", "", described[0], "", *_table(["column", "type", "meaning"], rows)]


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (headings, ["---"] * len(headings), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def cli_reference() -> str:
    """Return the page of the command line."""
    lines = [
        NOTE,
        "# The command `kanon`",
        "",
        "`kanon --help` and `kanon COMMAND --help` show the same. [Settings](settings.md) says how a command",
        "finds its database, and lists the exit codes. A list of columns is written `zip,age`, or the option",
        "is given several times; a name with a comma is in double quotes: `'\"last, first\",age'`.",
    ]
    panel = None
    for name, entry in COMMANDS.items():
        if entry.panel != panel:
            panel = entry.panel
            lines += ["", f"## {panel}"]
        lines += _command(name)
    return "\n".join(lines) + "\n"


def _command(name: str) -> list[str]:
    command = loaded(name, COMMANDS[name])
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    places = [_place(argument) for argument in arguments]
    usage = " ".join(["kanon", name, *(["[OPTIONS]"] if options else []), *places])
    rows = [[f"`{_place(p)}`", _meaning(p)] for p in arguments]
    rows += [[f"`{_option(p)}`", _meaning(p)] for p in options]
    heading = ["", f"### kanon {name}", "", command.help or "", "", "```text", usage, "```", ""]
    return [*heading, *_table(["argument or option", "meaning"], rows)]


def _place(argument: Any) -> str:
    written = argument.metavar or argument.name.upper()
    return written if argument.required or written.startswith("[") else f"[{written}]"


def _option(option: Any) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    return names if option.is_flag else f"{names} {_value(option)}"


def _value(option: Any) -> str:
    if option.type.name == "choice":
        return "{" + "|".join(option.type.choices) + "}"
    is_number = option.type.name.startswith(("int", "float"))
    return option.metavar or ("NUMBER" if is_number else "VALUE")


def _meaning(parameter: Any) -> str:
    text = parameter.help or ""
    if isinstance(parameter.show_default, str):
        return f"{text} Default: {parameter.show_default}."
    default = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    is_flag = getattr(parameter, "is_flag", False)
    if parameter.show_default and not is_flag and default not in (None, ""):
        return f"{text} Default: `{default}`."
    return text


def error_tree(kind: type[KanonError] = KanonError, depth: int = 0) -> Iterator[tuple[int, type[KanonError]]]:
    """Yield all errors with their depth, parents first."""
    yield depth, kind
    for child in sorted(kind.__subclasses__(), key=lambda child: child.sqlstate):
        yield from error_tree(child, depth + 1)


_CHAPTERS = {
    "Q0": "The text",
    "Q1": "Tables and subqueries",
    "Q2": "Types and functions",
    "Q3": "Expressions and figures",
    "Q4": "Joins and people",
    "Q5": "Keys and rows",
    "Q6": "Noise",
}
"""How codes begin, and what they are about."""

_OF_A_TABLE = (
    "A table cannot be queried: it answers no queries, its people cannot be counted, or reading it may run "
    "code of others.",
    "What the hint says.",
)


def code_reference() -> str:
    """Return the page of the codes of refusals, by chapter, from the calls that raise them."""
    lines = [
        NOTE,
        "# Codes of refused queries",
        "",
        "Why the text of a query is refused, whatever the data are. `kanon_check_query` and the detail of",
        "error `KA901` show the code with its place in the text, counted from 0; the hint says what to write",
        "instead. `…` stands for a name. Reading ends at the first refusal.",
    ]
    rows = sorted(set(_refusals()))
    assert not [code for code, *_ in rows if code[:2] not in _CHAPTERS], "_CHAPTERS must name every chapter"
    for start, title in _CHAPTERS.items():
        own = [row for row in rows if row[0].startswith(start)]
        cells = [[f"`{code}`", _cell(sentence), _cell(hint)] for code, sentence, hint in own]
        lines += ["", f"## {title}", "", *_table(["code", "refused", "instead"], cells)]
    return "\n".join(lines) + "\n"


def _refusals() -> Iterator[tuple[str, str, str]]:
    """Yield code, sentence and hint of every refusal that is raised in the package."""
    for path in sorted((ROOT / "kanon_pg/queries").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name("Refusal"), args=[ast.Constant(str(code)), _, *words]):
                    pass
                case _:
                    continue
            if isinstance(words[0], ast.Starred):
                yield code, *_OF_A_TABLE
            else:
                sentence, hint = (_said(one, constants) for one in (*words, ast.Constant(""))[:2])
                yield code, sentence, hint


def _said(node: ast.expr, constants: dict[str, ast.expr]) -> str:
    """Return a text as a reader sees it, with signs in place of what is filled in."""
    if isinstance(node, ast.Name) and node.id in constants:
        node = constants[node.id]
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = (_said(part, constants) if isinstance(part, ast.Constant) else "…" for part in node.values)
        return "".join(parts)
    return "What PostgreSQL says of types, functions or operators."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")
