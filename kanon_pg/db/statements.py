"""Named SQL statements: loads them from ``sql/statements``, fills in names, declares parameter types.

A file has the statements of a topic. Each begins with a comment that has its name, its parameters
by type, and what it is for: ``-- name: forget_lock(text): Forgets the name of a release that is dropped.``
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
_INCLUDED = re.compile(r'{% include "([^"]+)"')
_NAME = re.compile(r"^-- name: ([\w/]+)\((.*?)\):.*\n(?:--.*\n)*", re.MULTILINE)

_AFTER_TEXT = re.compile(r"^(?!\s*\{% (?!include)[^%]*%\}$)(.*) %\}$", re.MULTILINE)
"""Lines of a template that end with a tag and bring text."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement ready to run.

    What a database without SQL answers by, the name and the parts, does not make two statements differ.
    """

    text: str
    """SQL with ``$1`` placeholders."""
    types: tuple[str, ...] = ()
    """SQL type of each parameter."""
    name: str = field(default="", compare=False)
    """The named statement that it was rendered from; empty for other texts."""
    parts: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What was filled in."""


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

        from kanon_pg.db.template_cache import TemplateCache  # noqa: PLC0415
    except ImportError as error:
        raise InstallError(
            f"The Python package {error.name} cannot be imported.",
            hint="Install kanon_pg with its dependencies where this Python finds and may read them.",
        ) from error
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        undefined=jinja2.StrictUndefined,
        finalize=_only_sql,
        autoescape=False,  # noqa: S701 - SQL, not HTML; `finalize` admits only quoted types
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        bytecode_cache=TemplateCache(Path(__file__).read_bytes()),
    )


def _template(name: str) -> str:
    """Return a template in which only lines of nothing but a tag leave no line behind."""
    return _AFTER_TEXT.sub(r"\1 +%}", _source(name))


@cache
def named_statements() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Return the text of each named statement, without its head, and the types of its parameters."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for path in sorted((sql_root() / "statements").glob("*.sql")):
        _, *parts = _NAME.split(path.read_text(encoding="utf-8"))
        for name, types, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            found[name] = text.rstrip(), tuple(types.split(", ")) if types else ()
    return found


def _source(name: str) -> str:
    """Return a named statement, or else the text of a script."""
    if name in named_statements():
        return named_statements()[name][0]
    return (sql_root() / f"{name}.sql").read_text(encoding="utf-8").removesuffix("\n")


def render(name: str, /, **parts: Any) -> Fragment:
    """Render a template to SQL text.

    Parameters
    ----------
    name : str
        Of a statement, or of a script: its file below ``sql`` without suffix.
    **parts
        Identifiers, literals, fragments, ints, or lists and records of these.
    """
    source = _source(name)
    if _TAG.search(source) is None:
        return Fragment(source)
    return Fragment(_environment().get_template(name).render(parts))


def compiled_templates() -> tuple[str, ...]:
    """Compile all statements and scripts that are templates; returns the names of the files with the code."""
    files = (path.relative_to(sql_root()).with_suffix("") for path in sorted(sql_root().rglob("*.sql")))
    scripts = (path.as_posix() for path in files if path.parts[0] != "statements")
    sources = {name: _source(name) for name in (*named_statements(), *scripts)}
    included = {name for source in sources.values() for name in _INCLUDED.findall(source)}
    for name, source in sources.items():
        if name in included or _TAG.search(source):
            _environment().get_template(name)
    kept: Any = _environment().bytecode_cache
    return tuple(kept.used)


def statement(name: str, /, **parts: Any) -> Statement:
    """Render a named statement into a statement with its parameter types."""
    return Statement(render(name, **parts).text, named_statements()[name][1], name, parts)
