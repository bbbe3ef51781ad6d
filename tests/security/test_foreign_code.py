"""Nobody's code runs with rights that are not theirs, whichever way a relation brings it along.

The attacker owns a schema and what is in it. Each vehicle makes a relation `trap.bait` whose code runs `trap.spy()`
somewhere. Then a superuser declares it, publishes it, audits it, and so on. The spy tries what an attacker would, and
leaves what it got in locks that belong to the session and that no rollback removes. What may be reached is computed
from the catalog before and after.
"""

import threading
from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from itertools import count
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from kanon_pg import client
from kanon_pg.errors import KanonError
from tests.fixtures.interfaces import ClientInterface, Interface

Connection = psycopg.Connection[Any]

_numbers = count(1)

RAN = 1
"""What the spy says if it ran at all; everything else that it says is a right that is not the attacker's."""

GAINS = {
    10: "read the victim's table",
    11: "acts as a role of kanon with more than one relation, as the caller, or as a superuser",
    12: "may have the victim's reader run a statement",
    13: "saw the victim's row types",
    14: "took another role",
    15: "could write with the rights of another",
    16: "may read kanon's own tables",
    17: "read what is stored of the victim's release",
}

SPY = """
create function trap.gained(code integer) returns void language sql as 'select pg_advisory_lock_shared(7777, code)';
create function trap.spy() returns integer language plpgsql as $$
declare
    one text;
    me text := current_user;
begin
    if current_setting('trap.asked', true) = me then return 0; end if;
    perform set_config('trap.asked', me, true), trap.gained(1);
    if me = '{attacker}' then return 0; end if;
    if me !~ '^kanon_base_[0-9]+$' then perform trap.gained(11); end if;
    for one in
        select p.oid::regprocedure from pg_proc as p
        where p.pronamespace = 'kanon'::regnamespace
            and p.proname in ('read_rows_{victims}', 'read_{victims}', 'define_{victims}')
            and has_function_privilege(p.oid, 'execute')
    loop
        if me <> 'kanon_base_{victims}' then perform trap.gained(12); end if;
    end loop;
    begin
        perform from vic.salaries; perform trap.gained(10);
    exception when others then null; end;
    for one in select p.oid::regproc from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
        where n.nspname in ('kanon_bases', 'kanon_shown') and p.proname like 'vic\\_%'
    loop
        begin
            execute format('select 1 from %s(%L)', one, '{victim}') into one;
            if one is not null then perform trap.gained(13); end if;
        exception when others then null; end;
    end loop;
    begin
        perform from kanon.vic_salaries_row_types;
        if found then perform trap.gained(13); end if;
    exception when others then null; end;
    begin
        perform from kanon.release; perform trap.gained(16);
    exception when others then null; end;
    begin
        perform from kanon_bases.victims_v1; perform trap.gained(17);
    exception when others then null; end;
    foreach one in array array['kanon_owner', 'kanon_reader', session_user, 'postgres', 'kanon_base_{victims}'] loop
        begin
            perform set_config('role', one, true);
            if current_user <> me then perform trap.gained(14); end if;
        exception when others then null; end;
    end loop;
    foreach one in array array['off', null] loop
        begin
            perform set_config('transaction_read_only', one, true);
        exception when others then null; end;
    end loop;
    begin
        insert into trap.loot values (me); perform trap.gained(15);
    exception when others then null; end;
    return 0;
end $$;
create function trap.hidden(i integer) returns integer language plpgsql immutable as
    'begin perform trap.spy(); return i; end';
create function trap.holds(i integer) returns boolean language plpgsql immutable as
    'begin perform trap.spy(); return true; end';
create function trap.holds(t text) returns boolean language plpgsql immutable as
    'begin perform trap.spy(); return true; end';
create function trap.run(statement text) returns integer language plpgsql as $$ begin
    perform trap.spy(); execute statement; return 0;
exception when others then perform trap.spy(); return 0; end $$;
"""

DATA = """
create table trap.data (id integer primary key, a integer, b integer, c text);
insert into trap.data select i, i % 3, i % 4, 'v' || i % 5 from generate_series(1, 60) as i
"""


def view(expression: str, before: str = "", more: str = "") -> str:
    """Return a view with an expression in a column that is published."""
    return f"{before}; create view trap.bait as select id, a, b, {expression} as c from trap.data {more}"


def run(statement: str) -> str:
    """Return a view that executes a text."""
    return view(f"'v' || trap.run($x${statement}$x$) + b")


def table(after: str, before: str = "", columns: str = "") -> str:
    """Return a table with something on it."""
    return (
        f"{before}; create table trap.bait (id integer primary key, a integer, b integer, c text{columns});"
        f" insert into trap.bait (id, a, b, c) select id, a, b, c from trap.data; {after}"
    )


def typed(before: str, kind: str, value: str) -> str:
    """Return a table with a column of a type of its own."""
    return (
        f"{before}; create table trap.bait (id integer primary key, a integer, b {kind}, c {kind});"
        f" insert into trap.bait select id, a, {value}, {value} from trap.data"
    )


DOMAIN = "create domain trap.small as integer; alter domain trap.small add check (trap.holds(value))"
ENUM = "create type trap.mood as enum ('v0', 'v1')"
PAIR = "create type trap.pair as (x integer, y integer)"
TO_TEXT = "create function trap.text(v {0}) returns text language plpgsql immutable as 'begin perform trap.spy(); return format(''%s'', v); end'"
DIFF = "create function trap.diff(x float8, y float8) returns float8 language plpgsql immutable as 'begin perform trap.spy(); return x - y; end'"


