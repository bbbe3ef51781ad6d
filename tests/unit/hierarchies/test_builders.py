from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from kanon_pg.core.hierarchy import GeneralizationHierarchy
from kanon_pg.db.catalog import ColumnFacts
from kanon_pg.errors import InputError, UnsuitableColumn
from kanon_pg.hierarchies.build import BUILDERS
from kanon_pg.hierarchies.inputs import ColumnValues, Spec
from kanon_pg.hierarchies.intervals import plain, roundest


def column(base_type: str) -> ColumnFacts:
    return ColumnFacts(
        "c", *[base_type] * 3, "b", False, False, True, None, None, selectable=True, is_key=False
    )


def built(
    base_type: str, texts: Sequence[str], spec: dict[str, Any], rows: Sequence[int] | None = None
) -> GeneralizationHierarchy:
    """Build a hierarchy as `kanon_pg.hierarchies.build.build` does, without a database."""
    given = Spec(spec, "spec")
    builder = BUILDERS[str(given.text("builder"))].build
    values = ColumnValues(column(base_type), tuple(texts), tuple(rows or [1] * len(texts)))
    hierarchy = builder(values, given)
    given.done()
    return hierarchy


def nodes(hierarchy: GeneralizationHierarchy, value: str) -> list[str]:
    return next(row[1:] for row in hierarchy.rows() if row[0] == value)


AGES = [str(age) for age in range(17, 91)]


def intervals(**spec: Any) -> GeneralizationHierarchy:
    return built("int4", AGES, {"builder": "intervals", **spec})


def test_intervals_of_equal_width_double_until_all_values_lie_in_one() -> None:
    found = intervals(width=5)
    assert found.node_counts == (74, 16, 9, 5, 3, 2, 1)
    assert nodes(found, "37") == ["[35,40)", "[30,40)", "[20,40)", "[0,40)", "[0,80)"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"width": 5, "factor": 4, "levels": 2}, ["[35,40)", "[20,40)"]),
        ({"width": [5, 10, 1000]}, ["[35,40)", "[30,40)", "[0,1000)"]),
        ({"width": 10, "origin": 7, "levels": 1}, ["[37,47)"]),
        ({"cuts": [18, 30, 45, 65]}, ["[30,45)"]),
        ({"cuts": [18, 30, 45, 65], "factor": 2}, ["[30,45)", "[30,65)", "(,65)"]),
        ({"cuts": [[18, 30, 45, 65], [30, 65]]}, ["[30,45)", "[30,65)"]),
        ({"groups": 4}, ["[35,54)", "(,54)"]),
        ({"groups": [4, 2]}, ["[35,54)", "(,54)"]),
    ],
)
def test_intervals_are_those_of_the_specification(spec: dict[str, Any], expected: list[str]) -> None:
    assert nodes(intervals(**spec), "37") == expected


def test_cuts_leave_the_ends_open_so_that_extremes_are_not_told() -> None:
    found = intervals(cuts=[30, 65])
    assert nodes(found, "17") == ["(,30)"]
    assert nodes(found, "90") == ["[65,)"]


def test_groups_have_equally_many_rows_as_far_as_values_allow() -> None:
    found = built("int4", ["1", "2", "3", "9"], {"builder": "intervals", "groups": 3}, rows=[10, 1, 9, 10])
    assert [row[1] for row in found.rows()] == ["(,2)", "[2,9)", "[2,9)", "[9,)"]


def test_a_frequent_value_makes_fewer_groups_instead_of_empty_ones() -> None:
    found = built("int4", ["1", "2"], {"builder": "intervals", "groups": 8}, rows=[1000, 1])
    assert [row[1] for row in found.rows()] == ["(,2)", "[2,)"]


def test_levels_that_merge_nothing_are_left_out() -> None:
    found = built("int4", ["1", "2", "1001", "1002"], {"builder": "intervals", "width": 5})
    assert found.node_counts == (4, 2, 1)


