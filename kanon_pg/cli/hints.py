"""Hints of the services as a shell has them.

A hint names operations, views and arguments as SQL does: in this form it crosses the connection, so that an
error is the same through every interface. Here each of these references becomes the command or the option
that does the same; what has no command stays SQL.
"""

from __future__ import annotations

import json
import re
import shlex

COMMANDS_OF_FUNCTIONS = {
    "kanon_anonymize": "anonymize",
    "kanon_audit": "audit",
    "kanon_certificate": "certificate",
    "kanon_check_query": "check-query",
    "kanon_composition": "composition",
    "kanon_curve": "curve",
    "kanon_declare": "declare",
    "kanon_drop": "drop",
    "kanon_groups": "group labels",
    "kanon_hierarchy_build": "hierarchy build",
    "kanon_hierarchy_drop": "hierarchy drop",
    "kanon_hierarchy_load": "hierarchy load",
    "kanon_hierarchy_show": "hierarchy show",
    "kanon_identify": "identify",
    "kanon_intervals": "group intervals",
    "kanon_link": "link",
    "kanon_measure": "measure",
    "kanon_query": "query",
    "kanon_rectangles": "group rectangles",
    "kanon_refresh": "refresh",
    "kanon_regions": "group regions",
    "kanon_risk": "risk",
    "kanon_suggest": "suggest",
    "kanon_undeclare": "undeclare",
    "kanon_unlink": "unlink",
}
"""Function to the command that does the same."""

COMMANDS_OF_VIEWS = {
    "kanon.hierarchies": "hierarchy list",
    "kanon.links": "links",
    "kanon.releases": "releases",
}
"""View to the command that shows it."""

_SINGULAR = {"columns": "column", "identifiers": "identifier", "quasi_identifiers": "quasi_identifier"}
"""Arguments that list columns; their options name one of them."""

_OPTIONS_OF_FIELDS = {
    ("diversity",): "--diversity",
    ("distance",): "--distance",
    ("suppressed_rows",): "--suppressed-rows",
    ("over_time",): "--over-time",
    ("remember",): "--remember",
    ("classes", "min"): "--fewest-classes",
    ("classes", "max"): "--most-classes",
}

_EACH_BY_ITSELF = {"kanon_composition"}
"""Functions whose list becomes one word for each element."""

_LITERAL = r"E?'(?:[^']|'')*'"
_CALL = re.compile(rf"SELECT (?:\* FROM )?(?P<function>kanon_\w+)\((?P<arguments>(?:{_LITERAL}|[^()'])*)\);?")
_VIEW = re.compile(r"SELECT \* FROM (?P<view>kanon\.\w+);?")
_NAME = re.compile(r"\bkanon_\w+\b(?!\()")
_ARGUMENT = re.compile(
    rf"\b(?P<name>\w+) => (?P<value>{_LITERAL}|ARRAY\[(?:{_LITERAL}|[^\]'])*\]|[\d.]*\d|\.\.\.)"
)
_WORD = re.compile(r"(?<![-\w])(?:time_limit|quasi_identifiers|max_columns|on_light)(?![\w=])")
_SETTING = re.compile(rf"SET (?P<name>kanon\.\w+) = (?P<value>{_LITERAL})")
_SECONDS = {"second": 1, "minute": 60, "hour": 3600}


def as_command(hint: str | None) -> str | None:
    """Return a hint with commands and options in place of what SQL writes.

    Parameters
    ----------
    hint : str or None
        Hint of an error, or a notice.

    Examples
    --------
    >>> as_command("Remove its record: SELECT kanon_drop('old');")
    'Remove its record: `kanon drop old`'
    >>> as_command("Name them: quasi_identifiers => '{zip,sex}'.")
    'Name them: --quasi-identifier zip,sex.'
    """
    if hint is None:
        return None
    hint = _CALL.sub(_command, hint)
    hint = _VIEW.sub(_listing, hint)
    hint = _SETTING.sub(lambda found: f'PGOPTIONS="-c {found["name"]}={_plain(found["value"])}"', hint)
    hint = _ARGUMENT.sub(_option, hint)
    hint = _NAME.sub(lambda found: _named(found[0]) or found[0], hint)
    return _WORD.sub(lambda found: option_of(found[0]), hint)