def cast(kind: str, how: str) -> str:
    return f"{TO_TEXT.format(kind)}; create cast ({kind} as text) with function trap.text({kind}) {how}"


# ruff: noqa: E501 - an attack to a line
VEHICLES = {
    # functions in views
    "volatile function": view("'v' || trap.spy() + b"),
    "immutable function": view("'v' || trap.hidden(b)"),
    "constant that is folded": view("'v' || b + trap.hidden(0)"),
    "function in SQL": view("trap.outer(b)", "create function trap.outer(i integer) returns text immutable language sql as $$ select 'v' || trap.hidden(i) $$"),
    "definer function": view("'v' || trap.own(b)", "create function trap.own(i integer) returns integer security definer language sql as 'select trap.hidden(i)'"),
    "operator": view("'v' || (b OPERATOR(trap.+) 0)", "create function trap.plus(i integer, j integer) returns integer immutable language sql as 'select trap.hidden(i)'; create operator trap.+ (function = trap.plus, leftarg = integer, rightarg = integer)"),
    "aggregate": view("'v' || (select trap.total(d.b) from trap.data as d where d.id = data.id)", "create function trap.add(i integer, j integer) returns integer immutable language sql as 'select trap.hidden(j)'; create aggregate trap.total (integer) (sfunc = trap.add, stype = integer)"),
    "condition": view("c", more="where trap.holds(id)"),
    "condition that is folded": view("c", more="where trap.holds(1)"),
    "function that returns rows": view("s.c", "create function trap.rows(i integer) returns table (c text) language plpgsql as $$ begin perform trap.spy(); return query select 'v' || i; end $$", ", lateral trap.rows(b) as s (c)"),
    "common table expression": view("(with w as materialized (select trap.spy() as s) select 'v' || w.s from w)"),
    "selectivity of an operator": view("c", "create function trap.same(i integer, j integer) returns boolean immutable language sql as 'select trap.holds(i)'; create operator trap.= (function = trap.same, leftarg = integer, rightarg = integer, restrict = eqsel)", "where a OPERATOR(trap.=) trap.hidden(1)"),
    "view of a view": view("inside.c", "create view trap.inner as select id as i, 'v' || trap.hidden(b) as c from trap.data", "join trap.inner as inside on inside.i = id").replace("inside.c as c", "inside.c as c"),
    "security barrier": view("'v' || trap.hidden(b)").replace("trap.bait as", "trap.bait with (security_barrier) as"),
    "security invoker": view("'v' || trap.hidden(b)").replace("trap.bait as", "trap.bait with (security_invoker) as"),
    # what built-in functions execute
    "ts_stat": view("(select 'v' || count(*) from ts_stat('select to_tsvector(''simple'', trap.spy()::text)'))"),
    "ts_stat of the victim's": view("trap.stat('select to_tsvector(''simple'', trap.took(name)) from vic.salaries')", "create function trap.took(t text) returns text language sql as $$ select trap.gained(10); select t $$"),
    "ts_rewrite": view("'v' || ts_rewrite('a'::tsquery, 'select ''a''::tsquery, (trap.spy() || '''')::tsquery')::text"),
    "query_to_xml": view("'v' || length(query_to_xml('select trap.spy()', false, false, '')::text)"),
    "query_to_xml of the victim's": view("'v' || trap.run('select trap.gained(10) from vic.salaries') || length(query_to_xml('select trap.spy()', true, true, '')::text)"),
    "table_to_xml": view("'v' || length(table_to_xml('trap.evil', false, false, '')::text)", "create view trap.evil as select trap.spy(); grant select on trap.evil to public"),
    "schema_to_xml": view("'v' || length(schema_to_xml('trap2', false, false, '')::text)", "create schema trap2; grant usage on schema trap2 to public; create view trap2.evil as select trap.spy() as s; grant select on trap2.evil to public"),
    "xpath": view("'v' || array_length(xpath('//a', ('<a>' || trap.spy() || '</a>')::xml), 1)"),
    # what changes the session
    "search path": run("set search_path = trap, pg_catalog"),
    "search path by set_config": view("'v' || b || left(set_config('search_path', 'trap, pg_catalog', false), 0) || trap.spy()"),
    "role": run("set role kanon_owner"),
    "reset role": run("reset role"),
    "session authorization": run("reset session authorization"),
    "session authorization by set_config": view("'v' || trap.run('select set_config(''session_authorization'', ''postgres'', false)')"),
    "writing again": run("set transaction_read_only = off"),
    "default of later transactions": run("set default_transaction_read_only = on; set default_transaction_isolation = serializable"),
    "time limit": run("set statement_timeout = 1"),
    "meaning of texts": run("set standard_conforming_strings = off; set transform_null_equals = on"),
    "reset of everything": run("reset all"),
    "lasting cursor": run("declare kept cursor with hold for select trap.spy() from generate_series(1, 3)"),
    "prepared statement": run("prepare evil as select trap.spy()"),
    "prepared statement of the session": run("deallocate mine; prepare mine as select trap.spy()"),
    "notification": run("listen trap; notify trap; unlisten *"),
    "temporary table": run("create temp table pg_class as select trap.spy()"),
    "temporary function": run("create function pg_temp.lower(text) returns text language sql as 'select trap.spy()::text'"),
    "deferred trigger of a temporary table": run("create temp table late (i integer); create constraint trigger late after insert on late deferrable initially deferred for each row execute function trap.fire(); insert into late values (1)"),
    "large object": run("select lo_from_bytea(0, 'x')"),
    "program": run("copy (select 1) to program 'true'"),
    "anonymous block": run("do 'begin perform trap.spy(); end'"),
    "transaction control": run("commit"),
    # what kanon's roles own
    "function of the reader": run("do $$ begin execute format('alter function kanon.read_rows_%s(text, text[]) reset all', substring(current_user, '[0-9]+$')); end $$"),
    "right on a function of the reader": run("do $$ begin execute format('grant execute on function kanon.read_rows_%s(text, text[]) to public', substring(current_user, '[0-9]+$')); end $$"),
    "view of the reader": run("do $$ declare v regclass; begin for v in select oid from pg_class where relowner = current_user::regrole loop execute format('grant select on %s to public', v); end loop; end $$"),
    "membership of the reader": run("do $$ begin execute format('grant %I to public', current_user); end $$"),
    "reading as the victim's reader": run("select t from kanon.read_rows_{victims}('select trap.gained(10) from vic.salaries', '{}') as t (x text)"),
    "defining as a reader": run("do $$ begin for i in 1..16 loop execute format('select kanon.define_%s(''x'', ''y'', ''select trap.spy()'', 1, true)', i); end loop; end $$"),
    "pending statement": run("select kanon.read_{victims}()"),
    "claim of a reader": run("select kanon.claim_reader('trap.data', false)"),
    "inner functions": run("select kanon.boot(); select kanon.forget_statements('{}')"),
    "publishing inside": run("select kanon_anonymize('vic.salaries', 2, quasi_identifiers => '{a}', sensitive => '{name}', release => 'stolen')"),
    "asking for row types": run("select trap.gained(13) from kanon_bases.vic_salaries_row_types('{victim}')"),
    # what ends early
    "the state that ends a reading": view("'v' || b || trap.stop(id)", "create function trap.stop(i integer) returns text language plpgsql as $$ begin perform trap.spy(); if i = 30 then raise sqlstate 'KA000'; end if; return ''; end $$"),
    "failed assertion": view("'v' || b || trap.stop(id)", "create function trap.stop(i integer) returns text language plpgsql as $$ begin perform trap.spy(); assert i < 30; return ''; end $$"),
    "cancelled from inside": view("'v' || b || trap.stop(id)", "create function trap.stop(i integer) returns text language plpgsql as $$ begin perform trap.spy(); if i = 30 then perform pg_cancel_backend(pg_backend_pid()); end if; return ''; end $$"),
    "state of a cancellation": view("'v' || b || trap.stop(id)", "create function trap.stop(i integer) returns text language plpgsql as $$ begin perform trap.spy(); if i = 30 then raise query_canceled; end if; return ''; end $$"),
    # what belongs to tables
    "index expression": table("create index on trap.bait (trap.hidden(a))"),
    "index expression that is folded": table("create index on trap.bait ((a + trap.hidden(1)))"),
    "condition of an index": table("create index on trap.bait (a) where trap.holds(1)"),
    "unique index": table("create unique index on trap.bait (trap.hidden(id))"),
    "exclusion": table("alter table trap.bait add exclude ((trap.hidden(id)) with =)"),
    "statistics": table("create statistics trap.more on trap.hidden(a), b from trap.bait; analyze trap.bait"),
    "check constraint": table("alter table trap.bait add check (trap.holds(a)); alter table trap.bait add check (a > trap.hidden(-1))"),
    "constraint not valid": table("alter table trap.bait add check (a > trap.hidden(-1)) not valid"),
    "generated column": table("", columns=", d integer generated always as (trap.hidden(a)) stored"),
    "default": table("alter table trap.bait alter b set default trap.spy(); alter table trap.bait add e integer default trap.hidden(1)"),
    "rule": table("create rule also as on update to trap.bait do also select trap.spy()"),
    "trigger": table("create trigger fires after insert or update or delete on trap.bait execute function trap.fire()"),
    "row security": table("alter table trap.bait enable row level security; create policy p on trap.bait using (trap.holds(a))"),
    "row security below a view": view("c", "alter table trap.data enable row level security; alter table trap.data force row level security; create policy p on trap.data using (trap.holds(a))"),
    "partition key": "create table trap.bait (id integer, a integer, b integer, c text) partition by list (trap.hidden(a)); create table trap.part partition of trap.bait default; insert into trap.bait select * from trap.data",
    "partition with an index": "create table trap.bait (id integer, a integer, b integer, c text) partition by list (a); create table trap.part partition of trap.bait default; create index on trap.part (trap.hidden(a)); alter table trap.part add check (trap.holds(a)); insert into trap.bait select * from trap.data",
    "inheriting table": table("create table trap.child () inherits (trap.bait); create index on trap.child (trap.hidden(a)); alter table trap.child add check (b > trap.hidden(-1))"),
    "materialized view": "create materialized view trap.bait as select id, a, b, 'v' || trap.hidden(b) as c from trap.data",
    "index of a materialized view": "create materialized view trap.bait as select * from trap.data; create index on trap.bait (trap.hidden(a))",
    # what belongs to types
    "domain": typed(DOMAIN, "trap.small", "b"),
    "changed domain": typed("create domain trap.small as integer", "trap.small", "b") + "; alter domain trap.small add check (trap.holds(value)) not valid",
    "cast to a domain": view("'v' || (b::trap.small)::integer", DOMAIN),
    "array of a domain": typed(DOMAIN, "trap.small[]", "array[b]::trap.small[]"),
    "composite with a domain": typed(f"{DOMAIN}; create type trap.pair as (x trap.small, y integer)", "trap.pair", "row(b, b)::trap.pair"),
    "range of a domain": typed(f"{DOMAIN}; create type trap.span as range (subtype = trap.small)", "trap.span", "trap.span(b::trap.small, (b + 1)::trap.small)"),
    "difference of a range": typed(f"{DIFF}; create type trap.span as range (subtype = float8, subtype_diff = trap.diff)", "trap.span", "trap.span(b, b + 1)"),
    "difference of a multirange": typed(f"{DIFF}; create type trap.span as range (subtype = float8, subtype_diff = trap.diff, multirange_type_name = trap.spans)", "trap.spans", "trap.spans(trap.span(b, b + 1))"),
    "domain of a range": typed(f"{DIFF}; create type trap.span as range (subtype = float8, subtype_diff = trap.diff); create domain trap.some as trap.span", "trap.some", "trap.span(b, b + 1)"),
    "cast of an enum": typed(f"{ENUM}; {cast('trap.mood', '')}", "trap.mood", "('v' || b % 2)::trap.mood"),
    "implicit cast of an enum": typed(f"{ENUM}; {cast('trap.mood', 'as implicit')}", "trap.mood", "('v' || b % 2)::trap.mood"),
    "assignment cast of a composite": typed(f"{PAIR}; {cast('trap.pair', 'as assignment')}", "trap.pair", "row(b, b)::trap.pair"),
    "implicit cast of a composite": typed(f"{PAIR}; {cast('trap.pair', 'as implicit')}", "trap.pair", "row(b, b)::trap.pair"),
    "implicit cast of a range": typed(f"create type trap.span as range (subtype = integer); {cast('trap.span', 'as implicit')}", "trap.span", "trap.span(b, b + 1)"),
    "equality of a type": typed(f"{ENUM}; create function trap.same(x trap.mood, y trap.mood) returns boolean language plpgsql immutable as 'begin perform trap.spy(); return x::text = y::text; end'; create operator trap.= (function = trap.same, leftarg = trap.mood, rightarg = trap.mood)", "trap.mood", "('v' || b % 2)::trap.mood"),
}  # fmt: skip

