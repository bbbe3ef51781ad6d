"""What the installer runs in the server: the scripts below ``sql/`` in order, and functions of ours."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kanon_pg.audit.request import AUDIT, IDENTIFY, IS_ANONYMOUS, RISK, SUGGEST
from kanon_pg.before_after.request import RELEASE_REPORT
from kanon_pg.core.privacy_models import MODEL_PARAMETERS
from kanon_pg.curves import CURVE
from kanon_pg.db.identifiers import Fragment, Identifier, Literal
from kanon_pg.db.operation import Operation
from kanon_pg.db.protocol import Database
from kanon_pg.db.psycopg_adapter import Connection, mapped_errors
from kanon_pg.db.statements import Statement, render, sql_root, statement
from kanon_pg.grouping.request import GROUPS, INTERVALS, RECTANGLES, REGIONS
from kanon_pg.hierarchies.operations import (
    BUILD_HIERARCHY,
    DEFINE_HIERARCHY,
    LOAD_HIERARCHY,
    MISSING_VALUES,
    SHOW_HIERARCHY,
)
from kanon_pg.measures import MEASURE
from kanon_pg.queries.request import PROTECT
from kanon_pg.release.certificate import CERTIFICATE
from kanon_pg.release.compare.composition import COMPOSITION
from kanon_pg.release.declare.linking import LINK
from kanon_pg.release.plan.request import ANONYMIZE, DECLARE

_FIRST = ("schema/roles", "schema/schemas", "schema/earlier")
_BEFORE = ("types", "tables", "functions", "views")
_WITH_PLPYTHON = ("functions/plpython", "functions/api", "views/plpython")

_NAME = r'(?:"(?:[^"]|"")*"|[@\w]+)\.\w+'
_CREATED = re.compile(
    rf"^CREATE OR REPLACE FUNCTION ({_NAME})\((.*?)\)\s(?:RETURNS|LANGUAGE) ", re.MULTILINE | re.DOTALL
)
_DEFAULT = re.compile(r" DEFAULT (?:'(?:[^']|'')*'|[^,\n]+)")
_OBJECT = re.compile(
    rf"^CREATE (?:OR REPLACE )?(FUNCTION|TABLE|TYPE|VIEW) (?:IF NOT EXISTS )?({_NAME})"
    r"(.*?)^(?=COMMENT ON \1 \2 IS )",
    re.MULTILINE | re.DOTALL,
)
_COLUMN = re.compile(r"^    (\w+|\"[^\"]+\").*? -- (.+)$", re.MULTILINE)
_NAMED = re.compile(rf"\bFUNCTION\s+{_NAME}(?:,\s+{_NAME})*(?=\s+(?:OWNER|FROM|IS|TO)\s)")

OPERATIONS: Mapping[str, Operation[Any]] = {
    "anonymize": ANONYMIZE,
    "audit": AUDIT,
    "certificate": CERTIFICATE,
    "composition": COMPOSITION,
    "curve": CURVE,
    "declare": DECLARE,
    "groups": GROUPS,
    "hierarchy_build": BUILD_HIERARCHY,
    "hierarchy_define": DEFINE_HIERARCHY,
    "hierarchy_load": LOAD_HIERARCHY,
    "hierarchy_missing": MISSING_VALUES,
    "hierarchy_show": SHOW_HIERARCHY,
    "identify": IDENTIFY,
    "intervals": INTERVALS,
    "is_anonymous": IS_ANONYMOUS,
    "link": LINK,
    "measure": MEASURE,
    "protect": PROTECT,
    "rectangles": RECTANGLES,
    "regions": REGIONS,
    "release_report": RELEASE_REPORT,
    "risk": RISK,
    "suggest": SUGGEST,
}
"""Operations whose functions are written from their description, by the names that templates use."""

_MODEL_PARAMETERS = [
    {
        "key": Literal(name),
        "column": Identifier.of(name),
        "type": Fragment(parameter.sql_type),
        "comment": Fragment(f"{parameter.what}; NULL if not demanded."),
    }
    for name, parameter in MODEL_PARAMETERS.items()
]
"""What views show of the privacy models of a release."""

INSTALL_LOCK = 0x6B616E6F6E
"""Key of the advisory lock that keeps two installations apart: "kanon" in ASCII."""


def prepare_session(db: Database) -> None:
    """Set what the scripts rely on, until the transaction ends, and wait for other installations."""
    db.row(Statement("SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)"))
    db.row(Statement("SELECT pg_catalog.set_config('client_min_messages', 'warning', true)"))
    if db.row(statement("session_settings"))["propagation"]:
        db.row(Statement("SELECT pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true)"))
    db.row(Statement(f"SELECT pg_catalog.pg_advisory_xact_lock({INSTALL_LOCK})::text AS lock"))


def script_names(plpython: bool, *, last: bool = False) -> list[str]:
    """Return names for `run_script`, in order: up to the views, or if `last` what comes after."""
    if not last:
        return [*_FIRST, *_scripts(_BEFORE)]
    return [*(_scripts(_WITH_PLPYTHON) if plpython else ()), "grants", "outdated"]


def _scripts(places: tuple[str, ...]) -> Iterator[str]:
    for place in places:
        if (sql_root() / f"{place}.sql").is_file():
            yield place
        yield from (f"{place}/{path.stem}" for path in sorted((sql_root() / place).glob("*.sql")))


def script_text(name: str, **parts: Any) -> str:
    """Render a script, and write what is the same for all objects.

    Before its comment, each object gets its owner, and PUBLIC loses all rights on it. Unless ``sql/`` names
    another, types and functions that run with their owner's rights belong to ``kanon_owner``, all else to
    whoever installs. What ``sql/`` says after a column is the column's comment.

    In ``sql/`` a function is created with its arguments and from then on goes by its name. Here the other
    statements get the arguments, too, since a name need not be unique: a user may have an overload in the
    functions' schema, and one of an earlier version stays until ``sql/outdated.sql`` says what uses it.
    """
    parts |= {**OPERATIONS, "model_parameters": _MODEL_PARAMETERS, "python": _python_body, "served": _served}
    text = _OBJECT.sub(_owned, render(name, **parts).text)
    if not _NAMED.search(text):
        return text
    created = _CREATED.findall(text) or [
        found
        for script in _scripts((*_BEFORE, *_WITH_PLPYTHON))
        for found in _CREATED.findall(render(script, **parts).text)
    ]
    signatures = {function: f"{function}({_DEFAULT.sub('', arguments)})" for function, arguments in created}
    return _NAMED.sub(lambda list_: re.sub(_NAME, lambda found: signatures[found[0]], list_[0]), text)


def _owned(created: re.Match[str]) -> str:
    kind, name, text = created.groups()
    security = re.search(r"\bSECURITY (DEFINER|INVOKER)\b", text)
    owner = "kanon_owner" if kind == "TYPE" or (security and security[1] == "DEFINER") else "CURRENT_USER"
    columns = _COLUMN.findall(text.partition("\n)")[0]) if kind != "FUNCTION" else []
    lines = [_unless_there(name, created[0]) if kind == "TYPE" else created[0].removesuffix("\n")]
    if f"ALTER {kind} {name} OWNER TO" not in text:
        lines.append(f"ALTER {kind} {name} OWNER TO {owner};")
    lines.append(f"REVOKE ALL ON {'TABLE' if kind == 'VIEW' else kind} {name} FROM PUBLIC;")
    lines += [f"COMMENT ON COLUMN {name}.{column} IS {Literal(said)};" for column, said in columns]
    return "\n".join([*lines, ""])


def _unless_there(name: str, create: str) -> str:
    return f"""\
