"""Sessions prepared so that an honest query means something else."""

from tests.query.attacks.shared_parts import in_session
from tests.query.cases import (
    REFUSED,
    Attack,
    Channel,
    Secret,
    Step,
    V,
    alike,
    attack,
    backed,
    harmless,
    of_kind,
)
from tests.query.hospital import BEN

_HONEST = "select sex, count(*) from patients group by sex"

_AS_BEFORE = harmless("names are bound before, and what runs names schemas and operators itself")

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "temporary tables and search path",
    *alike({
        "temporary table named like the protected table": (in_session("create temp table patients as select * from generate_series(1, 9) as sex"), _HONEST),
        "temporary function named like an allowed one": (
                in_session(
                    "create function pg_temp.floor(numeric) returns numeric language plpgsql as"
                    " 'begin insert into pg_temp.seen values ($1); return 1; end'"
                ),
                "select floor(cost / 1000), count(*) from patients group by 1",
            ),
        "search path with an own schema in front": (in_session("set search_path = query_evil, hospital, pg_catalog"), _HONEST),
        "search path with pg_catalog at the end": (in_session("set search_path = hospital, pg_temp, pg_catalog"), _HONEST),
        "empty search path": (in_session("set search_path = ''"), _HONEST),
    }, secret=Secret.SERVER, expect=_AS_BEFORE, channel=Channel.EFFECT),
    *alike({
        "temporary table by its schema": (in_session("create temp table patients (sex text)"), "select sex, count(*) from pg_temp.patients group by sex"),
        "temporary view over the protected table": (in_session("create temp view seen as select * from hospital.patients"), "select * from seen"),
        "read-only switched off": (in_session("set transaction_read_only = off"), "with gone as (delete from patients returning ward) select count(*) from gone"),
    }, secret=Secret.SERVER, channel=Channel.EFFECT),
    attack(
        "temporary operator",
        in_session("create operator pg_temp.= (function = pg_temp.spy, leftarg = text, rightarg = text)"),
        "select count(*) from patients where ward = 'oncology'",
        secret=Secret.SERVER,
        expect=backed("the number of many people; the operator is pg_catalog's"),
        channel=Channel.EFFECT,
    ),
    attack(
        "temporary table with the names of the record",
        in_session("create temp table query_log as select 1 as one"),
        in_session("select * from kanon_query('select sex, count(*) from hospital.patients group by sex')"),
        secret=Secret.SERVER,
        expect=harmless("the record is named with its schema"),
        channel=Channel.EFFECT,
    ),
    attack(
        "settings that change what a text means",
        in_session("set standard_conforming_strings = off"),
        r"select count(*) from wards where title = '\' union all select ward from patients -- '",
        secret=Secret.SERVER,
        expect=harmless("the text is read once, by the checker; the server gets the checker's literals"),
        channel=Channel.EFFECT,
    ),
    *alike({
        "settings that change what a date means": (in_session("set datestyle = 'SQL, DMY'"), "select ward, count(*) from patients where birth_date = '09/05/1957' group by ward"),
        "settings that turn NULL comparisons around": (in_session("set transform_null_equals = on"), "select count(*) from patients where discharge_date = null and ward = 'oncology' and " + V),
        "settings that log the plan or the rows": (in_session("set client_min_messages = debug5"), in_session("set debug_print_plan = on"), f"select ward from patients where {V}"),
    }, secret=Secret.WARD, expect=REFUSED, channel=Channel.EFFECT),
    attack("extra digits", in_session("set extra_float_digits = 3"), "select test, avg(value) from lab_results group by test", secret=Secret.SERVER, expect=backed("an average of many people"), channel=Channel.EFFECT),
    attack("lower timeout makes other people's queries fail", in_session("set statement_timeout = 1"), Step(_HONEST, role=BEN), secret=Secret.SERVER, expect=harmless("the setting is the analyst's alone"), channel=Channel.EFFECT),
)
# fmt: on
