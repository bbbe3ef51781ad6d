"""The software's own functions, called as nobody expects."""

from tests.query.attacks.shared_parts import beforehand, in_session
from tests.query.cases import REFUSED, Attack, Channel, Secret, Step, V, alike, attack, harmless, of_kind
from tests.query.hospital import BEN

_SAME = f"select ward from patients where {V}"


def _call(argument: str) -> Step:
    return in_session(f"select * from kanon_query({argument})")


# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "the functions themselves",
    *alike({
        "injection through the argument": _call("'select sex, count(*) from hospital.patients group by sex; drop table hospital.ticket'"),
        "k of zero": in_session("select kanon_declare('hospital.patients', entity => 'patient_id'); select kanon_protect('hospital.patients', k => 0)"),
        "k of one": in_session("select kanon_protect('hospital.patients', k => 1)"),
        "analyst declares no identifiers": in_session("select kanon_declare('hospital.patients', insensitive => '{name,ssn}')"),
        "analyst withdraws the declaration": in_session("select kanon_undeclare('hospital.patients')"),
        "inner functions directly": in_session("select kanon.run_query('select name from hospital.patients')"),
    }, secret=Secret.SERVER, channel=Channel.EFFECT),
    *alike({
        "injection through a quoted alias": _call('\'select count(*) as "x"", (select ward) --" from hospital.patients\''),
        "injection through a dollar quote": _call('$a$select count(*) as "$b$; drop table hospital.ticket; --" from hospital.patients$a$'),
    }, secret=Secret.SERVER, expect=harmless("an alias with odd characters"), channel=Channel.EFFECT),
    attack("null text", _call("null"), secret=Secret.SERVER, channel=Channel.EFFECT, expect=harmless("nothing was asked")),
    *alike({
        "somebody else's table": _call("'select * from hospital.payroll'"),
        "somebody else's table in an honest join": _call("'select count(*) from hospital.payroll e join hospital.patients p on p.name = e.employee'"),
        "definer rights by way of a public view that the analyst may not read": (beforehand("create view hospital.pay as select * from hospital.payroll"), _call("'select * from hospital.pay'")),
    }, secret=Secret.PAYROLL, channel=Channel.EFFECT),
    *alike({
        "record variant with types that fail on a value": in_session(f"select * from kanon_query_record('select ward, count(*) from hospital.patients where {V} group by ward') as t (ward integer, n integer)".replace("'1957-05-09'", "''1957-05-09''")),
        "query asked from WHERE, once per row": in_session("select count(*) from hospital.wards w where exists (select from kanon_query('select count(*) from hospital.patients where ward = ''' || w.ward || ''' and birth_date = ''1957-05-09''') as q)"),
    }, secret=Secret.WARD, expect=REFUSED, channel=Channel.EFFECT),
    attack(
        "refusals caught in a block: the rollback takes the record along",
        in_session(
            "do $$ begin perform * from kanon_query('select ward from hospital.patients where birth_date ="
            " ''1957-05-09'''); exception when others then null; end $$"
        ),
        secret=Secret.SERVER,
        channel=Channel.EFFECT,
        expect=harmless("tells nothing; that it was asked must be in the record all the same"),
    ),
    attack(
        "answer read, then rolled back",
        in_session("begin"),
        _call("'select sex, sum(cost) from hospital.patients group by sex'"),
        in_session("rollback"),
        secret=Secret.SERVER,
        channel=Channel.EFFECT,
        expect=harmless("an honest answer; that it was given must be in the record all the same"),
    ),
    attack(
        "query in a cursor that is never read",
        in_session("begin"),
        in_session(
            "declare c cursor for select * from kanon_query('select sex, count(*)"
            " from hospital.patients group by sex')"
        ),
        in_session("rollback"),
        secret=Secret.SERVER,
        channel=Channel.EFFECT,
        expect=harmless("an honest answer that nobody read"),
    ),
    attack(
        "query under a role that was switched",
        in_session(f"set role {BEN}"),
        _call("'select sex, count(*) from hospital.patients group by sex'"),
        secret=Secret.SERVER,
        channel=Channel.EFFECT,
        expect=harmless("the rights are those of the role, the budget and the record are the login's"),
    ),
    *alike({
        "query from an own definer function": (
                beforehand("create schema if not exists query_evil"),
                beforehand(f"grant all on schema query_evil to {BEN}"),
                in_session(
                    "create function query_evil.ask(text) returns setof jsonb security definer language sql as"
                    " 'select * from public.kanon_query($1)'",
                    BEN,
                ),
                in_session("select * from query_evil.ask('select ward from hospital.patients')"),
            ),
        "function called in the WHERE of a view": in_session("create temp view v as select * from kanon_query('select name from hospital.patients')"),
    }, secret=Secret.SERVER, expect=REFUSED, channel=Channel.EFFECT),
    attack("check tells more than the query would", in_session(f"select * from kanon_check_query('{_SAME}')".replace("'1957-05-09'", "''1957-05-09''")), secret=Secret.WARD, channel=Channel.EFFECT, expect=harmless("a check looks at the text and the catalog alone")),
    attack(
        "check tells whether somebody else's table exists",
        in_session("select * from kanon_check_query('select 1 from hospital.payroll')"),
        in_session("select * from kanon_check_query('select 1 from hospital.no_such_table')"),
        secret=Secret.PAYROLL,
        channel=Channel.EFFECT,
        expect=harmless("both findings are the same"),
    ),
)
# fmt: on