Call = Callable[[Connection], Any]

ROLES = "quasi_identifiers => '{a,b}', sensitive => '{c}'"
OPTIONS: dict[str, Any] = {"quasi_identifiers": ["a", "b"], "sensitive": ["c"], "time_limit": 1.0}

RACES = {
    "index": "create index raced on trap.bait ((a + trap.hidden(1))); drop index trap.raced",
    "domain": "alter domain trap.small add constraint raced check (trap.holds(value)) not valid;"
    " alter domain trap.small drop constraint raced",
    "view": "create or replace view trap.seen as select id, a, b::integer as b, 'v' || trap.spy() as c from trap.data;"
    " create or replace view trap.seen as select id, a, b, c from trap.data",
}
"""What another session does again and again meanwhile."""

OPERATIONS: dict[str, tuple[str, Call | None]] = {
    "declare": ("select kanon_declare('trap.bait', quasi_identifiers => '{a,b}', sensitive => '{c}')", lambda c: client.declare(c, "trap.bait", quasi_identifiers=["a", "b"], sensitive=["c"])),
    "suggest": ("select kanon_suggest('trap.bait', time_limit => '1 s')", lambda c: client.suggest(c, "trap.bait", time_limit=1.0)),
    "publish": (f"select kanon_anonymize('trap.bait', 3, {ROLES}, time_limit => '1 s', release => 'plain')", lambda c: client.anonymize(c, "trap.bait", 3, **OPTIONS, release="plain")),
    "refresh": ("select kanon_refresh('plain')", lambda c: client.refresh(c, "plain")),
    "plain refresh": ("do $$ begin execute format('refresh materialized view %s', (select storage from kanon.release where name = 'plain')); end $$", None),
    "plain analysis": ("do $$ begin execute format('analyze %s', (select storage from kanon.release where name = 'plain')); end $$", None),
    "plain refresh by the owner": ("set role kanon_owner; do $$ begin execute format('refresh materialized view %s', (select storage from kanon.release where name = 'plain')); end $$; reset role", None),
    "row types": ("select count(*) from kanon.trap_bait_row_types", None),
    "violations": ("select * from kanon.violations", None),
    "certificate": ("select kanon_certificate('plain', time_limit => '1 s')", lambda c: client.certificate(c, "plain", time_limit=1.0)),
    "report": ("select kanon_release_report('plain')", lambda c: client.release_report(c, "plain")),
    "publish under models": (f"select kanon_anonymize('trap.bait', 3, {ROLES}, l => 2, t => 0.9, time_limit => '1 s', release => 'models')", lambda c: client.anonymize(c, "trap.bait", 3, **OPTIONS, l=2, t=0.9, release="models")),
    "publish over time": (f"select kanon_anonymize('trap.bait', 3, {ROLES}, time_limit => '1 s', release => 'series', options => '{{\"over_time\": {{}}}}')", lambda c: client.anonymize(c, "trap.bait", 3, **OPTIONS, over_time={}, release="series")),
    "refresh over time": ("select kanon_refresh('series')", lambda c: client.refresh(c, "series")),
    "erase": ("select kanon_erase('series', '{1}')", lambda c: client.erase(c, "series", "1")),
    "publish and remember": (f"select kanon_anonymize('trap.bait', 3, {ROLES}, time_limit => '1 s', release => 'people', options => '{{\"remember\": 2}}')", lambda c: client.anonymize(c, "trap.bait", 3, **OPTIONS, remember=2, release="people")),
    "declare people": ("select kanon_declare('trap.bait', quasi_identifiers => '{a}', entity => 'b')", lambda c: client.declare(c, "trap.bait", quasi_identifiers=["a"], entity="b")),
    "refresh people": ("select kanon_refresh('people')", lambda c: client.refresh(c, "people")),
    "publish people of a type": ("select kanon_anonymize('trap.bait', 3, quasi_identifiers => '{a}', time_limit => '1 s', release => 'kinds', options => '{\"remember\": 2}')", lambda c: client.anonymize(c, "trap.bait", 3, quasi_identifiers=["a"], time_limit=1.0, remember=2, release="kinds")),
    "erase a kind": ("select kanon_erase('kinds', '{1}')", lambda c: client.erase(c, "kinds", "1")),
    "composition": ("select kanon_composition('{people,kinds}')", lambda c: client.composition(c, ["people", "kinds"])),
    "build a hierarchy": ("select kanon_hierarchy_build('built', 'trap.bait', 'a', '{\"builder\": \"intervals\", \"width\": 2}')", None),
    "missing values": ("select kanon_hierarchy_missing('built', 'trap.bait', 'a')", lambda c: client.missing_values(c, "built", "trap.bait", "a")),
    "missing values of a type": ("select kanon_hierarchy_missing('built', 'trap.bait', 'b')", lambda c: client.missing_values(c, "built", "trap.bait", "b")),
    "load a hierarchy": ("select kanon_hierarchy_load('loaded', 'trap.bait')", lambda c: client.load_hierarchy(c, "loaded", "trap.bait")),
    "publish with a hierarchy": ("select kanon_anonymize('trap.bait', 3, quasi_identifiers => '{a}', hierarchies => '{\"a\": \"built\"}', time_limit => '1 s', release => 'levels')", None),
    "report of levels": ("select kanon_release_report('levels')", lambda c: client.release_report(c, "levels")),
    "audit": ("select kanon_audit('trap.bait', 3, time_limit => '1 s')", lambda c: client.audit(c, "trap.bait", 3, time_limit=1.0)),
    "audit of the release": ("select kanon_audit('safe.plain', 3, time_limit => '1 s')", None),
    "identify": ("select kanon_identify('trap.bait', time_limit => '1 s')", lambda c: client.identify(c, "trap.bait", time_limit=1.0)),
    "measure": (f"select kanon_measure('trap.bait', {ROLES})", lambda c: client.measure(c, "trap.bait", quasi_identifiers=["a", "b"], sensitive=["c"])),
    "risk": ("select kanon_risk('trap.bait', columns => '{a,b}', sensitive => '{c}')", lambda c: client.risk(c, "trap.bait", columns=["a", "b"], sensitive=["c"])),
    "curve": ("select kanon_curve('trap.bait', ks => '{2,3}', quasi_identifiers => '{a,b}', time_limit => '1 s')", lambda c: client.curve(c, "trap.bait", ks=[2, 3], quasi_identifiers=["a", "b"], time_limit=1.0)),
    "is anonymous": ("select kanon_is_anonymous('trap.bait', 3, columns => '{a,b}')", lambda c: client.is_anonymous(c, "trap.bait", 3, columns=["a", "b"])),
    "groups": ("select kanon_groups('trap.bait', 'a', 3)", lambda c: client.groups(c, "trap.bait", "a", 3)),
    "intervals": ("select kanon_intervals('trap.bait', 'a', 3)", lambda c: client.intervals(c, "trap.bait", "a", 3)),
    "regions": ("select kanon_regions('trap.data', 'a', adjacency => 'trap.bait', k => 3, neighbours => '{a,b}')", lambda c: client.regions(c, "trap.data", "a", adjacency="trap.bait", k=3, neighbours=["a", "b"])),
    "rectangles": ("select kanon_rectangles('trap.bait', 'a', 'b', 3)", lambda c: client.rectangles(c, "trap.bait", "a", "b", 3)),
    "protect": ("select kanon_protect('trap.bait', 2)", None),
    "query": ("select kanon_query('select a, count(*) from trap.bait group by a')", None),
    "drop": ("select kanon_drop(name::name) from kanon.release where name <> 'victims' order by name", None),
}  # fmt: skip


