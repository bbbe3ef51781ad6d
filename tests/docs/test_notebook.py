"""The example notebook runs from top to bottom, and what its cells end with can be shown."""

import ast
import json
from typing import Any

import pytest

from tests.docs.databases import DATABASES, environment
from tests.docs.pages import ROOT

NOTEBOOK = ROOT / "docs/how-to/notebook.ipynb"


def run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does; return what its last line is worth."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


@pytest.mark.filterwarnings("ignore:Rows")
def test_the_notebook_runs(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    DATABASES["clinic"][1](dsn)
    for name, value in environment(dsn).items():
        monkeypatch.setenv(name, value)
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in cells)  # what it shows is somebody's
    names: dict[str, Any] = {}
    shown = [value for cell in cells if (value := run("".join(cell["source"]), names)) is not None]
    assert len(shown) == len(cells) - 1
    for value in shown:
        if hasattr(value, "_repr_html_"):
            assert value._repr_html_().startswith(("<table>", "<div>", "<iframe sandbox"))
        else:
            assert value.num_rows == 3
    assert names["wards"].to_pandas()["n"].sum() == 1200
