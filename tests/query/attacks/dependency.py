"""Relations through which protected rows can be read under another name."""

from tests.query.attacks.shared_parts import beforehand, in_session
from tests.query.cases import REFUSED, Attack, Channel, Secret, V, alike, attack, backed, of_kind
from tests.query.hospital import ADA

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "protected by dependency",
    *alike({
        "view that is spelled like something else": "select station, day, temperature from weather where day = date '1957-05-09'",
        "honest query on an undeclared view": "select station, avg(temperature) from weather group by station",
        "materialized view over a protected table": f"select ward from monthly_report where {V}",
    }, secret=Secret.WARD),
    *alike({
        "declared view": f"select ward, sum(days) from stays where {V} group by ward",
        "declared view joined with its own table": f"select s.ward, count(*) from stays s join patients p on p.patient_id = s.patient_id where p.{V} group by 1",
    }, secret=Secret.WARD, expect=REFUSED),
    attack("partition by its name", "select test, abnormal, count(*) from lab_results_2023 where value > 181 and value < 182 group by 1, 2", secret=Secret.TEST, expect=REFUSED),
    *alike({
        "inheritance child by its name": "select department from old_visits where physician = 'Dr. Only'",
        "table with row security": (beforehand("alter table hospital.visits enable row level security"), "select department, count(*) from visits group by department"),
    }, secret=Secret.VISITS, expect=REFUSED, channel=Channel.EFFECT),
    attack("parent of an inheritance child, only", "select department from only visits where physician = 'Dr. Only'", secret=Secret.VISITS, expect=REFUSED),
    *alike({
        "view made after the declaration": (beforehand("create view hospital.fresh as select ward, birth_date from hospital.patients"), beforehand(f"grant select on hospital.fresh to {ADA}"), f"select ward from fresh where {V}"),
        "view over a function that reads the protected table": (
                beforehand(
                    "create function hospital.all_patients() returns setof hospital.patients language sql stable"
                    " security definer as 'select * from hospital.patients'"
                ),
                beforehand("create view hospital.all_of_them as select * from hospital.all_patients()"),
                beforehand(f"grant select on hospital.all_of_them to {ADA}"),
                f"select ward from all_of_them where {V}",
            ),
        "same name in two schemas of the path": (
                beforehand("create schema if not exists query_evil"),
                beforehand(f"grant all on schema query_evil to {ADA}"),
                in_session("create table query_evil.patients (ward text, birth_date date)"),
                in_session("set search_path = query_evil, hospital"),
                f"select ward from hospital.patients where {V}",
            ),
    }, secret=Secret.WARD, expect=REFUSED, channel=Channel.EFFECT),
    attack(
        "function that reads the protected table",
        beforehand(
            "create function hospital.ward_of(date) returns text language sql stable security definer as"
            " 'select ward from hospital.patients where birth_date = $1'"
        ),
        "select hospital.ward_of(date '1957-05-09')",
        secret=Secret.WARD,
        expect=backed("its owner lets everybody call it, in any session"),
        channel=Channel.EFFECT,
    ),
    attack(
        "public table renamed to the protected one between two queries",
        "select count(*) from wards",
        beforehand("alter table hospital.wards rename to wards_before"),
        beforehand("create view hospital.wards as select ward, name as title from hospital.patients"),
        "select title from wards",
        secret=Secret.IDENTITY,
        expect=REFUSED,
        channel=Channel.EFFECT,
    ),
    attack("table detached from the declared parent", beforehand("alter table hospital.lab_results detach partition hospital.lab_results_2022"), "select test, value from lab_results_2022", secret=Secret.TEST, expect=REFUSED, channel=Channel.EFFECT),
    attack(
        "foreign table that points back",
        beforehand("create extension if not exists postgres_fdw"),
        beforehand("create server if not exists query_loop foreign data wrapper postgres_fdw"),
        beforehand(
            "create foreign table hospital.mirror (ward text, birth_date date) server query_loop"
            " options (schema_name 'hospital', table_name 'patients')"
        ),
        beforehand(f"grant select on hospital.mirror to {ADA}"),
        f"select ward from mirror where {V}",
        secret=Secret.WARD,
        channel=Channel.EFFECT,
    ),
)
# fmt: on
