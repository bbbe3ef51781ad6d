"""What the documentation says about the tree is so: layers are those of the import contracts, paths exist."""

import ast
import importlib
import inspect
import pkgutil
import re
import tomllib
from dataclasses import fields

import pytest

from kanon_pg.admin.install.scripts import script_text
from kanon_pg.cli.commands import COMMANDS
from kanon_pg.core.solving import METHODS
from kanon_pg.db.statements import named_statements, render
from kanon_pg.errors import KanonError
from kanon_pg.hierarchies.build import NAMES
from kanon_pg.measures import Measures
from kanon_pg.queries.protection_rules import ProtectionRules
from kanon_pg.worker import models
from kanon_pg.worker.models.evaluator import MODELS
from kanon_pg.worker.models.privacy_model import PrivacyModel
from kanon_pg.worker.solvers import registry
from tests.docs.pages import ROOT, pages
from tests.docs.references import FUNCTIONS

PAGE = (ROOT / "docs/architecture.md").read_text()
SECTION = (ROOT / "CONTRIBUTING.md").read_text().split("## Where to add something\n")[1].split("\n## ")[0]
ROWS = [line for line in SECTION.splitlines() if line.startswith(("| a ", "| an "))]
API = sorted((ROOT / "sql/functions/api").glob("*.sql"))
FOLDERS = (".ci", "docker", "docs", "kanon_pg", "packaging", "sql", "tests")
NOT_OF_THE_TREE = {
    "base/pgsql_tmp",
    "kanon_ledger/OID",
    ".venv/bin/kanon",
    "build/deb",
    "build/docs/site",
    "kanon_pg/_compiled",
}
"""Paths below the server's data folder, and what a checkout gets by building."""


def modules_in(package):
    return {f"{package.__name__}.{found.name}" for found in pkgutil.iter_modules(package.__path__)}


def subclasses(kind):
    for one in kind.__subclasses__():
        yield one
        yield from subclasses(one)


@pytest.fixture(scope="module")
def tree():
    """Return paths and statements, each between two slashes, so that an ending is a short form."""
    found = [*ROOT.iterdir(), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    paths = [path.relative_to(ROOT).as_posix() for path in found if "__pycache__" not in path.parts]
    return [f"/{path}/" for path in (*paths, *named_statements())]


def test_a_path_that_a_page_names_exists_also_in_its_short_form(tree):
    missing = {}
    for page in pages():
        codes = re.findall(r"`([^`\n]+)`", page.prose)
        named = {
            code
            for code in codes
            if re.fullmatch(r"[\w.-]*\w\.(py|sql|toml)|[\w.-]+(/[\w.-]+)+|[\w.-]+/", code, re.A)
        }
        missing[page.name] = {
            path
            for path in named - NOT_OF_THE_TREE
            if not any(known.endswith(f"/{path.rstrip('/')}/") for known in tree)
        }
    assert len(missing) > 20
    assert {name: paths for name, paths in missing.items() if paths} == {}


def test_what_a_row_names_exists():
    for row in ROWS:
        for names, path in re.findall(r"((?:`\w+` or )?`\w+`) (?:of|in|\() ?`([\w/.]+\.(?:py|sql))`", row):
            for name in re.findall(r"`(\w+)`", names):
                assert re.search(rf"\b{name}\b", (ROOT / path).read_text()), f"{name} in {path}"


def test_there_are_rows():
    assert len(ROWS) > 9


def test_each_method_of_requests_is_a_solver():
    assert set(METHODS) == set(registry.METHODS) | set(registry.RECODINGS)


def test_the_row_about_arguments_names_where_each_request_is():
    (row,) = (row for row in ROWS if row.startswith("| an argument of an operation"))
    places = set()
    for path in (ROOT / "kanon_pg").rglob("*.py"):
        if re.search(r"^[A-Z_]+ = Operation\(", path.read_text(), re.MULTILINE):
            place = path.parent if path.stem == "request" else path
            places.add(place.relative_to(ROOT / "kanon_pg").as_posix())
    assert len(places) > 5
    assert not {place for place in places if not re.search(rf"`(?:kanon_pg/)?{place}`", row)}


def test_each_rule_of_protection_is_stored_and_shown():
    tables = render("tables").text
    (table,) = re.findall(r"^CREATE TABLE IF NOT EXISTS kanon\.protection .*?^\);", tables, re.M | re.S)
    queries = (render(name).text for name in ("store_protection", "fetch_protection", "views/protections"))
    for text in (table, *queries):
        names = [field.name for field in fields(ProtectionRules)]
        assert [name for name in names if not re.search(rf"\b{name}\b", text)] == [], text


def test_each_privacy_model_is_listed():
    for name in modules_in(models):
        importlib.import_module(name)
    described = {kind for kind in subclasses(PrivacyModel) if not inspect.isabstract(kind)}
    assert {type(one) for one in MODELS} == {kind for kind in described if "name" in vars(kind)}


def test_each_builder_is_explained():
    page = (ROOT / "docs/how-to/hierarchies.md").read_text()
    assert [name for name in NAMES if f"\n| `{name}` |" not in page] == []


def test_each_measure_has_a_column_with_a_comment():
    columns = re.findall(r"COMMENT ON COLUMN kanon\.measures\.(\w+) IS", script_text("types"))
    assert {field.name for field in fields(Measures)} == set(columns)


def test_a_function_says_what_it_does_and_who_may_call_it():
    assert len(API) > 30
    for path in API:
        text = path.read_text()
        assert path.stem in FUNCTIONS
        assert "\nExample: " in text, path
        assert re.search(
            rf"\nGRANT EXECUTE ON FUNCTION \{{\{{ api \}}\}}\.{path.stem} TO [\w, ]+;\n$", text
        ), path


def test_the_page_about_rights_lists_what_each_group_may_call():
    page = (ROOT / "docs/how-to/grants.md").read_text().split("These are the functions")[1]
    for group in ("kanon_analyst", "kanon_curator"):
        rows = re.search(rf"\n\| `{group}` \|.*\n(?:\| \|.*\n)*", page)[0]
        granted = {path.stem for path in API if f".{path.stem} TO {group};" in path.read_text()}
        assert set(re.findall(r"`(kanon_\w+)`", rows)) - {group} == granted


def test_a_command_is_a_function_whose_docstring_is_its_help():
    for name, entry in COMMANDS.items():
        tree = ast.parse((ROOT / f"kanon_pg/cli/{entry.module}.py").read_text())
        found = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == entry.function]
        assert len(found) == 1, name
        assert ast.get_docstring(found[0]), name


