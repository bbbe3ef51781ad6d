-- A statistical office's tables of residents.

-- name: residents by region and sex
-- reads: residents
-- expect: answered
SELECT region, sex, count(*) AS residents FROM residents GROUP BY region, sex ORDER BY region, sex;

-- name: age pyramid
-- reads: residents
-- expect: answered
SELECT (2024 - birth_year) / 10 * 10 AS age_from, sex, count(*) FROM residents GROUP BY 1, 2 ORDER BY 1, 2;

-- name: mean age from the year of birth
-- reads: residents
-- expect: answered
SELECT region, avg(2024 - birth_year) AS mean_age FROM residents GROUP BY region;

-- name: mean age on the day of the census
-- reads: residents
-- expect: answered
SELECT region, round(avg(extract(year from age(date '2024-05-15', birth_date))), 1) AS mean_age FROM residents GROUP BY region;

-- name: mean age today
-- reads: residents
-- expect: answered
SELECT sex, avg(extract(year from age(birth_date))) AS mean_age FROM residents GROUP BY sex;

-- name: mean age with current_date
-- reads: residents
-- expect: answered
SELECT avg(extract(year from current_date) - extract(year from birth_date))::numeric(10, 1) AS mean_age FROM residents;

-- name: mean age as an interval
-- reads: residents
-- expect: answered
SELECT marital, avg(age(date '2024-05-15', birth_date)) AS mean_age FROM residents GROUP BY marital;

-- name: mean age with a cast
-- reads: residents
-- expect: answered
SELECT region, AVG(EXTRACT(YEAR FROM AGE('2024-05-15'::date, birth_date))::int) FROM residents GROUP BY region;

-- name: median age
-- reads: residents
-- expect: answered
SELECT region, percentile_cont(0.5) WITHIN GROUP (ORDER BY 2024 - birth_year) AS median_age FROM residents GROUP BY region;

-- name: density
-- reads: residents
-- expect: answered
SELECT r.region, count(*) / max(r.area) AS density FROM residents p JOIN regions r ON r.region = p.region GROUP BY r.region ORDER BY density DESC;

-- name: share of the population
-- reads: residents
-- expect: answered
SELECT r.region, r.population, round(count(*)::numeric / r.population, 4) AS share
FROM residents p JOIN regions r USING (region) GROUP BY r.region, r.population;

-- name: density by state
-- reads: residents
-- expect: answered
WITH counted AS (SELECT region, count(*) AS residents FROM residents GROUP BY region)
SELECT r.state, sum(c.residents) / sum(r.area) AS density FROM counted c JOIN regions r ON r.region = c.region GROUP BY r.state;

-- name: unemployment rate
-- reads: residents
-- expect: answered
SELECT region, 100.0 * count(*) FILTER (WHERE unemployed) / count(*) AS rate FROM residents WHERE birth_year BETWEEN 1959 AND 2008 GROUP BY region;

-- name: unemployment rate by an average
-- reads: residents
-- expect: answered
SELECT education, avg(unemployed::int) * 100 AS rate FROM residents GROUP BY education;

-- name: unemployment rate by CASE
-- reads: residents
-- expect: answered
SELECT sex, ROUND(SUM(CASE WHEN unemployed THEN 1 ELSE 0 END)::numeric / COUNT(*) * 100, 2) AS rate FROM residents GROUP BY sex;

-- name: mean income
-- reads: residents
-- expect: answered
SELECT education, count(income) AS answered, avg(income) AS mean_income, stddev_samp(income) FROM residents GROUP BY education;

-- name: income of those who work
-- reads: residents
-- expect: answered
SELECT occupation, avg(income) FROM residents WHERE occupation IS NOT NULL GROUP BY occupation ORDER BY 2 DESC;

-- name: income classes
-- reads: residents
-- expect: answered
SELECT width_bucket(income, 10000, 80000, 7) AS class, count(*) FROM residents WHERE income IS NOT NULL GROUP BY 1 ORDER BY 1;

-- name: income classes by name
-- reads: residents
-- expect: answered
SELECT CASE WHEN income IS NULL THEN 'unknown' WHEN income < 25000 THEN 'low' WHEN income < 50000 THEN 'middle' ELSE 'high' END AS class,
       count(*) AS n
FROM residents
GROUP BY CASE WHEN income IS NULL THEN 'unknown' WHEN income < 25000 THEN 'low' WHEN income < 50000 THEN 'middle' ELSE 'high' END;

-- name: hourly income
-- reads: residents
-- expect: answered
SELECT occupation, avg(income / nullif(hours * 52, 0)) AS hourly FROM residents WHERE occupation IS NOT NULL GROUP BY occupation;

-- name: hourly income of the group
-- reads: residents
-- expect: answered
SELECT occupation, sum(income) / nullif(sum(hours) * 52, 0) AS hourly FROM residents WHERE income IS NOT NULL AND hours IS NOT NULL GROUP BY occupation;

-- name: poverty rate against the mean
-- reads: residents
-- expect: answered
SELECT region, avg(CASE WHEN income < 0.6 * (SELECT avg(income) FROM residents) THEN 1.0 ELSE 0.0 END) AS poor FROM residents WHERE income IS NOT NULL GROUP BY region;

