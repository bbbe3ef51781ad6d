-- Queries of an epidemiologist: rates, strata, curves over time.
-- A block is: name, tags, what a correct enforcement does, types of its parameters with a value each, the query.

-- name: cases by month
-- tags: date_trunc
-- expect: answered
select date_trunc('month', admission_date) as month, count(*) as cases
from patients
group by 1
order by 1;

-- name: cases of one diagnosis by month
-- tags: date_trunc where
-- expect: may be withheld: a month may have fewer than k cases
select date_trunc('month', p.admission_date) as month, count(*) as cases
from patients p
where p.diagnosis = 'J18'
group by date_trunc('month', p.admission_date)
order by month;

-- name: cases by diagnosis
-- tags: group by, order by
-- expect: answered
select diagnosis, count(*) as n
from patients
group by diagnosis
order by n desc;

-- name: ten most frequent diagnoses with their titles
-- tags: join public, limit
-- expect: answered
select c.code, c.description, count(*) as n
from patients p
join icd_codes c on c.code = p.diagnosis
group by c.code, c.description
order by n desc, c.code
limit 10;

-- name: age at admission in bands
-- tags: case group by, extract, date arithmetic
-- expect: answered
select case
         when extract(year from admission_date) - extract(year from birth_date) < 40 then 'under 40'
         when extract(year from admission_date) - extract(year from birth_date) < 65 then '40 to 64'
         else '65 and over'
       end as age_band,
       sex,
       count(*) as n,
       avg(cost) as mean_cost
from patients
group by 1, 2
order by 1, 2;

-- name: decades of age
-- tags: floor group by
-- expect: answered
select floor((extract(year from admission_date) - extract(year from birth_date)) / 10) * 10 as decade, count(*)
from patients
where birth_date < date '2000-01-01' and birth_date >= date '1940-01-01'
group by 1
order by 1;

-- name: decade of age with age()
-- tags: age() floor group by
-- expect: answered
select floor(extract(year from age(admission_date, birth_date)) / 10) as decade, count(distinct patient_id) as people
from patients
where birth_date between date '1943-01-01' and date '1999-12-31'
group by floor(extract(year from age(admission_date, birth_date)) / 10);

-- name: birth cohorts of twenty years
-- tags: width_bucket
-- expect: answered
select width_bucket(extract(year from birth_date), 1930, 2010, 4) as cohort, count(*) as n
from patients
group by 1
order by 1;

-- name: readmission rate by ward
-- tags: filter, arithmetic of aggregates
-- expect: answered
select ward,
       count(*) as n,
       count(*) filter (where readmitted) as again,
       round(100.0 * count(*) filter (where readmitted) / count(*), 1) as percent
from patients
group by ward
order by ward;

-- name: readmission rate with NULLIF
-- tags: filter, nullif, division
-- expect: answered
select sex, count(*) filter (where readmitted)::numeric / nullif(count(*), 0) as rate
from patients
group by sex;

-- name: cases per 100,000 inhabitants by region
-- tags: join public, arithmetic of aggregates, derived table
-- expect: answered
with inhabitants as (
    select region, sum(population) as people from zip_regions group by region
),
cases as (
    select z.region, count(*) as n
    from patients p
    join zip_regions z on z.zip = p.zip
    group by z.region
)
select i.region, c.n, round(100000.0 * c.n / i.people, 2) as per_100000
from cases c
join inhabitants i on i.region = c.region
order by per_100000 desc;

-- name: patients by first digits of the zip code
-- tags: left group by
-- expect: answered
select left(zip, 3) as area, count(*) as n, avg(cost) as mean_cost
from patients
group by left(zip, 3)
order by area;

-- name: patients by area with substring
-- tags: substring group by
-- expect: answered
select substring(zip from 1 for 3) as area, sex, count(*)
from patients
group by 1, 2;

-- name: chronic and acute cases
-- tags: join public, boolean group by
-- expect: answered
select c.chapter, c.chronic, count(*) as n, count(distinct p.patient_id) as people
from patients p
join icd_codes c on c.code = p.diagnosis
group by c.chapter, c.chronic;

-- name: two by two table
-- tags: filter, in
-- expect: answered
select count(*) filter (where sex = 'F' and diagnosis in ('F20', 'F32')) as exposed_cases,
       count(*) filter (where sex = 'M' and diagnosis in ('F20', 'F32')) as cases,
       count(*) filter (where sex = 'F' and diagnosis not in ('F20', 'F32')) as exposed_controls,
       count(*) filter (where sex = 'M' and diagnosis not in ('F20', 'F32')) as controls
from patients;

-- name: share of abnormal results by test
-- tags: filter, protected many rows
-- expect: answered
select test, count(*) as results, count(distinct patient_id) as people,
       count(*) filter (where abnormal) as abnormal
from lab_results
group by test
order by test;

-- name: share of abnormal results with avg of CASE
-- tags: case mask
-- expect: answered
select test, avg(case when abnormal then 1.0 else 0.0 end) as share
from lab_results
group by test;

-- name: mean test value by diagnosis chapter
-- tags: join protected, join public
-- expect: answered
select c.chapter, l.test, avg(l.value) as mean, stddev(l.value) as sd, count(distinct p.patient_id) as people
from lab_results l
join patients p on p.patient_id = l.patient_id
join icd_codes c on c.code = p.diagnosis
group by c.chapter, l.test
order by 1, 2;

-- name: glucose of diabetics and others
-- tags: join protected, boolean group by
-- expect: answered
select p.diagnosis = 'E11' as diabetic, avg(l.value) as glucose
from lab_results l
join patients p using (patient_id)
where l.test = 'glucose' and l.value is not null
group by 1;

-- name: season of admissions for one chapter
-- tags: extract group by, join public
-- expect: answered
select extract(quarter from p.admission_date) as quarter, count(*) as n
from patients p
inner join icd_codes c on c.code = p.diagnosis
where c.chapter = 'respiratory'
group by extract(quarter from p.admission_date)
having count(*) >= 5
order by quarter;

-- name: weekend admissions
-- tags: join calendar
-- expect: answered
select d.is_weekend, count(*) as admissions
from patients p
join calendar d on d.day = p.admission_date
group by d.is_weekend;

-- name: admissions by day of the week
-- tags: extract group by
-- expect: answered
select extract(isodow from admission_date) as day_of_week, count(*)
from patients
group by 1
order by 1;

-- name: sex and ethnicity of a cohort
-- tags: where, between, group by two
-- expect: may be withheld: a cell may have fewer than k people
select sex, ethnicity, count(*)
from patients
where admission_date between date '2023-01-01' and date '2023-12-31' and diagnosis like 'I%'
group by sex, ethnicity;

-- name: missing discharge dates by year
-- tags: is null
-- expect: answered
select extract(year from admission_date)::integer as year,
       count(*) filter (where discharge_date is null) as open,
       count(*) filter (where discharge_date is not null) as closed
from patients
group by 1
order by 1;

-- name: median length of stay by chapter
-- tags: percentile, join public, date arithmetic
-- expect: answered
select c.chapter, percentile_cont(0.5) within group (order by p.discharge_date - p.admission_date) as median_days
from patients p
join icd_codes c on c.code = p.diagnosis
where p.discharge_date is not null
group by c.chapter;
