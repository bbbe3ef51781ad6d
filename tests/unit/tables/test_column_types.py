"""The chosen type keeps what the text says."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.tables.csv_file import ColumnType


def chosen(*batches: list[str | None]) -> str:
    column = ColumnType()
    for batch in batches:
        column.observe(pa.array(batch, pa.string()))
    return column.sql_type


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["0", "-7", "2147483647", "-2147483648"], "integer"),
        (["2147483648"], "bigint"),
        (["9223372036854775807", "-9223372036854775808"], "bigint"),
        (["9223372036854775808"], "text"),
        (["1.5", "12345678901234567890"], "text"),
        (["1.5", "1234567890123456"], "numeric"),
        (["1", "2.5"], "numeric"),
        (["12.50", "0.00", "-3.99", None, ""], "numeric"),
        (["123456789012345678.123456789", ".5", "5."], "numeric"),
        (["1.5", "9223372036854775807"], "text"),
        (["0.1234567891"], "double precision"),
        (["0.1", "0.30000000000000004"], "double precision"),
        (["12.50", "1e2"], "double precision"),
        (["12.50", "NaN"], "double precision"),
        (["12.50", "-0.00"], "double precision"),
        (["12.50", "?"], "text"),
        (["1e5", ".5", "5.", "-0", "1.7976931348623157e308", "4.9e-324"], "double precision"),
        (["1.5", "NaN", "-Infinity"], "double precision"),
        (["1e999"], "text"),
        (["1e-999"], "text"),
        (["NaN"], "text"),
        (["02134", "10001"], "text"),
        (["007.5"], "text"),
        (["+5"], "text"),
        ([" 5"], "text"),
        (["1,000"], "text"),
        (["٣"], "text"),
        (["true", "False"], "boolean"),
        (["true", "1"], "text"),
        (["2024-02-29", "0001-01-01", "9999-12-31"], "date"),
        (["2023-02-29"], "text"),
        (["0000-01-01"], "text"),
        (["2024-02-29 23:59", "2024-02-29T00:00:00.123456"], "timestamp"),
        (["2024-02-29 24:00"], "text"),
        (["2024-02-29 12:00:00Z", "2024-02-29 12:00:00+05:30"], "timestamp with time zone"),
        (["2024-02-29", "2024-02-29 12:00"], "text"),
        (["2024-02-29", "20"], "text"),
        (["1", "?"], "text"),
        (["1", "NA"], "text"),
        (["1", None, ""], "integer"),
        ([None, ""], "text"),
        ([], "text"),
    ],
)
def test_type_of(values: list[str | None], expected: str) -> None:
    assert chosen(values) == expected
    assert chosen(*[[value] for value in values]) == expected
    assert chosen(values[::-1]) == expected


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1))
def test_every_int4_makes_an_integer_column(numbers: list[int]) -> None:
    assert chosen([str(number) for number in numbers]) == "integer"


@given(st.lists(st.floats(), min_size=1).filter(lambda numbers: any(map(math.isfinite, numbers))))
def test_every_float_that_python_writes_is_a_number(numbers: list[float]) -> None:
    spelled = ["NaN" if math.isnan(n) else str(n).replace("inf", "Infinity") for n in numbers]
    assert chosen(spelled) in ("numeric", "double precision")
    assert chosen([*spelled, "1e-05"]) == "double precision"
    assert chosen([*spelled, "Infinity"]) == "double precision"


@given(st.lists(st.decimals(-(10**15), 10**15, places=2), min_size=1))
def test_every_amount_of_money_is_numeric(amounts: list[Decimal]) -> None:
    spelled = [format(amount, "f").removeprefix("-" if amount == 0 else "") for amount in amounts]
    assert chosen(spelled) == "numeric"


@given(st.lists(st.dates(), min_size=1))
def test_every_date_makes_a_date_column(days: list[date]) -> None:
    assert chosen([day.isoformat() for day in days]) == "date"


@given(st.lists(st.datetimes(), min_size=1))
def test_every_time_makes_a_timestamp_column(times: list[datetime]) -> None:
    assert chosen([time.isoformat(" ") for time in times]) == "timestamp"


@given(st.lists(st.text(alphabet="0123456789-.eE:T Z+?", max_size=12), min_size=1), st.data())
def test_the_split_into_batches_does_not_matter(values: list[str], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(values)))
    assert chosen(values[:cut], values[cut:]) == chosen(values)
