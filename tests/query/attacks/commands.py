"""Statements that are no query at all."""

from tests.query.cases import Attack, Channel, Secret, V, attack, of_kind

_SAME = f"select ward from patients where {V}"

_COMMANDS = {
    "explain": f"explain {_SAME}",
    "explain analyze": f"explain (analyze, buffers, format json) {_SAME}",
    "explain verbose shows estimates": f"explain (verbose, costs) select 1 from patients where {V}",
    "copy query to stdout": f"copy ({_SAME}) to stdout",
    "copy table to stdout": "copy patients to stdout",
    "copy to a file": f"copy ({_SAME}) to '/tmp/kanon-attack'",
    "copy to a program": f"copy ({_SAME}) to program 'cat > /tmp/kanon-attack'",
    "copy from a program": "copy hospital.payroll from program 'id'",
    "prepare": f"prepare p as {_SAME}",
    "execute": "execute p (1)",
    "deallocate": "deallocate all",
    "declare cursor": f"declare c cursor with hold for {_SAME}",
    "fetch": "fetch all from c",
    "move": "move forward 17 in c",
    "do": "do $$ begin perform 1; end $$",
    "call": "call pg_catalog.evil()",
    "create rule": "create rule r as on select to hospital.wards do instead select * from hospital.patients",
    "create view": "create view public.v as select * from hospital.patients",
    "create materialized view": "create materialized view public.m as select * from hospital.patients",
    "create table as": "create table public.t as select * from hospital.patients",
    "create function": "create function public.f() returns integer language sql as 'select 1'",
    "create type": "create type public.t as (a integer)",
    "create domain": "create domain public.d as integer check (value > 0)",
    "create operator": "create operator public.=== (function = int4eq, leftarg = integer, rightarg"
    " = integer)",
    "create cast": "create cast (text as integer) with inout as implicit",
    "create aggregate": "create aggregate public.mysum(integer) (sfunc = int4pl, stype = integer)",
    "create statistics": "create statistics public.s on birth_date, ward from hospital.patients",
    "create index": "create index i on hospital.patients (birth_date)",
    "create trigger": "create trigger t before insert on hospital.patients execute function public.f()",
    "create server": "create server evil foreign data wrapper postgres_fdw",
    "create publication": "create publication p for table hospital.patients",
    "create policy": "create policy p on hospital.patients using (true)",
    "insert": "insert into hospital.patients select * from hospital.patients",
    "insert returning": "insert into hospital.wards values ('x', 'x', 'x', 1, 1, 'x') returning"
    f" (select ward from hospital.patients where {V})",
    "update": "update hospital.patients set zip = zip returning ward",
    "delete": "delete from hospital.patients returning ward",
    "merge": "merge into hospital.wards w using hospital.patients p on w.ward = p.ward"
    " when matched then do nothing",
    "truncate": "truncate hospital.patients cascade",
    "drop": "drop table hospital.ticket",
    "alter": "alter table hospital.patients add column x integer",
    "grant": "grant select on hospital.patients to public",
    "set role": "set role postgres",
    "set session authorization": "set session authorization postgres",
    "reset role": "reset role",
    "set search_path": "set search_path = evil, hospital",
    "set local": "set local enable_seqscan = off",
    "show": "show data_directory",
    "lock": "lock table hospital.patients in access exclusive mode",
    "listen": "listen evil",
    "notify": "notify evil, 'x'",
    "load": "load 'auto_explain'",
    "analyze": "analyze hospital.patients",
    "vacuum": "vacuum hospital.patients",
    "cluster": "cluster hospital.patients",
    "refresh": "refresh materialized view hospital.monthly_report",
    "comment": "comment on table hospital.patients is 'x'",
    "security label": "security label on table hospital.patients is 'x'",
    "begin": "begin isolation level serializable",
    "commit": "commit",
    "rollback to savepoint": "rollback to savepoint s",
    "prepare transaction": "prepare transaction 'x'",
    "checkpoint": "checkpoint",
    "discard": "discard all",
    "import foreign schema": "import foreign schema x from server y into public",
}

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "commands",
    *(attack(name, text, secret=Secret.SERVER, channel=Channel.EFFECT) for name, text in _COMMANDS.items()),
)
# fmt: on
