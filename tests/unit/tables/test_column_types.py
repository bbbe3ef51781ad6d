"""The chosen type keeps what the text says, and what is guessed is told or left alone."""

import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_pg.tables.column_types import ColumnType, CsvColumn, Spelling, with_one_decimal_sign


def chosen(*batches: list[str | None]) -> str:
    column = ColumnType()
    for batch in batches:
        column.observe(pa.array(batch, pa.string()))
    return column.chosen("a").sql_type


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
        (["12.50", "?"], "numeric"),
        (["12.50", "??"], "text"),
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
        (["1", "?"], "integer"),
        (["2024-02-29", "NA"], "date"),
        (["true", "NULL", "-"], "boolean"),
        (["NA", "?", None], "text"),
        (["x", "?"], "text"),
        (["1", "na"], "text"),
        (["1234,50", "3", "-,5"], "numeric"),
        (["1234,50", "3.5"], "text"),
        (["1.234,50"], "text"),
        (["1,234", "12,50"], "numeric"),
        (["1,234", "1,234,567"], "text"),
        (["1,5e3"], "double precision"),
        (["1,5", "NaN"], "double precision"),
        (["007,5"], "text"),
        (["31.12.1980", "1.2.1981"], "date"),
        (["12/31/1980", "2/1/1981"], "date"),
        (["1980/12/31", "1980-1-2", "1980.1.2"], "date"),
        (["31.12.1980", "1981-01-02"], "date"),
        (["31.12.1980 14:30", "1.2.1981 00:00:00"], "timestamp"),
        (["12/31/1980 14:30+01"], "timestamp with time zone"),
        (["31.12.1980", "12/31/1980"], "text"),
        (["01.02.1980", "12.12.1980"], "text"),
        (["30.02.1980"], "text"),
        (["31.12.80"], "text"),
        (["31.12.1980x"], "text"),
        (["31.12-1980"], "text"),
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


def column(values: list[str | None], **given: Any) -> CsvColumn:
    kind = ColumnType(Spelling(**given))
    kind.observe(pa.array(values, pa.string()))
    return kind.chosen("a")


def read(values: list[str | None], **given: Any) -> list[str | None]:
    found: list[str | None] = column(values, **given).read(pa.array(values, pa.string())).to_pylist()
    return found


def test_texts_are_read_as_postgresql_reads_them() -> None:
    assert read(["1234,50", "3", "", None, "NA"]) == ["1234.50", "3", "", None, None]
    assert read(["31.12.1980", "1/2/1981", "-"]) == ["1980-12-31", "1981-02-01", None]
    assert read(["12/31/1980 1:00", "2/1/1981 02:00"]) == ["12/31/1980 1:00", "2/1/1981 02:00"]
    assert read(["12/31/1980 01:00", "2/1/1981T02:00"]) == ["1980-12-31 01:00", "1981-02-01T02:00"]
    assert read(["x", "NA", "?", "1,5", "31.12.1980"]) == ["x", "NA", "?", "1,5", "31.12.1980"]


@given(st.lists(st.dates(), min_size=1), st.sampled_from(["DMY", "MDY", "YMD"]), st.sampled_from("./-"))
def test_dates_are_read_as_they_were_written_or_left_alone(days: list[date], order: str, sign: str) -> None:
    spelled = [
        sign.join(str(part) for part in ({"D": d.day, "M": d.month, "Y": f"{d.year:04}"}[o] for o in order))
        for d in days
    ]
    assert read(spelled) in ([d.isoformat() for d in days], spelled)
    assert read(spelled, dates=order) == [d.isoformat() for d in days]
    if order != "YMD":
        told_apart = any(d.day > 12 for d in days)
        assert (column(spelled).sql_type == "date") == told_apart
        assert (column(spelled).doubt is None) == told_apart


@given(st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1))
def test_decimal_commas_are_decimals(amounts: list[Decimal]) -> None:
    spelled = [format(amount, "f").removeprefix("-" if amount == 0 else "") for amount in amounts]
    assert read([text.replace(".", ",") for text in spelled]) == spelled


def test_what_can_be_read_in_two_ways_stays_text_until_it_is_said() -> None:
    for values, said, kind in (
        (["01/02/1980"], {"dates": "MDY"}, "date"),
        (["1,234", "12,345"], {"decimal": ","}, "numeric"),
    ):
        assert (column(values).sql_type, bool(column(values).doubt)) == ("text", True)
        assert (column(values, **said).sql_type, column(values, **said).doubt) == (kind, None)
    assert column(["1,234"], decimal=".") == CsvColumn("a", "text")
    assert column(["1.5"], decimal=",").sql_type == "text"
    assert column(["15"], decimal=",").sql_type == "integer"
    assert column(["31.12.1980"], dates="MDY").sql_type == "text"


def test_nulls_that_are_given_are_the_only_ones_and_count_in_text_too() -> None:
    assert read(["NA", "x", "-9"], nulls=("-9",)) == ["NA", "x", None]
    assert column(["NA", "1"], nulls=("-9",)).sql_type == "text"
    assert read(["1", "-9"], nulls=("-9",)) == ["1", None]
    assert column(["NA", "1"], nulls=()).sql_type == "text"


def test_a_file_has_one_decimal_sign() -> None:
    columns = [column(["1,5"]), column(["1.500"]), column(["15"])]
    assert [one.sql_type for one in with_one_decimal_sign(columns, Spelling())] == [
        "numeric",
        "text",
        "integer",
    ]
    assert [one.sql_type for one in with_one_decimal_sign(columns[1:], Spelling())] == ["numeric", "integer"]


def test_each_guess_is_said_and_nothing_that_was_given() -> None:
    values = {
        "nulls": (["1", "NA"], ("NA",), "NA taken for NULL"),
        "decimal": (["1,5"], ",", "decimal commas"),
        "dates": (["31.12.1980"], "DMY", "order DMY"),
    }
    for name, (texts, told, said) in values.items():
        (note,) = column(texts).guesses(Spelling())
        assert said in note
        assert list(column(texts, **{name: told}).guesses(Spelling(**{name: told}))) == []
    (note,) = column(["1/2/1980"]).guesses(Spelling())
    assert "--date-format" in note