class Battle:
    """An attacker, a victim, and the connections of both and of the superuser."""

    def __init__(self, interface: Interface) -> None:
        number = next(_numbers)
        self.attacker, self.victim = f"mallory_{number}", f"alice_{number}"
        self.interface = interface
        self.dba = interface.connection
        self.victims: int | None = None

    def connect(self, login: str) -> Connection:
        return psycopg.connect(make_conninfo(self.interface.dsn, user=login), autocommit=True)

    def text(self, text: str) -> bytes:
        for name in ("attacker", "victim", "victims"):
            text = text.replace(f"{{{name}}}", str(getattr(self, name)))
        return text.encode()

    def prepare(self) -> None:
        """Create both schemas, and publish and declare the victim's table."""
        self.dba.execute(
            f"""
            create role {self.attacker} login in role kanon_curator;
            create role {self.victim} login in role kanon_curator;
            create schema trap authorization {self.attacker};
            create schema vic authorization {self.victim};
            grant create on database "{self.dba.info.dbname}" to {self.attacker};
            create table vic.salaries as
                select i as id, 'Name ' || i as name, i % 4 as a from generate_series(1, 50) as i;
            alter table vic.salaries owner to {self.victim}
            """.encode()
        )
        with self.connect(self.victim) as own:
            own.execute("grant usage on schema vic to public")
            own.execute("select kanon_declare('vic.salaries', quasi_identifiers => '{a}')")
            own.execute("select kanon_anonymize('vic.salaries', 5, release => 'victims')")
        row = self.dba.execute("select reader from kanon.base where relation = 'vic.salaries'::regclass")
        found = row.fetchone()
        self.victims = found and found[0]
        with self.connect(self.attacker) as own:
            own.execute("create table trap.loot (who text)")
            own.execute(self.text(SPY))
            own.execute(DATA.encode())
            own.execute(
                "create function trap.fire() returns trigger language plpgsql as"
                " 'begin perform trap.spy(); return null; end'"
            )
            own.execute(
                "create function trap.stat(q text) returns text language plpgsql as $$ begin perform trap.spy();"
                " return 'v' || (select count(*) from ts_stat(q)); exception when others then return 'v'; end $$"
            )
            own.execute(
                "grant usage on schema trap to public; grant insert on trap.loot to public;"
                " grant select on all tables in schema trap to public"
            )

    def gains(self) -> set[int]:
        """Return what the spy got in the superuser's session, and forget it."""
        found = self.dba.execute(
            "select distinct l.objid::integer from pg_locks as l"
            " where l.locktype = 'advisory' and l.classid = 7777 and l.pid = pg_backend_pid()"
        ).fetchall()
        self.dba.execute("select pg_advisory_unlock_all()")
        return {code for (code,) in found}

    def clear(self) -> None:
        with psycopg.connect(self.interface.dsn, autocommit=True) as connection:
            for name in (self.attacker, self.victim):
                connection.execute(f"drop owned by {name} cascade; drop role {name}".encode())