-- name: residents below the mean income
-- reads: residents
-- expect: answered
SELECT sex, count(*) FROM residents WHERE income < (SELECT avg(income) FROM residents) GROUP BY sex;

-- name: residents below 60 percent of the median
-- reads: residents
-- expect: answered
SELECT count(*) FROM residents WHERE income < (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY income) * 0.6 FROM residents);

-- name: regions above the country's mean
-- reads: residents
-- expect: answered
SELECT region, avg(income) AS mean_income FROM residents GROUP BY region HAVING avg(income) > (SELECT avg(income) FROM residents);

-- name: correlation of hours and income
-- reads: residents
-- expect: answered
SELECT sex, corr(hours, income) AS r FROM residents GROUP BY sex;

-- name: commonest occupation
-- reads: residents
-- expect: answered
SELECT region, mode() WITHIN GROUP (ORDER BY occupation) FROM residents WHERE occupation IS NOT NULL GROUP BY region;

-- name: commonest occupations by frequency
-- reads: residents
-- expect: answered
SELECT occupation, count(*) AS n FROM residents GROUP BY occupation ORDER BY n DESC LIMIT 3;

-- name: residents and education as a cross table
-- reads: residents
-- expect: answered
SELECT region,
       count(*) FILTER (WHERE education = 'basic') AS basic,
       count(*) FILTER (WHERE education = 'secondary') AS secondary,
       count(*) FILTER (WHERE education = 'tertiary') AS tertiary
FROM residents GROUP BY region ORDER BY region;

-- name: residents and education as sums of CASE
-- reads: residents
-- expect: answered
SELECT region, SUM(CASE education WHEN 'tertiary' THEN 1 ELSE 0 END) AS tertiary, COUNT(1) AS n FROM residents GROUP BY region;

-- name: foreigners by region and marital status with totals
-- reads: residents
-- expect: answered
SELECT marital, citizenship, count(*) FROM residents GROUP BY ROLLUP (marital, citizenship);

-- name: commuters
-- reads: residents
-- expect: answered
SELECT r.urban, avg(p.commute) AS minutes, count(p.commute) AS commuters FROM residents p JOIN regions r ON p.region = r.region GROUP BY r.urban;

-- name: rooms per resident
-- reads: residents
-- expect: answered
SELECT r.state, round(avg(p.rooms), 2) AS rooms FROM residents p LEFT JOIN regions r ON p.region = r.region GROUP BY r.state;

-- name: every region with its residents
-- reads: residents
-- expect: answered
SELECT r.region, r.state, count(p.person_id) AS residents FROM regions r LEFT JOIN residents p ON p.region = r.region GROUP BY r.region, r.state ORDER BY 1;

-- name: every region with foreigners
-- reads: residents
-- expect: answered
SELECT r.region, count(p.person_id) AS foreigners FROM regions r LEFT JOIN residents p ON p.region = r.region AND p.citizenship = 'foreign' GROUP BY r.region;

-- name: large regions
-- reads: residents
-- expect: answered
SELECT region, count(*) AS n FROM residents GROUP BY region HAVING count(*) > 300 ORDER BY n DESC;

-- name: generations
-- reads: residents
-- expect: answered
SELECT CASE WHEN birth_year < 1946 THEN 'war' WHEN birth_year BETWEEN 1946 AND 1964 THEN 'boomers' WHEN birth_year BETWEEN 1965 AND 1980 THEN 'X' ELSE 'younger' END AS generation,
       avg(income) AS income, avg(rooms) AS rooms
FROM residents GROUP BY 1;

-- name: share of each marital status in its sex
-- reads: residents
-- expect: answered
SELECT sex, marital, count(*) * 100.0 / sum(count(*)) OVER (PARTITION BY sex) AS percent FROM residents GROUP BY sex, marital;

-- name: Gini input of deciles
-- reads: residents
-- expect: answered
SELECT percentile_cont(ARRAY[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]) WITHIN GROUP (ORDER BY income) FROM residents;

-- name: any unemployed in a region
-- reads: residents
-- expect: answered
SELECT region, bool_or(unemployed) AS some, bool_and(unemployed) AS everybody FROM residents GROUP BY region;

-- name: a chart with a virtual table
-- reads: residents
-- expect: answered
SELECT education AS education, sum(n) AS "SUM(n)" FROM (SELECT education, sex, count(*) AS n FROM residents GROUP BY education, sex) AS virtual_table GROUP BY education ORDER BY "SUM(n)" DESC LIMIT 1000;

-- name: a compiler's subquery
-- reads: residents
-- expect: answered
-- $1 text = tertiary
-- $2 int4 = 1990
SELECT anon_1.region, count(anon_1.sex) AS count_1
FROM (SELECT residents.region AS region, residents.sex AS sex FROM residents WHERE residents.education = $1 AND residents.birth_year < $2) AS anon_1
GROUP BY anon_1.region;

-- name: residents by letters of the region
-- reads: residents
-- expect: answered
SELECT substring(region from 1 for 1) AS letter, length(region) AS digits, count(*) FROM residents GROUP BY 1, 2;
