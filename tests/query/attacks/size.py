"""Texts too long, too deep or too wide for a parser, a stack or a planner."""

from tests.query.cases import REFUSED, Attack, Channel, Secret, alike, attack, of_kind

_DEEP = 4000

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "length and depth",
    *alike({
        "deep parentheses": "select count(*) from patients where " + "(" * _DEEP + "true" + ")" * _DEEP,
        "deep NOT": "select count(*) from patients where " + "not " * _DEEP + "true",
        "deep minus": "select count(*) from patients where cost > " + "- " * _DEEP + "1",
        "deep derived tables": "select count(*) from " + "(select 1 from " * 1500 + "wards" + ") as d" * 1500,
        "deep function calls": "select " + "lower(" * 2000 + "'x'" + ")" * 2000 + " from wards",
        "deep casts": "select 1" + "::integer" * 20_000 + " from wards",
        "deep CASE": "select " + "case when true then " * 1000 + "1" + " end" * 1000 + " from wards",
        "deep arrays": "select " + "array[" * 3000 + "1" + "]" * 3000,
        "deep comments": "/*" * 20_000 + "*/" * 20_000 + " select count(*) from wards",
        "long chain of OR": "select count(*) from patients where " + " or ".join(["cost > 1"] * 50_000),
        "long list of IN": "select count(*) from patients where cost in (" + "1," * 200_000 + "1)",
        "long union": " union all ".join(["select 1 from wards"] * 10_000),
        "long literal": "select count(*) from patients where ward = '" + "x" * 20_000_000 + "'",
        "long number": "select count(*) from patients where cost > " + "9" * 200_000,
        "many columns": "select " + ", ".join(["count(*)"] * 5000) + " from patients",
        "many tables": "select count(*) from " + ", ".join(f"wards as w{n}" for n in range(400)),
        "many unbalanced quotes": "select " + "'" * 99_999,
        "unclosed comment": "select count(*) from patients /*",
        "exponential common table expressions": "with c0 as (select ward from wards), " + ", ".join(f"c{n} as (select a.ward from c{n - 1} a, c{n - 1} b)" for n in range(1, 30)) + " select count(*) from c29",
    }, secret=Secret.SERVER, channel=Channel.EFFECT),
    attack("number with a large exponent", "select count(*) from patients where cost > 1e999999", secret=Secret.SERVER, channel=Channel.EFFECT, expect=REFUSED),
)
# fmt: on