def test_intervals_around_zero_end_although_no_width_ever_holds_all() -> None:
    found = built("int4", ["-3", "2"], {"builder": "intervals", "width": 1})
    assert nodes(found, "-3") == ["[-3,-2)"]
    assert found.height == 2


@pytest.mark.parametrize("text", ["0.1", "-1.5", "1e+300", "5e-324", "123456789.123456789"])
def test_intervals_of_fractions_are_exact(text: str) -> None:
    found = built("float8", [text, "7777"], {"builder": "intervals", "width": 0.5})
    low, high = nodes(found, text)[0][1:-1].split(",")
    assert Decimal(high) - Decimal(low) == Decimal("0.5")
    assert Decimal(low) <= Decimal(text) < Decimal(high)


def test_bounds_beyond_the_type_are_left_open() -> None:
    found = built("int4", ["2147483647", "-2147483648"], {"builder": "intervals", "width": [10, 20]})
    assert nodes(found, "2147483647")[0] == "[2147483640,)"
    assert nodes(found, "-2147483648")[0] == "(,-2147483640)"


def test_dates_have_months_years_and_decades() -> None:
    found = built("date", ["1999-12-31", "2000-02-29", "2021-03-01"], {"builder": "dates"})
    assert nodes(found, "2000-02-29") == [
        "[2000-02-01,2000-03-01)",
        "[2000-01-01,2001-01-01)",
        "[2000-01-01,2010-01-01)",
    ]


def test_timestamps_with_time_zone_are_taken_in_utc() -> None:
    found = built(
        "timestamptz",
        ["2020-01-01T00:30:00+02:00", "2021-01-01T00:00:00.5+00:00"],
        {"builder": "dates", "levels": ["hour", "day", "quarter", "century"]},
    )
    assert nodes(found, "2020-01-01T00:30:00+02:00") == [
        '["2019-12-31 22:00:00+00","2019-12-31 23:00:00+00")',
        '["2019-12-31 00:00:00+00","2020-01-01 00:00:00+00")',
        '["2019-10-01 00:00:00+00","2020-01-01 00:00:00+00")',
        '["2000-01-01 00:00:00+00","2100-01-01 00:00:00+00")',
    ]


def test_periods_at_the_ends_of_the_calendar_are_left_open() -> None:
    spec = {"builder": "dates", "levels": ["month", "decade"]}
    found = built("date", ["0001-01-05", "9999-12-31"], spec)
    assert nodes(found, "0001-01-05") == ["[0001-01-01,0001-02-01)", "(,0010-01-01)"]
    assert nodes(found, "9999-12-31") == ["[9999-12-01,)", "[9990-01-01,)"]


def test_prefixes_mask_what_they_do_not_keep() -> None:
    found = built("text", ["13053", "13068", "14850"], {"builder": "prefix"})
    assert nodes(found, "13053") == ["1305*", "130**", "13***"]
    found = built("text", ["13053", "13068", "14850"], {"builder": "prefix", "keep": [3, 1], "mask": "x"})
    assert nodes(found, "13053") == ["130xx", "1xxxx"]


def test_short_values_stay_as_long_as_they_are_no_longer_than_what_is_kept() -> None:
    found = built("text", ["abcd", "ab", "abx"], {"builder": "prefix"})
    assert nodes(found, "ab") == ["ab", "ab", "a***"][: found.height - 1]
    assert nodes(found, "abx") == ["abx", "ab**", "a***"][: found.height - 1]


def test_networks_hold_addresses_of_both_versions() -> None:
    texts = ["192.0.2.17", "192.0.2.0/28", "10.0.0.0/12", "2001:db8::1"]
    found = built("inet", texts, {"builder": "networks"})
    assert nodes(found, "192.0.2.17") == ["192.0.2.0/24", "192.0.0.0/16", "192.0.0.0/8"]
    assert nodes(found, "192.0.2.0/28") == nodes(found, "192.0.2.17")
    assert nodes(found, "10.0.0.0/12") == ["10.0.0.0/12", "10.0.0.0/12", "10.0.0.0/8"]
    assert nodes(found, "2001:db8::1") == ["2001:db8::/64", "2001:db8::/48", "2001:db8::/32"]