def option_of(argument: str) -> str:
    """Return the option that gives an argument; `hierarchies` and `options` are spread over several.

    Examples
    --------
    >>> option_of("time_limit"), option_of("quasi_identifiers")
    ('--time-limit', '--quasi-identifier')
    """
    return "--" + _SINGULAR.get(argument, argument).replace("_", "-")


def _named(function: str) -> str | None:
    command = COMMANDS_OF_FUNCTIONS.get(function)
    return None if command is None else f"`kanon {command}`"


def _command(found: re.Match[str]) -> str:
    command = COMMANDS_OF_FUNCTIONS.get(found["function"])
    if command is None:
        return found[0]
    options = [_option(one) for one in _ARGUMENT.finditer(found["arguments"])]
    rest = _ARGUMENT.sub("", found["arguments"])
    places = [_value(one) for one in re.findall(rf"{_LITERAL}|[\w.]+", rest)]
    if found["function"] in _EACH_BY_ITSELF:
        places = [shlex.quote(name) for one in re.findall(_LITERAL, rest) for name in _elements(_plain(one))]
    return f"`{' '.join(['kanon', command, *places, *options])}`"


def _elements(array: str) -> list[str]:
    """Return the elements in the text of an array of texts."""
    found = re.findall(r'"((?:[^"\\]|\\.)*)"|([^{},"]+)', array)
    return [re.sub(r"\\(.)", r"\1", quoted) or plain for quoted, plain in found]


def _listing(found: re.Match[str]) -> str:
    command = COMMANDS_OF_VIEWS.get(found["view"])
    return found[0] if command is None else f"`kanon {command}`"


def _option(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    if name in ("hierarchies", "options"):
        return _spread(name, json.loads(_plain(value)))
    given = _seconds(_plain(value)) if name == "time_limit" else _value(value)
    return f"{option_of(name)} {given}"


def _spread(name: str, given: dict[str, object]) -> str:
    if name == "hierarchies":
        written = [
            f"{column}={requested if isinstance(requested, str) else json.dumps(requested)}"
            for column, requested in given.items()
        ]
        return " ".join(f"--hierarchy {shlex.quote(one)}" for one in written)
    found = []
    for place, option in _OPTIONS_OF_FIELDS.items():
        value: object = given
        for key in place:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            text = shlex.quote(json.dumps(value)) if isinstance(value, dict) else value
            found.append(f"{option} {text}")
    return " ".join(found)


def _plain(value: str) -> str:
    if value.startswith("E'"):
        value = value[1:].replace("\\\\", "\\")
    return value[1:-1].replace("''", "'") if value.startswith("'") else value


def _value(value: str) -> str:
    """Return a literal as a shell takes it; a list has commas."""
    if value.startswith("ARRAY["):
        return shlex.quote(",".join(_item(_plain(one)) for one in re.findall(_LITERAL, value)))
    text = _plain(value)
    if text.startswith("{") and text.endswith("}"):
        text = ",".join(one.strip() for one in text[1:-1].split(","))
    return text if text == "..." else shlex.quote(text)


def _item(name: str) -> str:
    """Return an item of a list as `kanon_pg.cli.arguments.split_lists` reads it."""
    if name == name.strip() and not re.search(r'[,"\r\n]', name):
        return name
    quoted = name.replace('"', '""')
    return f'"{quoted}"'


def _seconds(interval: str) -> str:
    number, _, unit = interval.partition(" ")
    return str(int(number) * _SECONDS[unit.removesuffix("s")])
