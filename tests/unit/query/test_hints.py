"""What findings say of mistakes that people make often, and what they offer instead."""

from __future__ import annotations

import pytest

from tests.unit.query.shop import ask

SAID = [
    (
        "select city, median(income) from people group by city",
        "function median is not allowed",
        "percentile_cont",
    ),
    ("select year(born) from people", "function year is not allowed", "extract(year from"),
    ("select ifnull(income, 0) from people", "function ifnull is not allowed", "COALESCE"),
    ("select ctiy from people", 'no column "ctiy"', "Perhaps city?"),
    ("select count(*) from people where city = Zug", 'no column "zug"', "single quotes"),
    ("select x.* from people p", 'no table "x" in FROM', "Tables here: p."),
    ("select count(*) from generate_series(1, 3) as g(y)", "A function is not allowed here", "Name a table"),
    ("select avg(born) from people", "avg does not take date", "percentile_disc(0.5)"),
    ("select extract(epoch from age) from people", "does not take (text, int4)", "extract(text, date)"),
    (
        "select count(*) from people where not exists (select 1)",
        "EXISTS stands in WHERE only",
        "those with EXISTS",
    ),
    (
        "select count(*) from people where id not in (select buyer from orders)",
        "not allowed here",
        "those with IN",
    ),
    ("select count(*) from people where city like any (array['a'])", "ANY and ALL", "IN ('a', 'b')"),
    ("select city::mood from people", 'cast to the type "mood"', "plain strings"),
    ("select count(*) from people where seen > interval '1' fortnight", 'unit "fortnight"', "30 days"),
    ("select city, ntile(2) over () from people group by city", "window function ntile", "Allowed:"),
    ("select count(*) from people group by 7", "GROUP BY 7 names no output", "Count from 1"),
]


@pytest.mark.parametrize(("query", "sentence", "hint"), SAID)
def test_a_mistake_is_named_with_what_to_write_instead(query: str, sentence: str, hint: str) -> None:
    (finding, *_) = ask(query).findings
    assert sentence in finding.sentence
    assert hint in finding.hint