@pytest.fixture
def battle(interface: Interface) -> Iterator[Battle]:
    found = Battle(interface)
    found.prepare()
    yield found
    found.clear()


REACH = """
select 'member', a.rolname, b.rolname, m.admin_option::text
from pg_auth_members as m join pg_roles as a on a.oid = m.roleid join pg_roles as b on b.oid = m.member
union all
select 'role', r.rolname, r.rolsuper::text, (r.rolcreaterole, r.rolcanlogin, r.rolbypassrls, r.rolconfig)::text
from pg_roles as r
union all
select 'function', p.oid::regprocedure::text, p.proowner::regrole::text,
    (p.proacl, p.prosecdef, p.proconfig, md5(p.prosrc), p.provolatile)::text
from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
where n.nspname not in ('trap', 'trap2', 'kanon_bases', 'kanon_shown')
union all
select 'victim', c.relname, c.relowner::regrole::text, c.relacl::text
from pg_class as c where c.relnamespace = 'vic'::regnamespace
union all
select 'release', c.oid::regclass::text, c.relowner::regrole::text, c.relacl::text
from pg_class as c where c.relname like 'victims%' or c.relname like 'vic\\_salaries%'
union all
select 'schema', n.nspname, n.nspowner::regrole::text, n.nspacl::text
from pg_namespace as n where n.nspname ~ '^(kanon|safe|vic|public|pg_catalog)'
union all
select 'default', d.defaclrole::regrole::text, d.defaclobjtype::text, d.defaclacl::text from pg_default_acl as d
union all
select 'large object', l.oid::text, l.lomowner::regrole::text, l.lomacl::text from pg_largeobject_metadata as l
"""


