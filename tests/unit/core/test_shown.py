"""Results as tables: what is in them, that names and values are escaped, and what a missing library says."""

import sys
from datetime import date
from decimal import Decimal

import pyarrow
import pytest

from kanon_pg.core.shown import ResultRows
from kanon_pg.core.termination import Termination
from kanon_pg.curves import Curve, CurvePoint
from kanon_pg.errors import InstallError
from kanon_pg.grouping.classes import Grouped, ValueClass
from kanon_pg.reports.document import Document

HOSTILE = "<script>alert(1)</script>\"'&"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#x27;&amp;"

POINT = CurvePoint(
    k=2,
    suppressed_cells=3,
    suppressed_share=0.5,
    weighted_cost=3.0,
    lower_bound=None,
    gap=None,
    optimal=False,
    classes=1,
    average_class=4.0,
    method=HOSTILE,
    elapsed=0.1,
    termination=Termination.OPTIMAL,
)
CURVE = Curve("t", 4, 4, 2, (HOSTILE,), 1.0, (POINT,))


def test_rows_keep_their_types() -> None:
    rows = ResultRows(
        [{"day": date(2026, 1, 2), "n": 1, "mean": Decimal("1.50")}, {"day": None, "n": 2, "mean": None}]
    )
    assert rows == list(rows)  # still a list of mappings
    frame = rows.to_pandas()
    assert list(frame.columns) == ["day", "n", "mean"]
    assert frame["n"].tolist() == [1, 2]
    table = rows.to_arrow()
    assert table.to_pylist() == [dict(row) for row in rows]
    assert table.schema.field("day").type == pyarrow.date32()


def test_no_rows_have_columns_that_are_known() -> None:
    assert ResultRows([], ["a"]).to_arrow().column_names == ["a"]
    assert list(ResultRows([], ["a"]).to_pandas().columns) == ["a"]
    assert ResultRows([])._repr_html_() == "<table></table>"


def test_a_curve_is_its_points() -> None:
    assert CURVE.to_pandas()["k"].tolist() == [2]
    assert CURVE.to_arrow().to_pylist()[0]["termination"] == "optimal"


def test_names_and_values_are_escaped() -> None:
    page = Document(
        HOSTILE, HOSTILE, HOSTILE, False, (HOSTILE,), HOSTILE, (), (), ((HOSTILE, HOSTILE),), HOSTILE
    )
    classes = (ValueClass(1, HOSTILE, 5, 1),)
    grouped = Grouped("t", ("a",), "labels", 5, "rows", "c", 1, 1, 1.0, True, "m", "b", classes, ())
    for shown in (ResultRows([{HOSTILE: HOSTILE}]), CURVE, grouped):
        html = shown._repr_html_()
        assert ESCAPED in html
        assert "<script" not in html
    html = page._repr_html_()
    assert html.startswith('<iframe sandbox srcdoc="')
    inner = html.removeprefix('<iframe sandbox srcdoc="').partition('"')[0]
    assert inner.endswith("&lt;/html&gt;\n") or inner.rstrip().endswith(
        "&lt;/html&gt;"
    )  # no quote ends it before
    assert "<script" not in html


def test_long_results_say_how_long_they_are() -> None:
    html = ResultRows({"n": n} for n in range(1234))._repr_html_()
    assert "<td>99</td>" in html
    assert "<td>100</td>" not in html
    assert "1,234 rows" in html


@pytest.mark.parametrize(("library", "extra"), [("pandas", "notebook"), ("pyarrow", "files")])
def test_a_missing_library_is_named_with_its_extra(
    library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InstallError) as caught:
        (CURVE.to_pandas if library == "pandas" else CURVE.to_arrow)()
    assert f"pip install 'kanon_pg[{extra}]'" in str(caught.value.hint)
