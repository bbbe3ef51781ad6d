"""Whatever text is checked: a verdict comes back, and it is sound in itself."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_pg.queries.check.checker import Options, check
from kanon_pg.queries.check.read.sqlglot_parser import parse_text
from tests.fixtures.examples import examples
from tests.unit.query.shop import SHOP

_WORDS = """
select distinct from where group by having order by limit offset with as union all join left on
using and or not in between like is null true false case when then else end cast extract year filter
within count sum avg min percentile_cont people orders answers cities id name city sex age income
born seen member note size date interval ( ) , . * + - / % = <> < > || :: 'a' '2024-01-01' 1 0 2.5
1e9 $1 %s " ' -- /* */ ; exists any lateral over rollup for update tablesample values only recursive
window partition rank lag grouping cube sets array[ ] ~ !~ distinct any
"""
WORDS = st.sampled_from(_WORDS.split())
VALID = (
    "select city, count(*), avg(income) from people where age > 30 group by city order by 2 desc limit 10",
    "with a as (select * from people where member) select date_trunc('day', seen) from a",
    "select c.country, count(distinct o.buyer) from orders o join cities c using (city) group by c.country",
    "select sex, count(*) filter (where born < '1990-01-01') from people group by sex having count(*) > 3",
    "select city, sum(age * 2 + 1) from people group by city union all select 'all', sum(age) from people",
    "select city, sum(count(*)) over (order by 2), lag(sex) over () from people group by 1, sex",
    "select city, sex, sum(income), grouping(city) from people group by rollup (city, sex) order by 4, 1",
    "select avg(case when member then 1 else 0 end), sum(score) filter (where age > 3) from people",
    "select count(*) from people where city in (select city from cities where size > 3) and sex ~ '^m|f$'",
    "select city, size, rank() over (order by size desc) from cities where country <> 'x' order by price",
    "select percentile_disc(array[0.25, 0.75]) within group (order by income) from people where member",
    "select left(city, 2), case when age < 18 then 'young' else 'old' end from people where city like 'a%'",
)
MODES = st.sampled_from([Options(), Options(strict=True), Options(mode="suppress"), Options(dominance=0.5)])


def is_sound(text: str, options: Options) -> bool:
    verdict = check(text, SHOP, options)
    assert verdict.accepted == (not verdict.findings) == (verdict.canonical_sql is not None)
    assert "Q099" not in {finding.code for finding in verdict.findings}
    assert all(0 <= finding.start <= finding.end <= len(text) for finding in verdict.findings)
    if not verdict.accepted:
        return False
    assert verdict.canonical_sql is not None
    # the parser knows few operators in this notation; every one of them stands between two operands
    parse_text(re.sub(r"OPERATOR\(pg_catalog\.[^)]*\)", "-", verdict.canonical_sql))
    counted = {hidden.relation for hidden in verdict.hidden if hidden.what == "people"}
    assert counted == set(verdict.protected)
    assert_qualified(verdict.canonical_sql)
    return True


def assert_qualified(sql: str) -> None:
    """No name that a search path could decide: functions and operators carry pg_catalog."""
    bare = re.sub(r"E?'(?:[^'\\]|''|\\.)*'|\"(?:[^\"]|\"\")*\"", " ", sql)
    called = set(re.findall(r"(?<![.\w])([a-z_]\w*)\s*\(", bare))
    assert called == set(), called
    assert not re.search(r"[<>=+/%|~]", re.sub(r"OPERATOR\(pg_catalog\.[^)]*\)", " ", bare))


@given(st.text(max_size=200), MODES)
def test_any_text(text: str, options: Options) -> None:
    is_sound(text, options)


@given(st.lists(WORDS, max_size=40), MODES)
def test_any_words(words: list[str], options: Options) -> None:
    is_sound("select " + " ".join(words), options)


@settings(max_examples=examples(300))
@given(st.sampled_from(VALID), st.data(), MODES)
def test_any_change_of_a_query(text: str, data: st.DataObject, options: Options) -> None:
    pieces = text.split(" ")
    for _ in range(data.draw(st.integers(0, 3))):
        position = data.draw(st.integers(0, len(pieces) - 1))
        kind = data.draw(st.sampled_from(["replace", "insert", "drop", "swap"]))
        if kind == "swap":
            other = data.draw(st.integers(0, len(pieces) - 1))
            pieces[position], pieces[other] = pieces[other], pieces[position]
        else:
            pieces[position : position + (kind != "insert")] = [] if kind == "drop" else [data.draw(WORDS)]
    is_sound(" ".join(pieces), options)


@given(st.sampled_from(VALID), st.data())
def test_spelling_changes_nothing(text: str, data: st.DataObject) -> None:
    blank = st.sampled_from([" ", "\n", "\t ", " /* note */ ", " -- note\n"])
    parts = re.split(r"('[^']*')", text)
    changed = "".join(
        part
        if part.startswith("'")
        else "".join(
            data.draw(blank) if c == " " else data.draw(st.sampled_from([c, c.upper()])) for c in part
        )
        for part in parts
    )
    assert check(changed, SHOP).canonical_sql == check(text, SHOP).canonical_sql is not None


@given(st.sampled_from(VALID), st.text(max_size=30))
def test_a_string_stays_a_string(text: str, value: str) -> None:
    literal = "'" + value.replace("'", "''") + "'"
    asked = "select count(*) from people where city = " + literal
    verdict = check(asked, SHOP)
    if verdict.accepted:
        plain = check("select count(*) from people where city = 'x'", SHOP).canonical_sql or ""
        escaped = value.replace("'", "''")
        shown = "E'" + escaped.replace("\\", "\\\\") + "'" if "\\" in value else f"'{escaped}'"
        assert verdict.canonical_sql == plain.replace("'x'", shown)
    else:
        assert "\0" in value


def test_the_checked_queries_are_accepted() -> None:
    assert all(is_sound(text, Options()) for text in VALID)