def reach(connection: Connection) -> Set[tuple[Any, ...]]:
    """Return what decides who may become whom and read what of the victim's, from the catalog."""
    return set(connection.execute(REACH.encode()).fetchall())


def granted(before: Set[tuple[Any, ...]], after: Set[tuple[Any, ...]]) -> Set[tuple[Any, ...]]:
    """Return what is new; the schemas that readers may use are not."""
    return {row for row in after - before if row[:2] != ("schema", "kanon_bases")}


def session(connection: Connection) -> tuple[Any, ...]:
    """Return what a session has: settings, cursors, channels, who it is."""
    return tuple(
        sorted(connection.execute(query.encode()).fetchall())
        for query in (
            "select name, setting from pg_settings",
            "select name from pg_cursors where name <> ''",
            "select pg_listening_channels()",
            "select current_user::text || session_user::text || current_setting('search_path')",
            "select relname::text from pg_class where relpersistence = 't'",
        )
    )


def prepared(connection: Connection) -> set[tuple[Any, ...]]:
    return set(
        connection.execute(
            "select name, statement, prepare_time from pg_prepared_statements where from_sql"
        ).fetchall()
    )


def perform(battle: Battle, name: str) -> str | None:
    """Run an operation through the interface and return how it failed, None if it did not."""
    text, call = OPERATIONS[name]
    try:
        if call is not None and isinstance(battle.interface, ClientInterface):
            call(battle.dba)
        else:
            battle.dba.execute(text.encode())
    except (psycopg.Error, KanonError) as error:
        return f"{getattr(error, 'sqlstate', None)} {error}"
    finally:
        if battle.dba.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            battle.dba.rollback()
    return None


