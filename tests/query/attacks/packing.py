"""Many people's values packed into the digits of one number."""

from tests.query.attacks.shared_parts import beforehand, in_session
from tests.query.cases import REFUSED, WITHHELD, Attack, Channel, Secret, V, alike, attack, backed, of_kind
from tests.query.hospital import ADA

# fmt: off
ATTACKS: tuple[Attack, ...] = of_kind(
    "packing",
    *alike({
        "powers of two by day of birth": "select sum(power(2::numeric, birth_date - date '1957-05-01')) from patients where ward = 'oncology' and birth_date between date '1957-05-01' and date '1957-08-01'",
        "shifted bits": "select sum(1::bigint << (birth_date - date '1957-05-01')) from patients where ward = 'oncology' and birth_date between date '1957-05-01' and date '1957-06-25'",
        "texts that add up": "select sum(length(ward) * power(100::numeric, birth_date - date '1957-05-05')) from patients where birth_date between date '1957-05-05' and date '1957-05-30'",
        "known days of people whom a product chooses one by one": "select count(*), sum(admission_date - date '2022-01-01') from patients where ward = 'oncology' and (birth_date - date '1957-05-09') * (birth_date - date '1980-01-01') = 0",
    }, secret=Secret.WARD),
    *alike({
        "decimal digits by day of birth": "select sum(cost * power(10::numeric, 6 * (birth_date - date '1957-05-01'))) from patients where birth_date between date '1957-05-01' and date '1957-05-31'",
        "number of a person times a large base": "select sum(patient_id * 1000000000::numeric + cost) from patients where zip = '10437'",
        "packing through a join with the public calendar": "select sum(p.cost * power(10::numeric, c.week)) from patients p join calendar c on c.day = p.admission_date where p.zip = '10437'",
        "factorials": "select sum(cost * factorial(birth_date - date '1957-05-01')) from patients where birth_date between date '1957-05-01' and date '1957-05-20'",
        "intervals as digits": "select sum((birth_date - date '1957-05-01') * interval '1 month' + cost * interval '1 microsecond') from patients where zip = '10437'",
        "the percentile of two columns is one person's pair": "select percentile_disc(0.5) within group (order by (birth_date - date '1900-01-01') * 1000000000.0 + cost) from patients where birth_date between date '1957-02-21' and date '1957-08-14'",
        "several percentiles of two columns in an array": ("select percentile_cont(array[0.4, 0.5, 0.6]) within group"
                " (order by (birth_date - date '1900-01-01') * 1000000000.0 + cost)"
                " from patients where birth_date between date '1957-02-21' and date '1957-08-14'"),
    }, secret=Secret.COST),
    attack("packing with a weight from a public table", "select sum(p.cost * z.population) from patients p join zip_regions z on z.zip = p.zip", secret=Secret.COST, expect=backed("a sum of numbers of people, each of whom there are k")),
    attack("public column alone as the aggregated value, chosen by the person", f"select sum(w.beds) from patients p join wards w on w.ward = p.ward where p.{V}", secret=Secret.WARD, expect=REFUSED),
    attack("affine arguments of several aggregates are one system", "select sum(cost), sum(2 * cost + 1), count(*), sum(-1 * cost) from patients where " + V, secret=Secret.COST, expect=WITHHELD),
    attack("digits of the key of a group", "select (birth_date - date '1935-01-01') * 100000::bigint + floor(cost), count(*) from patients group by 1", secret=Secret.COST, expect=REFUSED),
    *alike({
        "sum of a public column is a weighted count of people": "select p.ward, sum(z.population) from patients p join zip_regions z on z.zip = p.zip group by p.ward",
        "weights made in a derived table": "select p.ward, sum(m.w) from patients p join (select zip, population * 1000003::bigint as w from zip_regions) as m on m.zip = p.zip group by p.ward",
    }, secret=Secret.WARD, expect=backed("a sum of numbers of people, each of whom there are k")),
    *alike({
        "average of a public column": "select p.ward, avg(z.population), count(*) from patients p join zip_regions z on z.zip = p.zip where p.birth_date between date '1955-01-01' and date '1959-12-31' group by p.ward",
        "known days of people whom a group chooses one by one": f"select case when {V} then 1 when birth_date > date '1980-01-01' then 1 else 2 end as g, count(*), sum(admission_date - date '2022-01-01') from patients where ward = 'oncology' group by 1",
    }, secret=Secret.WARD, expect=backed("the mean of a known column, rounded to half its standard error")),
    attack(
        "extreme of a public column shows the key of one person",
        "select p.diagnosis, max(z.population), max(z.city) from patients p join"
        " zip_regions z on z.zip = p.zip"
        " where p.birth_date between date '1957-01-01' and date '1957-12-31' group by p.diagnosis",
        secret=Secret.DIAGNOSIS,
        expect=REFUSED,
    ),
    *(
        attack(
            name,
            beforehand("create schema if not exists query_evil"),
            beforehand(f"grant all on schema query_evil to {ADA}"),
            in_session(made),
            asked,
            secret=Secret.WARD,
            expect=REFUSED,
            channel=Channel.EFFECT,
        )
        for name, made, asked in (
            (
                "weights of one's own, one for each day of birth",
                "create table query_evil.m as select date '1935-01-01' + n as born, power(2::numeric, n) as w"
                " from generate_series(0, 26300) as n",
                "select p.ward, sum(m.w) from patients p join query_evil.m on m.born ="
                " p.birth_date group by 1",
            ),
            (
                "weights of one's own with a primary key",
                "create table query_evil.m (born date primary key, w numeric)",
                "select p.ward, sum(m.w) from patients p join query_evil.m on m.born ="
                " p.birth_date group by 1",
            ),
            (
                "as many rows as the weight of a person",
                "create table query_evil.m as select zip, n from hospital.zip_regions,"
                " generate_series(1, 2) as n",
                "select p.ward, count(*) from patients p join query_evil.m on m.zip = p.zip group by p.ward",
            ),
            (
                "different values as many as the weight of a person",
                "create table query_evil.m as select zip, n from hospital.zip_regions,"
                " generate_series(1, 2) as n",
                "select p.ward, count(distinct m.n) from patients p join query_evil.m on"
                " m.zip = p.zip group by 1",
            ),
            (
                "register of one's own: the last name with a diagnosis",
                "create table query_evil.m (born date primary key, name text)",
                "select p.diagnosis, max(m.name) from patients p join query_evil.m on m.born = p.birth_date"
                " group by 1",
            ),
            (
                "register of one's own: the middle name with a diagnosis",
                "create table query_evil.m (born date primary key, name text)",
                "select p.diagnosis, percentile_disc(0.5) within group (order by m.name) from patients p"
                " join query_evil.m on m.born = p.birth_date group by p.diagnosis",
            ),
        )
    ),
    attack(
        "the percentile of a difference, where one column decides the order",
        "select percentile_disc(0.5) within group (order by discharge_date - birth_date) from patients"
        " where birth_date between date '1957-02-21' and date '1957-08-14'",
        secret=Secret.DIAGNOSIS,
        channel=Channel.EFFECT,
        expect=backed("a mean of days over at least k people; no sensitive column takes part"),
    ),
    *alike({
        "days that a neighbor knows are the weights of people whom a list chooses": f"select count(*), sum(admission_date - date '2022-01-01') from patients where ward = 'oncology' and ({V} or birth_date between date '1980-01-01' and date '1981-06-01')",
        "known days of people whom a list of days of birth chooses": "select avg(admission_date - date '2022-01-01') filter (where ward = 'oncology') from patients where birth_date in (date '1957-05-09', date '1980-01-01', date '1980-01-02')",
        "different known values of people whom a list chooses": f"select count(distinct admission_date) from patients where ward = 'oncology' and ({V} or birth_date between date '1980-01-01' and date '1981-06-01')",
    }, secret=Secret.WARD, expect=WITHHELD),
)
# fmt: on