def test_each_error_is_explained_with_its_sqlstate():
    page = (ROOT / "docs/reference/errors.md").read_text()
    for kind in (one for one in subclasses(KanonError) if one.__module__ == KanonError.__module__):
        assert f"\n| `{kind.sqlstate}` | `{kind.__name__}` |" in page


def names_of_statements(tree):
    """Yield the strings of a module that may name a statement: not the keys of rows, nor docstrings."""
    keys = {id(node.slice) for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(name)) if id(node) not in keys:
                yield name
            # `Version.run` and `find` are about a folder
            case ast.Call(func=ast.Attribute(attr="run" | "find"), args=[ast.Constant(value=name), *_]):
                yield f"series/{name}"


def test_each_statement_is_used():
    trees = [ast.parse(path.read_text()) for path in (ROOT / "kanon_pg").rglob("*.py")]
    named = {name for tree in trees for name in names_of_statements(tree)}
    for path in (ROOT / "sql").rglob("*.sql"):
        named |= set(re.findall(r'{%-? include "([^"]+)"', path.read_text()))
    named |= {f"guard/models/{model.name}" for model in MODELS}
    assert set(named_statements()) - named == set()


def test_each_statement_has_a_name_of_its_own_and_says_what_it_is_for():
    heads = [
        (match[1], match[2] or match[3])
        for path in (ROOT / "sql/statements").glob("*.sql")
        for match in re.finditer(
            r"^-- name: ([\w/]+)\(.*?\):(?: (.+)|\n-- (.+))$", path.read_text(), re.MULTILINE
        )
    ]
    assert sorted(name for name, _ in heads) == sorted(named_statements())
    assert [name for name, purpose in heads if not purpose] == []


def contract(first_words):
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (found,) = (one for one in contracts if one["name"].startswith(first_words))
    return [{name.strip() for name in layer.split("|")} for layer in found["layers"]]


def cells_between(begin, end):
    lines = PAGE.split(begin)[1].split(end)[0].splitlines()
    return [line.split(" | ")[0] for line in lines if line.startswith("| `")]


def test_the_layers_are_those_of_the_import_contract():
    found = [
        set(re.findall(r"`kanon_pg/(\w+)(?:\.py)?`", cell))
        for cell in cells_between("## Layers", "Inside `kanon_pg/queries`")
    ]
    assert found == contract("Layers: ")


def test_the_layers_of_queries_are_in_the_order_of_the_import_contract():
    cells = cells_between("Inside `kanon_pg/queries`", "Further rules")
    found = [set(re.findall(r"`(\w+)(?:\.py|/)`", cell)) for cell in cells]
    assert found == contract("Layers of queries")
    assert set().union(*found) == {path.stem for path in (ROOT / "kanon_pg/queries").glob("[!_]*")}


def test_a_folder_says_what_lives_there_in_some_sentences():
    folders = sorted(path.parent for path in (ROOT / "kanon_pg").rglob("__init__.py"))
    assert len(folders) > 30
    for folder in folders:
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
        assert len(re.findall(r"[.:;](?:\s|$)", text)) >= 3, folder