QUICK = (
    "declare", "publish", "refresh", "plain refresh", "plain analysis", "row types", "publish over time",
    "refresh over time", "erase", "measure", "audit", "protect", "query",
)  # fmt: skip
"""Operations that every vehicle meets."""

THOROUGH = {
    "volatile function", "ts_stat", "prepared statement of the session", "search path by set_config",
    "index expression that is folded", "domain", "composite with a domain", "difference of a range",
    "implicit cast of an enum", "implicit cast of a composite", "the state that ends a reading",
}  # fmt: skip
"""Vehicles that meet all operations: one of each kind."""

NEVER_RUN = {
    "default", "rule", "trigger", "generated column", "constraint not valid", "equality of a type", "security invoker",
    "partition key", "statistics", "exclusion", "row security", "cast of an enum", "implicit cast of an enum",
    "assignment cast of a composite", "implicit cast of a composite", "implicit cast of a range", "domain",
    "changed domain", "array of a domain", "composite with a domain", "range of a domain", "difference of a range",
    "difference of a multirange", "domain of a range", "definer function", "index expression", "check constraint",
    "unique index", "index of a materialized view", "inheriting table", "partition with an index", "materialized view",
}  # fmt: skip
"""Vehicles whose code reading need not run; of all others it must, or they are no attacks."""


THROUGH_BOTH = [
    vehicle
    if vehicle in THOROUGH or number % 4 == 0
    else pytest.param(vehicle, marks=pytest.mark.only_through("server"))
    for number, vehicle in enumerate(VEHICLES)
]
"""The client's interface reads by the same kind of function: some vehicles show that."""


@pytest.mark.parametrize("vehicle", THROUGH_BOTH)
def test_code_of_a_relation_has_no_rights_that_are_not_its_owners(battle: Battle, vehicle: str) -> None:
    with battle.connect(battle.attacker) as own:
        own.execute(battle.text(VEHICLES[vehicle]))
    battle.dba.execute("load 'plpgsql'; prepare mine as select 1")
    before, settings, statements = reach(battle.dba), session(battle.dba), prepared(battle.dba)
    ran = False
    faults = list[str]()
    for name in OPERATIONS if vehicle in THOROUGH else QUICK:
        failure = perform(battle, name)
        gains = battle.gains()
        ran = ran or RAN in gains
        faults += [f"{name}: {GAINS[code]}" for code in sorted(gains - {RAN})]
        if new := granted(before, reach(battle.dba)):
            faults.append(f"{name}: {new}")
        if (now := session(battle.dba)) != settings:
            changed = [set(new) ^ set(old) for new, old in zip(now, settings, strict=True)]
            faults.append(f"{name}: the session has changed: {changed}; {failure}")
        if prepared(battle.dba) - statements:
            faults.append(f"{name}: a prepared statement is left")
        assert battle.dba.execute("select count(*) from trap.loot").fetchone() == (0,), name
    assert not faults, "\n".join(faults)
    assert ran or vehicle in NEVER_RUN, "The vehicle has run no code: it attacks nothing."
    with suppress(psycopg.Error):
        battle.dba.execute("deallocate mine")


@pytest.mark.parametrize("race", RACES)
def test_code_that_comes_while_a_release_is_made_has_no_more_rights(battle: Battle, race: str) -> None:
    with battle.connect(battle.attacker) as own:
        own.execute("create domain trap.small as integer; create view trap.seen as table trap.data")
        own.execute(
            "create table trap.bait (id integer primary key, a integer, b trap.small, c text);"
            " insert into trap.bait table trap.data; grant select on trap.seen to public"
        )
    before = reach(battle.dba)
    ended = threading.Event()

    def do_ddl() -> None:
        with battle.connect(battle.attacker) as own:
            own.execute("set lock_timeout = '100ms'")
            while not ended.is_set():
                for statement in RACES[race].split(";"):
                    with suppress(psycopg.Error):
                        own.execute(statement.encode())

    thread = threading.Thread(target=do_ddl)
    thread.start()
    relation = "trap.seen" if race == "view" else "trap.bait"
    try:
        for _ in range(3):
            for name in QUICK:
                text = OPERATIONS[name][0].replace("trap.bait", relation)
                with suppress(psycopg.Error):
                    battle.dba.execute(text.encode())
                gains = battle.gains() - {RAN}
                assert not gains, (name, [GAINS[code] for code in gains])
    finally:
        ended.set()
        thread.join()
    assert not granted(before, reach(battle.dba))
    assert battle.dba.execute("select count(*) from trap.loot").fetchone() == (0,)


TAKE = """
create function trap.take(cursor refcursor) returns text language plpgsql as $$
declare one record;
begin
    fetch cursor into one; perform trap.gained(10); return 'v' || one::text;
exception when others then return 'v';
end $$;
create view trap.bait as
    select id, a, b, trap.take('mine') || trap.take('<unnamed portal 1>') as c from trap.data
"""


@pytest.mark.parametrize("name", QUICK)
def test_code_of_a_relation_fetches_nothing_of_cursors_that_its_caller_has_open(
    battle: Battle, name: str
) -> None:
    """Whoever names a cursor fetches from it, whatever they may read, and no rollback moves it back."""
    with battle.connect(battle.attacker) as own:
        own.execute(TAKE)
    if name not in {"declare", "publish", "publish over time"}:
        perform(battle, "publish over time" if "over time" in name or name == "erase" else "publish")
        perform(battle, "declare")
        battle.gains()
    with battle.dba.transaction(force_rollback=True):
        battle.dba.execute("declare mine cursor for select name from vic.salaries order by id")
        battle.dba.execute("fetch mine")
        with suppress(psycopg.Error, KanonError), battle.dba.transaction():
            text, call = OPERATIONS[name]
            if call is not None and isinstance(battle.interface, ClientInterface):
                call(battle.dba)
            else:
                battle.dba.execute(text.encode())
        assert battle.dba.execute("fetch mine").fetchall() == [("Name 2",)]
    assert not battle.gains() - {RAN}


