-- Queries of a data scientist, from a notebook: parameters, joins, features.

-- name: parameters for a period
-- tags: parameters
-- expect: answered
-- $1 date = 2023-01-01
-- $2 date = 2023-12-31
select ward, count(*) as n, avg(cost) as mean_cost
from patients
where admission_date between $1 and $2
group by ward;

-- name: parameter list of wards
-- tags: parameters, any
-- expect: answered
-- $1 text[] = {oncology,surgery,icu}
select ward, sex, count(*) from patients where ward = any($1) group by ward, sex;

-- name: parameter with a cast
-- tags: parameters, cast
-- expect: answered
-- $1 text = 2500
select sex, count(*) from patients where cost > $1::numeric group by sex;

-- name: parameter for a pattern
-- tags: parameters, like
-- expect: answered
-- $1 text = I%
select diagnosis, count(*) from patients where diagnosis like $1 group by diagnosis;

-- name: parameter for a limit
-- tags: parameters, limit
-- expect: answered
-- $1 bigint = 3
select ward, count(*) as n from patients group by ward order by n desc limit $1;

-- name: emergencies in the night hours by ward of the stay
-- tags: join protected, extract from timestamp
-- expect: answered
select p.ward, count(distinct v.patient_id) as people, count(*) as visits
from visits v
join patients p on p.patient_id = v.patient_id
where v.kind = 'emergency' and extract(hour from v.visited_at) >= 14
group by p.ward;

-- name: three protected tables
-- tags: join protected
-- expect: answered
select p.sex, v.kind, l.test, count(distinct p.patient_id) as people
from patients p
join visits v on v.patient_id = p.patient_id
join lab_results l on l.patient_id = p.patient_id
group by p.sex, v.kind, l.test;

-- name: left join keeps patients without a visit
-- tags: left join protected
-- expect: answered
select p.ward, count(distinct p.patient_id) as people, count(v.visit_id) as visits
from patients p
left join visits v on v.patient_id = p.patient_id and v.kind = 'emergency'
group by p.ward;

-- name: left join with a public table
-- tags: left join public
-- expect: answered
select coalesce(z.region, 'unknown') as region, count(*)
from patients p
left join zip_regions z on z.zip = p.zip
group by coalesce(z.region, 'unknown');

-- name: distribution of a lab value
-- tags: width_bucket, float
-- expect: may be withheld: the outermost classes may hold fewer than k people
select test, width_bucket(value, 40, 160, 12) as class, count(*)
from lab_results
where value is not null
group by 1, 2
order by 1, 2;

-- name: centre of a lab value
-- tags: width_bucket, where
-- expect: answered
select test, width_bucket(value, 70, 130, 6) as class, count(*) as n
from lab_results
where value >= 70 and value < 130
group by 1, 2;

-- name: rounded lab values
-- tags: round group by
-- expect: answered
select round(value::numeric, -1) as value, count(*) from lab_results
where test = 'crp' and value between 60 and 140 group by 1 order by 1;

-- name: correlation of minutes and fee
-- tags: corr
-- expect: may be refused: aggregates of two columns
select corr(minutes, fee) from visits;

-- name: regression by department
-- tags: regr
-- expect: may be withheld: few people may have no fee
select department, regr_slope(fee, minutes), regr_count(fee, minutes) from visits group by department;

-- name: sums for a regression of one's own
-- tags: product of columns
-- expect: may be refused: products of columns inside an aggregate
select count(*), sum(minutes), sum(fee), sum(minutes * fee), sum(minutes * minutes) from visits where fee is not null;

-- name: frequencies for a contingency table
-- tags: group by two
-- expect: answered
select ward, readmitted, count(*) from patients group by ward, readmitted;

-- name: distinct values of a column
-- tags: distinct rows
-- expect: answered
select distinct ward from patients;

-- name: distinct combinations
-- tags: distinct rows
-- expect: answered
select distinct sex, ward from patients order by sex, ward;

-- name: rows of coarse columns
-- tags: row selection
-- expect: answered
select sex, ward from patients;

-- name: rows of recoded columns
-- tags: row selection, case
-- expect: answered
select sex, case when birth_date < date '1960-01-01' then 'old' else 'young' end as generation, ward
from patients
where readmitted;

-- name: first rows to look at the table
-- tags: select star
-- expect: may be refused: rows of single people
select * from patients limit 10;

