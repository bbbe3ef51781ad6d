"""Named SQL statements: loads ``sql/statements/<name>.sql``, fills in names, declares parameter types.

A statement file starts with comment lines: what it is for, then one ``-- $n type`` line per parameter.
Bodies are Jinja templates with ``$1`` parameters for values. What a template interpolates must be an
`Identifier`, a `Literal`, a `Fragment` (the output of another template) or an int: a bare string is a
programming error that raises, so no value can become SQL text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.errors import InstallError

if TYPE_CHECKING:
    import jinja2

_TAG = re.compile(r"\{[{%#]")
_PARAMETER = re.compile(r"^-- \$(\d+) (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement ready to run.

    What a database without SQL answers by, the name and the parts, does not make two statements differ.

    Parameters
    ----------
    text : str
        SQL with ``$1`` placeholders.
    types : tuple of str
        SQL type of each parameter.
    name : str
        The named statement that it was rendered from; empty for other texts.
    parts : mapping
        What was filled in.
    """

    text: str
    types: tuple[str, ...] = ()
    name: str = field(default="", compare=False)
    parts: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


@cache
def sql_root() -> Path:
    """Return the folder of the SQL files: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_sql"
    return installed if installed.is_dir() else package.parent / "sql"


def _only_sql(value: Any) -> str:
    if isinstance(value, Identifier | Fragment | Literal):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise TypeError(
        f"a template may not interpolate {type(value).__name__}; use Identifier, Literal or Fragment"
    )


@cache
def _environment() -> jinja2.Environment:
    # most statements are no templates, and new sessions that run none of the others need not load it
    try:
        import jinja2  # noqa: PLC0415
    except ImportError as error:
        raise InstallError(
            f"The Python package {error.name} cannot be imported.",
            hint="Install kanon_pg with its dependencies where this Python finds and may read them.",
        ) from error
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([sql_root() / "statements", sql_root()]),
        undefined=jinja2.StrictUndefined,
        finalize=_only_sql,
        autoescape=False,  # noqa: S701 - SQL, not HTML; `finalize` admits only quoted types
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )


@cache
def _source(name: str) -> str:
    folders = (sql_root() / "statements", sql_root())
    files = (folder / f"{name}.sql" for folder in folders)
    return next(file for file in files if file.is_file()).read_text(encoding="utf-8")


@cache
def _parameter_types(name: str) -> tuple[str, ...]:
    declared = {int(number): kind.strip() for number, kind in _PARAMETER.findall(_source(name))}
    return tuple(declared[number] for number in range(1, len(declared) + 1))


def render(name: str, /, **parts: Any) -> Fragment:
    """Render a template to SQL text.

    Parameters
    ----------
    name : str
        File name below ``sql/statements`` without suffix.
    **parts
        Identifiers, literals, fragments, ints, or lists and records of these.
    """
    source = _source(name)
    if _TAG.search(source) is None:
        return Fragment(source.removesuffix("\n"))
    return Fragment(_environment().get_template(f"{name}.sql").render(parts))


def statement(name: str, /, **parts: Any) -> Statement:
    """Render a named statement into a statement with its parameter types."""
    return Statement(render(name, **parts).text, _parameter_types(name), name, parts)