def test_code_of_a_relation_fetches_nothing_of_a_loop_around_the_call(battle: Battle) -> None:
    with battle.connect(battle.attacker) as own:
        own.execute(TAKE)
    with pytest.raises(psycopg.Error, match="FOREACH"):
        battle.dba.execute(
            "do $$ declare one record; begin for one in select name from vic.salaries loop"
            " perform kanon_measure('trap.bait', quasi_identifiers => '{a}'); end loop; end $$"
        )
    assert not battle.gains() - {RAN}
    battle.dba.execute(
        "do $$ declare one text; begin foreach one in array array(select name from vic.salaries limit 2) loop"
        " perform kanon_measure('trap.bait', quasi_identifiers => '{a}'); end loop; end $$"
    )
    assert not battle.gains() - {RAN}


@pytest.mark.parametrize("schema", ["kanon_shards", "kanon_more", "safe_more"])
def test_nobody_makes_a_schema_whose_code_runs_as_the_caller(battle: Battle, schema: str) -> None:
    """What is kanon's own is known by its owner: a role that may create schemas chooses their names."""
    with battle.connect(battle.attacker) as own:
        own.execute(f"create schema {schema}; grant usage on schema {schema} to public".encode())
        own.execute(
            f"create view {schema}.bait as select id, a, 'v' || trap.spy() as c from trap.data".encode()
        )
    call = f"('{schema}.bait', quasi_identifiers => '{{a}}')"
    for function in ("kanon_measure", "kanon_declare"):
        battle.dba.execute(f"select {function}{call}".encode())
    battle.dba.execute(f"select kanon_audit('{schema}.bait', 2)".encode())
    battle.dba.execute(f"select kanon_anonymize('{schema}.bait', 2, release => 'own')".encode())
    assert battle.gains() == {RAN}


def test_a_name_of_a_release_is_no_code(battle: Battle) -> None:
    """What reads a relation is created with a reader's rights, which could write there."""
    with battle.connect(battle.attacker) as own:
        own.execute("set check_function_bodies = off")
        own.execute("create view trap.bait as table trap.data")
    before = reach(battle.dba)
    with battle.connect(battle.attacker) as own:
        for name in ("x$body$;select trap.spy();select $body$", "$create$", "%1$I", "x';select trap.spy()--"):
            call = "select kanon_anonymize('trap.bait', 3, quasi_identifiers => '{a}', release => %s)"
            with suppress(psycopg.Error):
                own.execute(call.encode(), [name])
            (locks,) = own.execute(
                "select count(*) from pg_locks where locktype = 'advisory' and classid = 7777"
                " and pid = pg_backend_pid()"
            ).fetchone() or (None,)
            assert locks == 0, name
            assert own.execute("select count(*) from trap.loot").fetchone() == (0,)
            assert name in {one for (one,) in own.execute("select release from kanon.releases")}
    assert not granted(before, reach(battle.dba))


def test_a_reader_goes_to_nobody_else_while_anything_is_open_to_it(battle: Battle) -> None:
    """Its relation is gone, but somebody once let it read another: a partition of old, or what queries join."""
    with battle.connect(battle.victim) as own:
        own.execute(
            "create table vic.other as table vic.salaries; create table vic.third as table vic.salaries"
        )
        own.execute("select kanon_declare('vic.other', quasi_identifiers => '{a}')")
        row = own.execute("select kanon.reader_of('vic.other', false)").fetchone()
        reader = f"kanon_base_{row and row[0]}"
        own.execute(f"grant select on vic.third to {reader}; select kanon_undeclare('vic.other')".encode())
    with battle.connect(battle.attacker) as own:
        own.execute("create view trap.bait as table trap.data")
        own.execute("select kanon_declare('trap.bait', quasi_identifiers => '{a}')")
        row = own.execute("select kanon.reader_of('trap.bait', false)").fetchone()
        assert row is not None
        assert f"kanon_base_{row[0]}" != reader
    with battle.connect(battle.victim) as own:
        own.execute(f"revoke select on vic.third from {reader}".encode())
        own.execute("select kanon_declare('vic.third', quasi_identifiers => '{a}')")
        row = own.execute("select kanon.reader_of('vic.third', false)").fetchone()
        assert f"kanon_base_{row and row[0]}" == reader


def test_a_protected_table_that_everybody_may_read_keeps_nobody_else_from_answers(battle: Battle) -> None:
    for owner, relation in ((battle.victim, "vic.salaries"), (battle.attacker, "trap.data")):
        with battle.connect(owner) as own:
            own.execute(
                f"select kanon_declare('{relation}', quasi_identifiers => '{{a}}', entity => 'id')".encode()
            )
            # the victim's release of another test may be there
            own.execute(
                f"select kanon_protect('{relation}', 2, '{{\"beside_releases\": \"allow\"}}')".encode()
            )
            own.execute(f"grant select on {relation} to public".encode())
    query = "select kanon_query('select a, count(*) from vic.salaries group by a')"
    assert len(battle.dba.execute(query.encode()).fetchall()) == 4