-- name: random sample of rows
-- tags: volatile
-- expect: may be refused: random() is different each time
select ward, count(*) from patients where random() < 0.1 group by ward;

-- name: concatenated group label
-- tags: concatenation
-- expect: answered
select ward || ' / ' || sex as label, count(*) from patients group by ward || ' / ' || sex;

-- name: upper-case labels
-- tags: upper, initcap
-- expect: answered
select upper(left(ward, 1)) as initial, lower(sex) as sex, count(*) from patients group by 1, 2;

-- name: text patterns
-- tags: like, not like, ilike
-- expect: answered
select kind, count(*) from visits where kind ilike '%round%' or kind not like 'e%' group by kind;

-- name: regular expression with a constant
-- tags: regular expression
-- expect: answered
select diagnosis, count(*) from patients where diagnosis ~ '^[A-I]' group by diagnosis;

-- name: intervals
-- tags: interval arithmetic
-- expect: answered
select ward, count(*) from patients where discharge_date > admission_date + interval '7 days' group by ward;

-- name: days between two dates as a group
-- tags: date arithmetic, case group by
-- expect: answered
select case when discharge_date - admission_date <= 3 then 'short' when discharge_date - admission_date <= 10 then 'medium'
            else 'long' end as stay, count(*), avg(cost)
from patients
where discharge_date is not null
group by 1;

-- name: year and month as text
-- tags: to_char
-- expect: answered
select to_char(admission_date, 'YYYY-MM') as month, count(*) from patients group by 1 order by 1;

-- name: null-safe comparison
-- tags: is distinct from
-- expect: answered
select count(*) from visits where fee is distinct from 100;

-- name: boolean tests
-- tags: is true, not
-- expect: answered
select ward, count(*) from patients where readmitted is not true and not (cost < 1000) group by ward;

-- name: nested common table expressions
-- tags: cte, derived table
-- expect: answered
with by_ward as (
    select ward, sex, count(*) as n, sum(cost) as total from patients group by ward, sex
),
means as (
    select ward, sum(total) / sum(n) as mean from by_ward group by ward
)
select w.building, m.ward, m.mean from means m join wards w on w.ward = m.ward order by m.mean desc;

-- name: filter before grouping in a derived table
-- tags: derived table of rows
-- expect: answered
select t.ward, avg(t.cost) from (select ward, cost from patients where cost > 1000) as t group by t.ward;

-- name: common table expression of rows
-- tags: cte of rows
-- expect: answered
with adults as (select * from patients where birth_date < date '2005-01-01')
select ward, count(*) from adults group by ward;

-- name: patients with a diagnosis list from a public table
-- tags: in subquery public
-- expect: answered
select ward, count(*) from patients where diagnosis in (select code from icd_codes where chronic) group by ward;

-- name: patients who ever had an abnormal result
-- tags: exists
-- expect: answered
select ward, count(*) from patients p
where exists (select 1 from lab_results l where l.patient_id = p.patient_id and l.abnormal) group by ward;

-- name: people by department whom the laboratory ever found abnormal, who have several rows in both tables
-- tags: exists, count distinct
-- expect: answered
select v.department, count(distinct v.patient_id) from visits v
where exists (select 1 from lab_results l where l.patient_id = v.patient_id and l.abnormal) group by v.department;

-- name: visits of people whom the laboratory ever found abnormal
-- tags: exists
-- expect: may be refused: how many rows such people have is no count of people
select department, count(*) from visits v
where exists (select 1 from lab_results l where l.patient_id = v.patient_id and l.abnormal) group by department;

-- name: patients who ever had an abnormal result, as a join
-- tags: join protected, count distinct
-- expect: answered
select p.ward, count(distinct p.patient_id) from patients p
join lab_results l on l.patient_id = p.patient_id where l.abnormal group by p.ward;

-- name: shares of the total with a window
-- tags: window over groups
-- expect: answered
select ward, count(*)::numeric / sum(count(*)) over () as share from patients group by ward;

-- name: public tables alone, with everything
-- tags: public only, window
-- expect: answered
select ward, beds, rank() over (order by beds desc) from wards;

-- name: public tables alone
-- tags: public only
-- expect: answered
select building, sum(beds) as beds, count(*) from wards group by building order by building;

-- name: how long women and men of some origins stay in a ward
-- tags: list of known values
-- expect: answered
select round(avg(discharge_date - admission_date), 1) as days from patients
where ward = 'oncology' and sex in ('F', 'M') and ethnicity <> 'White';