def test_priorities_keep_the_most_frequent_values() -> None:
    found = built("text", list("abcd"), {"builder": "priority"}, rows=[1, 4, 3, 2])
    assert found.rows() == [
        ["a", "(other)", "(other) 2"],
        ["b", "b", "b"],
        ["c", "c", "(other) 2"],
        ["d", "(other)", "(other) 2"],
    ]


def test_priorities_follow_a_given_order_first() -> None:
    spec = {"builder": "priority", "order": ["a", "unseen"], "keep": [2], "label": "rest"}
    found = built("text", list("abcd"), spec, rows=[1, 4, 3, 2])
    assert [row[1] for row in found.rows()] == ["a", "b", "rest", "rest"]


_REFUSED: list[tuple[str, list[str], dict[str, Any]]] = [
    ("int4", ["1"], {"builder": "intervals"}),
    ("int4", ["1"], {"builder": "intervals", "width": 5, "groups": 2}),
    ("int4", ["1"], {"builder": "intervals", "width": 0}),
    ("int4", ["1"], {"builder": "intervals", "width": -5}),
    ("int4", ["1"], {"builder": "intervals", "width": 0.5}),
    ("int4", ["1"], {"builder": "intervals", "width": True}),
    ("int4", ["1"], {"builder": "intervals", "width": "5"}),
    ("int4", ["1"], {"builder": "intervals", "width": []}),
    ("int4", ["1"], {"builder": "intervals", "width": [5, 8]}),
    ("int4", ["1"], {"builder": "intervals", "width": [5, 10], "factor": 2}),
    ("int4", ["1"], {"builder": "intervals", "width": 5, "factor": 1}),
    ("int4", ["1"], {"builder": "intervals", "width": float("inf")}),
    ("int4", ["1"], {"builder": "intervals", "width": 5, "origin": [1, 2]}),
    ("int4", ["1"], {"builder": "intervals", "groups": 1}),
    ("int4", ["1"], {"builder": "intervals", "groups": 2.5}),
    ("int4", ["1"], {"builder": "intervals", "groups": [8, 3]}),
    ("int4", ["1"], {"builder": "intervals", "cuts": [5, 5]}),
    ("int4", ["1"], {"builder": "intervals", "cuts": [[1, 5], [2]]}),
    ("int4", ["1"], {"builder": "intervals", "cuts": [[1, 5], []]}),
    ("int4", ["1"], {"builder": "intervals", "width": 5, "unknown": 1}),
    ("int4", ["1"], {"builder": "intervals", "width": 5, "domain": [5]}),
    ("int4", ["1"], {"builder": "intervals", "width": 5, "domain": [5, 4]}),
    ("int4", ["1"], {"builder": "intervals", "width": 5, "domain": [0, 1e18]}),
    ("float8", ["1"], {"builder": "intervals", "width": 5, "domain": [0, 9]}),
    ("date", ["2020-01-01"], {"builder": "dates", "domain": ["2020-01-01"]}),
    ("date", ["2020-01-01"], {"builder": "dates", "domain": ["2020-01-01", "2019-01-01"]}),
    ("date", ["2020-01-01"], {"builder": "dates", "domain": ["2020-01-01", "2020-02-31"]}),
    ("timestamp", ["2020-01-01"], {"builder": "dates", "domain": ["2020-01-01", "2020-02-01"]}),
    ("date", ["2020-01-01"], {"builder": "dates", "levels": ["year", "month"]}),
    ("date", ["2020-01-01"], {"builder": "dates", "levels": ["day", "month"]}),
    ("date", ["2020-01-01"], {"builder": "dates", "levels": ["week"]}),
    ("date", ["2020-01-01"], {"builder": "dates", "levels": []}),
    ("text", ["a"], {"builder": "prefix", "keep": [1, 2]}),
    ("text", ["a"], {"builder": "prefix", "keep": [1], "step": 1}),
    ("text", ["a"], {"builder": "prefix", "mask": ""}),
    ("text", ["a" * 100], {"builder": "prefix"}),
    ("inet", ["10.0.0.1"], {"builder": "networks", "prefixes": [8, 24]}),
    ("inet", ["10.0.0.1"], {"builder": "networks", "prefixes": []}),
    ("inet", ["10.0.0.1", "::1"], {"builder": "networks", "prefixes": [24]}),
    ("text", ["a"], {"builder": "priority", "keep": [1, 2]}),
    ("text", ["a"], {"builder": "priority", "label": "a"}),
    ("text", ["rest 2"], {"builder": "priority", "label": "rest"}),
    ("text", ["a"], {"builder": "priority", "order": [1]}),
]


