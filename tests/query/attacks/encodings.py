"""Texts that a checker might read differently from the server."""

from tests.query.cases import (
    REFUSED,
    WITHHELD_AS_IS,
    Attack,
    Channel,
    Secret,
    V,
    alike,
    attack,
    harmless,
    of_kind,
)

_NBSP = "\N{NO-BREAK SPACE}"

_CYRILLIC_A = "\N{CYRILLIC SMALL LETTER A}"

_SAME = f"select ward from patients where {V}"

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "encodings and quoting",
    *alike({
        "no-break space between words": _SAME.replace(" ", _NBSP),
        "no-break space makes one name of two words": f"select ward from patients as{_NBSP}wards where {V}",
        "byte order mark in front": "\ufeff" + _SAME,
        "NUL byte ends the text for one reader": f"select count(*) from patients\0 where 1 = 0 union all {_SAME}",
        "NUL byte inside a literal": "select count(*) from patients where ward = 'onc\0ology'",
        "vertical tab and form feed": _SAME.replace(" ", "\x0b").replace("ward", "\x0cward", 1),
        "lone surrogate": "select count(*) from patients where ward = '\udcff'",
        "name with five parts": f"select a.postgres.hospital.patients.ward from patients where {V}",
        "backquotes": f"select `ward` from `patients` where {V}",
        "brackets as quotes": f"select [ward] from [patients] where {V}",
        "double quotes as a literal": 'select count(*) from patients where ward = "oncology"',
        "two statements": "select count(*) from wards; select ward from patients",
        "statement behind a comment behind a semicolon": f"select count(*) from wards; -- \n {_SAME}",
    }, secret=Secret.WARD, channel=Channel.EFFECT),
    *alike({
        "homoglyph in a table's name": f"select count(*) from p{_CYRILLIC_A}tients",
        "quoted names fold no case": 'select count(*) from "PATIENTS"',
        "empty quoted name": 'select count(*) as "" from patients',
    }, secret=Secret.PRESENCE, channel=Channel.EFFECT),
    *alike({
        "homoglyph in a function's name": f"select m{_CYRILLIC_A}x(cost) from patients",
        "full-width parentheses and digits": "select count\uff08*\uff09 from patients where cost > \uff11",
    }, secret=Secret.COST, channel=Channel.EFFECT),
    *alike({
        "zero-width space in a name": "select na\u200bme from patients",
        "case folding of a dotless i": "select \u0131d from patients",
    }, secret=Secret.IDENTITY, channel=Channel.EFFECT),
    *alike({
        "right-to-left override in a comment": "select ward /* \u202e */ from patients -- \u2066\n where " + V,
        "carriage returns end a comment for one reader": f"select ward from wards -- \r union all {_SAME}",
        "CRLF": f"select ward\r\nfrom patients\r\nwhere {V}\r\n",
        "unicode escapes of a literal": "select count(*) from patients where ward = U&'\\006Fncology' and " + V,
        "backslash before a quote in a standard string": f"select ward from wards where title = '\\' union all {_SAME} -- '",
        "national character string": "select count(*) from patients where ward = N'oncology' and " + V,
        "dollar quotes hide a quote": f"select ward from wards where title = $$'$$ union all {_SAME} or ward = $$'$$",
        "dollar quotes with a tag": f"select ward from wards where title = $a$ $b$ $a$ union all {_SAME} or ward = $b$ $a$ $b$",
        "dollar tag that is not ASCII": f"select title from wards where title = $é$ ' $é$ union all {_SAME}",
        "dollar sign in a name": f"select ward as a$b$c from patients where {V}",
        "operator by its schema": "select ward from patients where birth_date operator(pg_catalog.=) date '1957-05-09'",
        "comment that only looks closed": f"select title from wards /* ' */ -- ' \n union all {_SAME}",
        "comment inside an operator": f"select count(*) from wards where beds -/**/- 5 > 0 union all select count(*) from patients where {V} and ward = 'oncology'",
        "comment as a hint to the parser": f"select /*+ SeqScan(p) */ ward from patients p where {V}",
        "hash sign is no comment": f"select count(*) from wards where 5 # 5 = 0 union all select count(*) from patients where {V} and ward = 'oncology'",
        "cast written as a function of the type": "select ward from patients where birth_date = date('1957-05-09')",
        "collation": f'select ward collate "C" from patients where {V}',
    }, secret=Secret.WARD, expect=REFUSED),
    attack("line separator ends a comment for one reader", f"select title from wards -- \u2028 union all {_SAME}", secret=Secret.WARD, channel=Channel.EFFECT, expect=harmless("a comment to the server, whatever another reader thinks")),
    *alike({
        "unicode escapes of a name": f'select ward from U&"p\\0061tients" where {V}',
        "unicode escapes with an escape of their own": f"select ward from U&\"p!0061tients\" uescape '!' where {V}",
        "array type in a cast": f"select ('{{' || ward || '}}')::text[] from patients where {V}",
    }, secret=Secret.WARD),
    attack("backslashes in an escape string", f"select count(*) from wards where title = E'\\'' or 1 = 1 -- ' union all {_SAME}", secret=Secret.WARD, channel=Channel.EFFECT, expect=harmless("the server reads one query on wards")),
    attack("escape string that continues on the next line", f"select ward from wards where title = E'a'\n'\\' union all {_SAME.replace(chr(39), chr(39) * 2)} -- '", secret=Secret.WARD, channel=Channel.EFFECT, expect=harmless("all of it is one literal")),
    *alike({
        "bit strings and hexadecimal strings": f"select ward from patients where {V} and B'1' = X'1'::bit",
        "two aliases equal in their first 63 bytes": f"with {'w' * 63}a as (select ward from wards), {'w' * 63}b as (select ward from patients where {V}) select * from {'w' * 63}a",
        "name with three parts": f"select ward from postgres.hospital.patients where {V}",
        "nested comments": f"select ward from wards /* /* */ where false union all {_SAME} -- */\n",
        "many semicolons": f";;;{_SAME};;;",
    }, secret=Secret.WARD, expect=REFUSED, channel=Channel.EFFECT),
    attack("quoted upper-case alias in front of a folded one", f'select "Ward".cost from patients "Ward", wards ward where "Ward".{V}', secret=Secret.COST, expect=REFUSED),
    attack("quotes within a quoted name", f'select count(*) as "a""; drop table hospital.ticket; --" from patients where {V}', secret=Secret.PRESENCE, expect=WITHHELD_AS_IS),
    attack("name of 64 bytes that the server cuts to another one", f"select {'c' * 63}, sum({'c' * 63 + 'x'}) from (select sex as {'c' * 63}, cost as {'d' * 63} from patients where {V}) as q group by 1", secret=Secret.COST, channel=Channel.EFFECT, expect=REFUSED),
    attack("version comment of another system", f"select title from wards /*!50000 union all {_SAME} */", secret=Secret.WARD, channel=Channel.EFFECT, expect=harmless("a comment to the server")),
    *alike({
        "nothing at all": "",
        "nothing but a comment": "-- x",
        "meta-command of psql": "\\copy (select * from hospital.patients) to '/tmp/kanon-attack'",
        "variable of psql": "select count(*) from :table",
        "type with a user's schema": "select count(*) from patients where ward = 'x'::evil.text",
    }, secret=Secret.SERVER, channel=Channel.EFFECT),
)
# fmt: on
