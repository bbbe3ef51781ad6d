"""Texts that a checker might read differently from the server."""

from __future__ import annotations

from tests.query.cases import REFUSED, WITHHELD_AS_IS, Attack, Channel, Secret, V, attack, harmless, of_kind

_NBSP = "\N{NO-BREAK SPACE}"

_CYRILLIC_A = "\N{CYRILLIC SMALL LETTER A}"

_SAME = f"select ward from patients where {V}"

ATTACKS: tuple[Attack, ...] = of_kind(
    "encodings and quoting",
    attack(
        "no-break space between words", _SAME.replace(" ", _NBSP), secret=Secret.WARD, channel=Channel.EFFECT
    ),
    attack(
        "no-break space makes one name of two words",
        f"select ward from patients as{_NBSP}wards where {V}",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
    ),
    attack(
        "homoglyph in a table's name",
        f"select count(*) from p{_CYRILLIC_A}tients",
        secret=Secret.PRESENCE,
        channel=Channel.EFFECT,
    ),
    attack(
        "homoglyph in a function's name",
        f"select m{_CYRILLIC_A}x(cost) from patients",
        secret=Secret.COST,
        channel=Channel.EFFECT,
    ),
    attack(
        "full-width parentheses and digits",
        "select count\uff08*\uff09 from patients where cost > \uff11",
        secret=Secret.COST,
        channel=Channel.EFFECT,
    ),
    attack(
        "zero-width space in a name",
        "select na\u200bme from patients",
        secret=Secret.IDENTITY,
        channel=Channel.EFFECT,
    ),
    attack(
        "right-to-left override in a comment",
        "select ward /* \u202e */ from patients -- \u2066\n where " + V,
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack("byte order mark in front", "\ufeff" + _SAME, secret=Secret.WARD, channel=Channel.EFFECT),
    attack(
        "NUL byte ends the text for one reader",
        f"select count(*) from patients\0 where 1 = 0 union all {_SAME}",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
    ),
    attack(
        "NUL byte inside a literal",
        "select count(*) from patients where ward = 'onc\0ology'",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
    ),
    attack(
        "carriage returns end a comment for one reader",
        f"select ward from wards -- \r union all {_SAME}",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack("CRLF", f"select ward\r\nfrom patients\r\nwhere {V}\r\n", secret=Secret.WARD, expect=REFUSED),
    attack(
        "line separator ends a comment for one reader",
        f"select title from wards -- \u2028 union all {_SAME}",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
        expect=harmless("a comment to the server, whatever another reader thinks"),
    ),
    attack(
        "vertical tab and form feed",
        _SAME.replace(" ", "\x0b").replace("ward", "\x0cward", 1),
        secret=Secret.WARD,
        channel=Channel.EFFECT,
    ),
    attack(
        "lone surrogate",
        "select count(*) from patients where ward = '\udcff'",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
    ),
    attack("unicode escapes of a name", f'select ward from U&"p\\0061tients" where {V}', secret=Secret.WARD),
    attack(
        "unicode escapes with an escape of their own",
        f"select ward from U&\"p!0061tients\" uescape '!' where {V}",
        secret=Secret.WARD,
    ),
    attack(
        "unicode escapes of a literal",
        "select count(*) from patients where ward = U&'\\006Fncology' and " + V,
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "backslashes in an escape string",
        f"select count(*) from wards where title = E'\\'' or 1 = 1 -- ' union all {_SAME}",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
        expect=harmless("the server reads one query on wards"),
    ),
    attack(
        "backslash before a quote in a standard string",
        f"select ward from wards where title = '\\' union all {_SAME} -- '",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "escape string that continues on the next line",
        f"select ward from wards where title = E'a'\n'\\' union all"
        f" {_SAME.replace(chr(39), chr(39) * 2)} -- '",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
        expect=harmless("all of it is one literal"),
    ),
    attack(
        "bit strings and hexadecimal strings",
        f"select ward from patients where {V} and B'1' = X'1'::bit",
        secret=Secret.WARD,
        expect=REFUSED,
        channel=Channel.EFFECT,
    ),
    attack(
        "national character string",
        "select count(*) from patients where ward = N'oncology' and " + V,
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "dollar quotes hide a quote",
        f"select ward from wards where title = $$'$$ union all {_SAME} or ward = $$'$$",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "dollar quotes with a tag",
        f"select ward from wards where title = $a$ $b$ $a$ union all {_SAME} or ward = $b$ $a$ $b$",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "dollar tag that is not ASCII",
        f"select title from wards where title = $é$ ' $é$ union all {_SAME}",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "dollar sign in a name",
        f"select ward as a$b$c from patients where {V}",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "quoted names fold no case",
        'select count(*) from "PATIENTS"',
        secret=Secret.PRESENCE,
        channel=Channel.EFFECT,
    ),
    attack(
        "case folding of a dotless i",
        "select \u0131d from patients",
        secret=Secret.IDENTITY,
        channel=Channel.EFFECT,
    ),
    attack(
        "quoted upper-case alias in front of a folded one",
        f'select "Ward".cost from patients "Ward", wards ward where "Ward".{V}',
        secret=Secret.COST,
        expect=REFUSED,
    ),
    attack(
        "quotes within a quoted name",
        f'select count(*) as "a""; drop table hospital.ticket; --" from patients where {V}',
        secret=Secret.PRESENCE,
        expect=WITHHELD_AS_IS,
    ),
    attack(
        "name of 64 bytes that the server cuts to another one",
        f"select {'c' * 63}, sum({'c' * 63 + 'x'}) from (select sex as {'c' * 63}, cost as {'d' * 63}"
        f" from patients where {V}) as q group by 1",
        secret=Secret.COST,
        channel=Channel.EFFECT,
        expect=REFUSED,
    ),
    attack(
        "two aliases equal in their first 63 bytes",
        f"with {'w' * 63}a as (select ward from wards), {'w' * 63}b as (select ward from patients where {V})"
        f" select * from {'w' * 63}a",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
        expect=REFUSED,
    ),
    attack(
        "empty quoted name",
        'select count(*) as "" from patients',
        secret=Secret.PRESENCE,
        channel=Channel.EFFECT,
    ),
    attack(
        "name with three parts",
        f"select ward from postgres.hospital.patients where {V}",
        secret=Secret.WARD,
        expect=REFUSED,
        channel=Channel.EFFECT,
    ),
    attack(
        "name with five parts",
        f"select a.postgres.hospital.patients.ward from patients where {V}",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
    ),
    attack(
        "operator by its schema",
        "select ward from patients where birth_date operator(pg_catalog.=) date '1957-05-09'",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "nested comments",
        f"select ward from wards /* /* */ where false union all {_SAME} -- */\n",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
        expect=REFUSED,
    ),
    attack(
        "comment that only looks closed",
        f"select title from wards /* ' */ -- ' \n union all {_SAME}",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "comment inside an operator",
        "select count(*) from wards where beds -/**/- 5 > 0 union all"
        f" select count(*) from patients where {V} and ward = 'oncology'",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "comment as a hint to the parser",
        f"select /*+ SeqScan(p) */ ward from patients p where {V}",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "version comment of another system",
        f"select title from wards /*!50000 union all {_SAME} */",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
        expect=harmless("a comment to the server"),
    ),
    attack(
        "hash sign is no comment",
        f"select count(*) from wards where 5 # 5 = 0 union all select count(*)"
        f" from patients where {V} and ward = 'oncology'",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "backquotes", f"select `ward` from `patients` where {V}", secret=Secret.WARD, channel=Channel.EFFECT
    ),
    attack(
        "brackets as quotes",
        f"select [ward] from [patients] where {V}",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
    ),
    attack(
        "double quotes as a literal",
        'select count(*) from patients where ward = "oncology"',
        secret=Secret.WARD,
        channel=Channel.EFFECT,
    ),
    attack(
        "two statements",
        "select count(*) from wards; select ward from patients",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
    ),
    attack(
        "statement behind a comment behind a semicolon",
        f"select count(*) from wards; -- \n {_SAME}",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
    ),
    attack("many semicolons", f";;;{_SAME};;;", secret=Secret.WARD, channel=Channel.EFFECT, expect=REFUSED),
    attack("nothing at all", "", secret=Secret.SERVER, channel=Channel.EFFECT),
    attack("nothing but a comment", "-- x", secret=Secret.SERVER, channel=Channel.EFFECT),
    attack(
        "meta-command of psql",
        "\\copy (select * from hospital.patients) to '/tmp/kanon-attack'",
        secret=Secret.SERVER,
        channel=Channel.EFFECT,
    ),
    attack("variable of psql", "select count(*) from :table", secret=Secret.SERVER, channel=Channel.EFFECT),
    attack(
        "cast written as a function of the type",
        "select ward from patients where birth_date = date('1957-05-09')",
        secret=Secret.WARD,
        expect=REFUSED,
    ),
    attack(
        "type with a user's schema",
        "select count(*) from patients where ward = 'x'::evil.text",
        secret=Secret.SERVER,
        channel=Channel.EFFECT,
    ),
    attack(
        "array type in a cast",
        f"select ('{{' || ward || '}}')::text[] from patients where {V}",
        secret=Secret.WARD,
    ),
    attack(
        "collation", f'select ward collate "C" from patients where {V}', secret=Secret.WARD, expect=REFUSED
    ),
)