DO $type$
BEGIN
IF pg_catalog.to_regtype({Literal(name)}) IS NULL THEN
{create}END IF;
END
$type$;"""


def _python_body(call: str, quote: str = "$function$") -> Fragment:
    """Return the body of a function in PL/Python, of three lines: all else is in ``kanon_pg.plpython``."""
    lines = (
        'plpy.execute("select kanon.boot()")',
        "from kanon_pg import plpython",
        f"return plpython.{call}",
    )
    return Fragment("\n".join([quote, *lines, quote]))


def _served(operation: str | None = None, *, caller: Callable[[], str]) -> str:
    """Return the body of a function for users: names the operation, and tells errors without a traceback."""
    begin = f"INSERT INTO kanon.request (operation) VALUES ({Literal(operation)});" if operation else ""
    return f"$function$\nBEGIN\n    {begin}{caller()}{render('raise_without_traceback')}\nEND\n$function$"


def run_script(connection: Connection, name: str, **parts: Any) -> None:
    """Render a script and run all its statements."""
    text = script_text(name, **parts)
    with mapped_errors():
        connection.execute(text.encode())


@contextmanager
def inside_server(db: Database, function: Callable[[str], str]) -> Iterator[Callable[[str], str]]:
    """Let the server's Python run a function, by the source text of its whole module.

    Parameters
    ----------
    db : Database
        A superuser's; plpython3u must exist.
    function : callable
        Of a module that uses the standard library alone and no annotations from elsewhere; takes and returns
        text.

    Yields
    ------
    callable
        The same function, running in the server as the server's user, until the block ends.
    """
    source = inspect.getsource(inspect.getmodule(function) or function)
    body = f"{source}\nreturn {function.__name__}(arguments)\n"
    db.execute(statement("create_probe", body=Literal(body)))

    def call(arguments: str) -> str:
        answer: str = db.row(statement("run_probe"), arguments)["answer"]
        return answer

    yield call
    db.execute(statement("drop_probe"))
