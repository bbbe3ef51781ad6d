"""One name, one thing: classes of the package do not share names, and docstrings name classes that exist."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import kanon_pg

PACKAGE = Path(kanon_pg.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

_TYPED = re.compile(r"^ *[a-z_][\w, ]* : (.+)$", re.MULTILINE)
_CLASS = re.compile(r"(?<![\w.`\"'])_?[A-Z][a-z]\w+(?![\w`\"'])")
_WORDS = frozenset({"None", "True", "False"})


def _classes(tree: ast.Module) -> list[str]:
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def test_no_two_classes_have_the_same_name() -> None:
    where = defaultdict(list)
    for path in SOURCES:
        for name in _classes(ast.parse(path.read_text())):
            where[name].append(str(path.relative_to(PACKAGE)))
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}


def _unknown_types(path: Path) -> set[str]:
    text = path.read_text()
    tree = ast.parse(text)
    code = {name.id for name in ast.walk(tree) if isinstance(name, ast.Name)} | set(_classes(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            code |= {(alias.asname or alias.name).split(".")[-1] for alias in node.names}
    documented = (ast.FunctionDef, ast.ClassDef, ast.Module)
    docstrings = [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, documented)]
    types = [one for text in docstrings for one in _TYPED.findall(text or "")]
    return {name for one in types for name in _CLASS.findall(one.split(",")[0])} - _WORDS - code


def test_types_in_docstrings_are_known_to_the_module() -> None:
    unknown = {str(path.relative_to(PACKAGE)): _unknown_types(path) for path in SOURCES}
    assert {path: types for path, types in unknown.items() if types} == {}
