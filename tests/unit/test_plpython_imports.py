"""What the first call of a session imports inside the server: little, and cancelling is noticed meanwhile."""

import re
import subprocess
import sys

import kanon_pg
from kanon_pg.admin.install.extension import scripts

_STAND_IN = """
import sys, types
plpy = types.ModuleType("plpy")
plpy.Error = plpy.SPIError = type("SPIError", (Exception,), {})
sys.modules["plpy"] = plpy
from kanon_pg import plpython
"""


def run(code: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-c", _STAND_IN + code], capture_output=True, text=True, check=True
    )
    return finished.stdout.strip()


def test_publishing_imports_neither_the_checker_of_queries_nor_an_array_library() -> None:
    others = "('sqlglot', 'numpy', 'numba', 'importlib.metadata')"
    assert run(f"plpython.releases; print(*(name for name in {others} if name in sys.modules))") == ""
    assert run("plpython.queries; print('sqlglot' in sys.modules)") == "True"


def test_every_body_calls_a_function_that_exists() -> None:
    sent = scripts(["/folder"])[f"kanon_pg--{kanon_pg.__version__}.sql"]
    called = sorted(set(re.findall(r"^return (plpython(?:\.\w+){2,3})\(", sent, re.MULTILINE)))
    assert len(called) > 30
    assert run(f"print(all(callable(one) for one in ({', '.join(called)})))") == "True"
    assert run("print(hasattr(plpython, 'nothing'))") == "False"


def test_a_worker_starts_before_its_call_is_imported_and_a_call_reports_why_none_does() -> None:
    code = """
from kanon_pg.errors import SolverUnavailable
from kanon_pg.runner.solver_session import solver_session
def start(**chosen):
    print("kanon_pg.release" in sys.modules)
    raise SolverUnavailable("There is none.")
solver_session.start = start
print(plpython.with_worker.releases.anonymize.__name__)
"""
    assert run(code).splitlines() == ["False", "anonymize"]


def test_a_cancel_between_imports_ends_the_call_and_the_next_one_works() -> None:
    code = """
class Cancelled(Exception): pass
calls = []
def checkpoint():
    calls.append(1)
    if len(calls) == 2:
        raise Cancelled
plpython._MODULES_BETWEEN_CHECKPOINTS = 1
plpython.prepare(checkpoint, lambda error: None)
try:
    plpython.releases
except Cancelled:
    print("cancelled", len(calls))
plpython.releases
print(len(calls) > 20, any(type(one).__name__ == "_Attentive" for one in sys.meta_path))
"""
    assert run(code).splitlines() == ["cancelled 2", "True False"]


def test_how_often_a_cancel_is_looked_for_tells_no_times() -> None:
    code = """
import time
clock = iter(range(10**6))
time.monotonic = lambda: {clock}
calls = []
plpython.prepare(lambda: calls.append(1), lambda error: None)
plpython.queries
print(len(calls))
"""
    slow, fast = (int(run(code.replace("{clock}", clock))) for clock in ("next(clock)", "0"))
    assert slow == fast > 10


def test_a_library_that_is_missing_is_said_to_the_caller() -> None:
    code = """
sys.modules["sqlglot"] = None
def refuse(error):
    raise SystemExit(f"refused: {error.name}")
plpython.prepare(lambda: None, refuse)
try:
    plpython.queries
except SystemExit as said:
    print(said)
"""
    assert run(code) == "refused: sqlglot"


def test_one_that_only_templates_need_is_said_when_they_are_rendered() -> None:
    code = """
sys.modules["jinja2"] = None
from kanon_pg.db.statements import statement
from kanon_pg.errors import InstallError
print(statement("now").text.startswith("SELECT"))
try:
    statement("create_storage")
except InstallError as said:
    print(said.message)
"""
    assert run(code).splitlines() == ["True", "The Python package jinja2 cannot be imported."]
