"""Arguments and options that several commands share."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from kanon_pg.core.solving import METHODS
from kanon_pg.db.operation import Operation
from kanon_pg.errors import InputError

Relation = Annotated[
    str, typer.Argument(help="Table or view, as in SQL: name or schema.name.", metavar="TABLE")
]
AnyRelation = Annotated[
    str, typer.Argument(help="Table, view or release, as in SQL: name or schema.name.", metavar="TABLE")
]
Release = Annotated[
    str,
    typer.Argument(
        help="Name of the release as `kanon releases` shows it, or its view as in SQL: safe.name."
    ),
]
Method = Annotated[str, typer.Option(help=f"How to solve: {', '.join(METHODS)}.")]
Patterns = Annotated[
    str | None,
    typer.Option(metavar="JSON", help="Which columns may be suppressed together; @FILE reads a file."),
]
Seed = Annotated[int | None, typer.Option(help="Break ties at random, reproducibly.")]


def k_option(help_text: str, **settings: Any) -> Any:
    """Return the option ``-k``, which is written alike in all commands."""
    return typer.Option("-k", "--k", metavar="NUMBER", help=help_text, **settings)


def column_option(
    option: str, help_text: str, *more: str, metavar: str = "COLUMN,...", **settings: Any
) -> Any:
    """Return an option that names columns: with commas between them, in several options, or both."""
    return typer.Option(option, *more, metavar=metavar, help=help_text, callback=split_lists, **settings)


def split_lists(given: list[str] | None) -> list[str] | None:
    """Return the items of all values of an option; one with a comma is in double quotes, none is empty.

    Examples
    --------
    >>> split_lists(["zip,age", '"last, first"'])
    ['zip', 'age', 'last, first']
    """
    if given is None:
        return None
    items = split_items(given)
    if not all(items):
        raise typer.BadParameter("an item of the list is empty")
    return items


def split_items(given: list[str]) -> list[str]:
    """Return the items of all values of an option as `split_lists` does; they may be empty."""
    return [
        item.strip() for text in given for item in next(csv.reader([text], skipinitialspace=True)) or [""]
    ]


def fields_in(operation: Operation[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those parameters of a command that have the names of fields of an operation's request."""
    return {name: given[name] for name in operation.fields if name in given}


def read_patterns(text: str | None) -> Any:
    """Return the patterns of an option, None without it; see `read_json`."""
    return (
        None if text is None else read_json(text, "patterns", example="--patterns '{\"max_suppressed\": 2}'")
    )


def read_json(text: str, what: str, *, example: str) -> Any:
    """Return what JSON says, or ``@FILE`` with JSON in it; errors say `what` it is, with an `example`."""
    try:
        return json.loads(Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text)
    except OSError as error:
        raise InputError(f"The file of {what} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # not JSON, or not UTF-8
        raise InputError(
            f"What is given as {what} is not valid JSON.", hint=f"For example: {example}"
        ) from error
