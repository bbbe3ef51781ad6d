"""What follows from the one description of an operation: its SQL functions, their calls, its command."""

import inspect
import json
import re
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from typing import Annotated

import pytest

from kanon_pg.admin.install import scripts
from kanon_pg.admin.install.scripts import OPERATIONS, script_text
from kanon_pg.cli.commands import COMMANDS
from kanon_pg.db.identifiers import Identifier
from kanon_pg.db.operation import Argument, Operation
from kanon_pg.db.statements import sql_root
from kanon_pg.errors import InputError
from kanon_pg.hierarchies.operations import BUILD_HIERARCHY
from kanon_pg.release.plan.request import ANONYMIZE, DECLARE, AnonymizeRequest
from tests.docs.pages import ROOT

_COMMANDS = {
    name: name.replace("_", " ")
    for name in OPERATIONS
    if name not in {"hierarchy_define", "is_anonymous", "protect"}
} | {
    "groups": "group labels",
    "intervals": "group intervals",
    "rectangles": "group rectangles",
    "regions": "group regions",
    "release_report": "report",
}
"""The command that does what an operation does, where there is one."""

_ELSEWHERE = {
    ("audit", "details"),  # always, for the report
    ("hierarchy_build", "options"),  # --description, --shared
    ("hierarchy_load", "options"),  # the same, --child and --parent
    ("hierarchy_load", "relation"),  # --table
    ("regions", "positions"),  # --at
    ("risk", "uniques_seconds"),  # for audits, which give a part of their time to it
}
"""Fields that are no parameter of the command."""

_OWN_DEFAULTS = {
    ("audit", "k"),  # else that of --fail-on
    ("curve", "ks"),  # read from text
    ("rectangles", "y"),  # left out where x has points
}


@dataclass(frozen=True, slots=True)
class _Longer(AnonymizeRequest):
    """A request with one argument more."""

    patience: Annotated[float | None, Argument("interval", "It's for tests.")] = 90.0
    friends: Annotated[Sequence[str] | None, Argument("name[]", "Also for tests.")] = None


@pytest.fixture
def longer(monkeypatch: pytest.MonkeyPatch) -> Operation[_Longer]:
    """The operation of kanon_anonymize with more arguments, installed in place of it."""
    operation = Operation(_Longer, options=ANONYMIZE.arguments["options"])  # type: ignore[arg-type]
    monkeypatch.setattr(scripts, "OPERATIONS", {**OPERATIONS, "anonymize": operation})
    return operation


def test_a_field_is_all_that_an_argument_needs_in_sql(longer: Operation[_Longer]) -> None:
    parts = {"api": Identifier.of("public"), "plpython": True}
    outer = script_text("functions/api/kanon_anonymize", **parts)
    assert "\n    patience interval DEFAULT '90 seconds',\n    friends name[] DEFAULT NULL,\n" in outer
    assert "extract(epoch FROM patience)::double precision, friends, options);" in outer
    assert "\npatience: It''s for tests.\nfriends: Also for tests.\noptions: " in outer
    inner = script_text("functions/plpython/releases", **parts)
    assert "\n    patience_seconds double precision,\n    friends name[],\n    options jsonb\n)" in inner
    for text in (outer, inner):
        for statement in ("ALTER", "REVOKE ALL ON", "COMMENT ON"):
            (arguments,) = re.findall(
                rf"^{statement} FUNCTION \S+\b(?:kanon_)?anonymize\(([^)]*)\)", text, re.MULTILINE
            )
            assert "friends name[]," in arguments


def test_a_field_is_all_that_an_argument_needs_in_calls(longer: Operation[_Longer]) -> None:
    statement = longer.statement("call_anonymize", Identifier.of("api", "kanon_anonymize"))
    assert '"api"."kanon_anonymize"(' in statement.text
    before = list(longer.arguments).index("patience")
    assert f"patience => pg_catalog.make_interval(secs => ${before + 1}::double precision)," in statement.text
    assert statement.types[before:] == ("double precision", "text[]", "text")
    request = _Longer("t", 5, patience=7.0, friends=["a"], diversity="entropy", fewest_classes=3)
    given = {field.name: getattr(request, field.name) for field in fields(request)}
    values = longer.values(given)
    assert values[before:] == (7.0, ["a"], json.dumps({"diversity": "entropy", "classes": {"min": 3}}))
    assert longer.request(*values) == request
    with pytest.raises(InputError, match="friends must be a plain list"):
        longer.request(*values[:-2], [None], values[-1])


def test_every_function_with_several_arguments_is_described() -> None:
    described = {f"kanon_{name}" for name in OPERATIONS}
    written = {
        path.stem: parameters.count(",") + 1
        for path in (sql_root() / "functions/api").glob("*.sql")
        for parameters in re.findall(r"CREATE OR REPLACE FUNCTION [^(]*\(([^)]*)\)", path.read_text("utf-8"))
        if "{{" not in parameters
    }
    assert described.isdisjoint(written)
    # a release and a person; a text and the schemas of the session, whose default is an expression of SQL
    simple = {"kanon_check_query", "kanon_erase", "kanon_query", "kanon_query_record"}
    assert {name for name, number in written.items() if number > 1} == simple


def test_arguments_that_a_function_keeps_are_not_handed_over() -> None:
    assert str(BUILD_HIERARCHY.passed) == "relation, column_name, spec, options"
    assert "hierarchy text" in str(BUILD_HIERARCHY.parameters)
    assert "hierarchy" not in str(BUILD_HIERARCHY.inner_parameters)
    given = BUILD_HIERARCHY.read("wards", "ward", '{"builder": "prefix"}', None)
    assert given == {
        "relation": "wards",
        "column_name": "ward",
        "spec": {"builder": "prefix"},
        "options": None,
    }


def test_names_too_long_for_the_server_are_refused_before_a_cast_cuts_them() -> None:
    long = "x" * 64
    for given in ({"entity": long}, {"identifiers": [long]}):
        with pytest.raises(InputError):
            DECLARE.values({**dict.fromkeys(DECLARE.fields), "relation": 1, **given})


@pytest.mark.parametrize("name", _COMMANDS)
def test_the_command_has_a_parameter_for_each_field_with_its_default(name: str) -> None:
    operation = OPERATIONS[name]
    entry = COMMANDS[_COMMANDS[name]]
    command = getattr(import_module(f"kanon_pg.cli.{entry.module}"), entry.function)
    parameters = inspect.signature(command).parameters
    for field in operation.fields:
        if (name, field) not in _ELSEWHERE:
            assert field in parameters, field
            default = operation.defaults[field]
            wanted = inspect.Parameter.empty if default is MISSING else default if default != () else None
            assert parameters[field].default == wanted or (name, field) in _OWN_DEFAULTS, field


@pytest.mark.parametrize(
    ("section", "name"),
    [
        ("kanon_anonymize", "anonymize"),
        ("kanon_declare", "declare"),
        ("kanon_curve", "curve"),
        *(
            ("kanon_intervals, kanon_groups", name)
            for name in ("intervals", "groups", "regions", "rectangles")
        ),
    ],
)
def test_the_page_on_arguments_has_each(section: str, name: str) -> None:
    page = (ROOT / "docs/reference/arguments.md").read_text(encoding="utf-8")
    (text,) = (part for part in page.split("\n## ") if part.startswith(section))
    explained = {word for row in re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE) for word in row.split("`")}
    assert set(OPERATIONS[name].arguments) <= explained
