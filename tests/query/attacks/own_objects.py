"""Functions, operators, types, casts and tables of the analyst's own."""

from tests.query.attacks.shared_parts import beforehand, in_session
from tests.query.cases import (
    EXPLAINED,
    REFUSED,
    Attack,
    Channel,
    Secret,
    V,
    attack,
    backed,
    harmless,
    of_kind,
)
from tests.query.hospital import ADA

_AS_BEFORE = harmless("names are bound before, and what runs names schemas and operators itself")

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "user-defined objects",
    *(
        attack(
            name,
            beforehand("create schema if not exists query_evil"),
            beforehand(f"grant all on schema query_evil to {ADA}"),
            in_session(made),
            asked,
            secret=Secret.SERVER,
            expect=expect,
            channel=Channel.EFFECT,
        )
        for name, made, asked, expect in (
            (
                "own function by its schema",
                "create function query_evil.spy(numeric) returns numeric language plpgsql as"
                " 'begin raise notice ''%'', $1; return $1; end'",
                "select sum(query_evil.spy(cost)) from patients",
                EXPLAINED,
            ),
            (
                "own function that is cheap runs before the filter",
                "create function query_evil.leak(text) returns boolean language plpgsql cost 0.0000001 as"
                " 'begin raise notice ''%'', $1; return true; end'",
                "select count(*) from patients where ward = 'oncology' and query_evil.leak(name)",
                EXPLAINED,
            ),
            (
                "own function named like an allowed one, in the search path",
                "create function query_evil.date_trunc(text, date) returns date language sql as 'select $2'",
                "select date_trunc('month', admission_date), count(*) from patients group by 1",
                _AS_BEFORE,
            ),
            (
                "own function with arguments that fit better",
                "create function query_evil.left(text, bigint) returns text language sql as 'select $1'",
                "select left(zip, 3::bigint), count(*) from patients group by 1",
                REFUSED,
            ),
            (
                "own operator",
                "create operator query_evil.= (function = texteq, leftarg = text, rightarg = text)",
                "select count(*) from patients where ward operator(query_evil.=) 'oncology'",
                EXPLAINED,
            ),
            (
                "own aggregate",
                "create aggregate query_evil.sum(numeric) (sfunc = numeric_larger, stype = numeric)",
                "select query_evil.sum(cost) from patients",
                EXPLAINED,
            ),
            (
                "own domain with a check that spies",
                "create domain query_evil.d as text check (query_evil.leak(value))",
                "select count(*) from patients where ward::query_evil.d = 'oncology'",
                EXPLAINED,
            ),
            (
                "own enumeration whose errors show values",
                "create type query_evil.e as enum ('oncology')",
                f"select count(*) from patients where {V} and ward::text::query_evil.e = 'oncology'",
                EXPLAINED,
            ),
            (
                "own type named like a built-in one",
                "create type query_evil.text as (a integer)",
                "select count(*) from patients where ward::text = 'oncology'",
                backed("the number of many people; the type is pg_catalog's"),
            ),
            (
                "own cast",
                "create cast (query_evil.e as integer) with inout as implicit",
                "select sum('oncology'::query_evil.e) from patients",
                EXPLAINED,
            ),
            (
                "own collation that calls everything equal",
                "create collation query_evil.c (provider = icu, locale = 'und-u-ks-level1',"
                " deterministic = false)",
                "select ward collate query_evil.c, count(*) from patients group by 1",
                EXPLAINED,
            ),
            (
                "own view over a public table with a function",
                "create view query_evil.w as select ward, query_evil.leak(ward) as l from hospital.wards",
                "select count(*) from patients p join query_evil.w on w.ward = p.ward and w.l",
                REFUSED,
            ),
            (
                "own table whose statistics or policies call functions",
                "create table query_evil.t as select ward from hospital.wards",
                "select p.sex, count(*) from patients p join query_evil.t on t.ward = p.ward group by p.sex",
                harmless("joined as a public table: the analyst may read it and so may everybody asked for"),
            ),
            (
                "own table with one row joins as a filter",
                "create table query_evil.one as select date '1957-05-09' as born",
                "select p.ward, count(*) from patients p join query_evil.one o on o.born ="
                " p.birth_date group by 1",
                REFUSED,
            ),
            (
                "own table that changes between check and run",
                "create table query_evil.v as select 1 as x",
                "select p.ward, count(*) from patients p join query_evil.v on v.x = 1 group by p.ward",
                REFUSED,
            ),
            (
                "own text search configuration",
                "create text search configuration query_evil.c (copy = simple)",
                "select count(*) from patients where to_tsvector('query_evil.c', ward) @@ 'oncology'",
                EXPLAINED,
            ),
            (
                "default rights for what others create",
                "alter default privileges in schema query_evil grant select on tables to public",
                "select * from query_evil.anything",
                EXPLAINED,
            ),
        )
    ),
)
# fmt: on