@pytest.mark.parametrize(("base_type", "texts", "spec"), _REFUSED)
def test_specifications_that_make_no_sense_are_refused(
    base_type: str, texts: list[str], spec: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as refused:
        built(base_type, texts, spec)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("base_type", "texts", "builder"),
    [
        ("text", ["1234"], {"builder": "intervals", "width": 5}),
        ("float8", ["1234", "NaN"], {"builder": "intervals", "width": 5}),
        ("numeric", ["1234", "Infinity"], {"builder": "intervals", "groups": 5}),
        ("numeric", ["1234", "1e+1900"], {"builder": "intervals", "width": 1e-300}),
        ("text", ["2012-03-04"], {"builder": "dates"}),
        ("date", ["2012-03-04", "infinity"], {"builder": "dates"}),
        ("date", ["0044-03-15 BC"], {"builder": "dates"}),
        ("text", ["1234"], {"builder": "networks"}),
    ],
)
def test_columns_that_do_not_fit_a_builder_are_refused_by_name_and_never_by_value(
    base_type: str, texts: list[str], builder: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match=r'[Cc]olumn "c"') as refused:
        built(base_type, texts, builder)
    assert texts[0] not in str(refused.value)


def test_a_column_of_another_type_is_an_unsuitable_column() -> None:
    with pytest.raises(UnsuitableColumn):
        built("text", ["a"], {"builder": "intervals", "width": 5})


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("37", "52", "50"),
        ("0.12", "0.13", "0.13"),
        ("-7", "3", "0"),
        ("-130", "-118", "-120"),
        ("1", "2", "2"),
    ],
)
def test_the_roundest_number_between_two_is_no_further_than_the_second(
    low: str, high: str, expected: str
) -> None:
    assert plain(roundest(Decimal(low), Decimal(high))) == expected


@pytest.mark.parametrize(
    "spec",
    [
        {"builder": "intervals", "width": 1},
        {"builder": "intervals", "groups": 4},
        {"builder": "intervals", "cuts": [30, 50]},
        {"builder": "prefix"},
        {"builder": "priority"},
    ],
)
def test_a_builder_ends_with_the_call(spec: dict[str, Any]) -> None:
    class Over(Exception):
        pass

    def end() -> None:
        raise Over

    given = Spec(spec, "spec")
    builder = BUILDERS[str(given.text("builder"))].build
    with pytest.raises(Over):
        builder(ColumnValues(column("int4"), tuple(AGES), (1,) * len(AGES), end), given)


def test_unknown_keys_are_answered_with_those_that_there_are() -> None:
    with pytest.raises(InputError) as refused:
        built("text", ["a1", "b2"], {"builder": "prefix", "kepp": 1})
    assert "kepp" not in str(refused.value)
    assert {"keep", "step", "mask"} <= set(
        (refused.value.hint or "").replace(".", ",").replace(",", " ").split()
    )


def test_one_number_is_a_list_of_one() -> None:
    texts = ["13053", "13068"]
    assert (
        built("text", texts, {"builder": "prefix", "keep": 3}).rows()
        == built("text", texts, {"builder": "prefix", "keep": [3]}).rows()
    )


def test_networks_are_for_addresses() -> None:
    with pytest.raises(UnsuitableColumn, match="of type date cannot have networks"):
        built("date", ["2020-01-01"], {"builder": "networks"})
