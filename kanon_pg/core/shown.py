"""Results as tables: in a notebook, and as tables of pandas and Arrow.

Both libraries are named as texts, so that only who asks for them imports them: a server's backend, which
makes the same results, never does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from enum import Enum
from html import escape
from importlib import import_module
from typing import Any

from kanon_pg.core.extras import missing

_MOST_ROWS = 100
"""Rows that a notebook shows."""


class Shown:
    """A result that is a table.

    A dataclass is one row of its fields that are no parts, unless it says otherwise by `table`.
    """

    __slots__ = ()

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Return the names of the columns, and the rows."""
        names = [one.name for one in fields(self)]  # type: ignore[arg-type]
        row = [(name, _plain(getattr(self, name))) for name in names]
        kept = [(name, value) for name, value in row if not _has_parts(value)]
        return [name for name, _ in kept], [[value for _, value in kept]]

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame``."""
        names, rows = self.table()
        return _library("pandas").DataFrame.from_records(rows, columns=list(names))

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table``."""
        names, rows = self.table()
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
        arrow = _library("pyarrow")
        return arrow.Table.from_arrays([arrow.array(list(one)) for one in columns], names=list(names))

    def _repr_html_(self) -> str:
        """Return what a notebook shows; names and values are escaped."""
        names, rows = self.table()
        if is_dataclass(self) and len(rows) == 1:  # one row reads better downwards
            names, rows = (), [*zip(names, rows[0], strict=True)]
        more = f"<p>{len(rows):,} rows</p>" if len(rows) > _MOST_ROWS else ""
        lines = [_line("th", names)] if names else []
        lines += [_line("td", row) for row in rows[:_MOST_ROWS]]
        return f"<table>{''.join(lines)}</table>{more}"


class ResultRows(list[Mapping[str, Any]], Shown):
    """Rows of a query, which are mappings; `names` are its columns, also if there are no rows."""

    def __init__(self, rows: Iterable[Mapping[str, Any]], names: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self.names = tuple(names) or tuple(self[0] if self else ())

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """See `Shown.table`."""
        return self.names, [[row[name] for name in self.names] for row in self]


def rows_of(parts: Sequence[Any], kind: type[Any]) -> tuple[list[str], list[list[Any]]]:
    """Return dataclasses of one kind as `Shown.table` has it."""
    names = [one.name for one in fields(kind)]
    return names, [[_plain(getattr(part, name)) for name in names] for part in parts]


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


def _has_parts(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(one, dict) for one in value)
    )


def _line(tag: str, cells: Iterable[Any]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(_text(cell))}</{tag}>" for cell in cells) + "</tr>"


def _text(cell: Any) -> str:
    if isinstance(cell, list):
        return ", ".join(map(_text, cell))
    return "" if cell is None else str(cell)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise missing(name) from error
