-- A personnel department's reports.

-- name: headcount by department
-- reads: employees
-- expect: answered
SELECT d.name AS department, count(*) AS headcount FROM employees e JOIN departments d ON d.department = e.department WHERE e.left_on IS NULL GROUP BY d.name ORDER BY headcount DESC;

-- name: headcount against positions
-- reads: employees
-- expect: answered
SELECT d.name, count(*) AS filled, max(d.positions) AS planned, count(*)::numeric / max(d.positions) AS ratio
FROM employees e JOIN departments d ON d.department = e.department GROUP BY d.name;

-- name: every department, also empty ones
-- reads: employees
-- expect: answered
SELECT d.name, count(e.employee_id) AS employees, sum(e.fte) AS fte FROM departments d LEFT JOIN employees e ON e.department = d.department GROUP BY d.name;

-- name: every department with those still here
-- reads: employees
-- expect: answered
SELECT d.division, d.name, COUNT(e.employee_id) AS active
FROM departments d LEFT JOIN employees e ON e.department = d.department AND e.left_on IS NULL
GROUP BY d.division, d.name ORDER BY d.division, d.name;

-- name: mean salary by grade and gender
-- reads: employees
-- expect: answered
SELECT grade, gender, round(avg(salary), 2) AS mean_salary, count(*) AS n FROM employees GROUP BY grade, gender ORDER BY 1, 2;

-- name: gender pay gap
-- reads: employees
-- expect: answered
SELECT grade, 1 - avg(salary) FILTER (WHERE gender = 'f') / avg(salary) FILTER (WHERE gender = 'm') AS gap FROM employees GROUP BY grade;

-- name: gender pay gap with CASE
-- reads: employees
-- expect: answered
SELECT AVG(CASE WHEN gender = 'f' THEN salary END) / AVG(CASE WHEN gender = 'm' THEN salary END) AS ratio FROM employees;

-- name: payroll against the budget
-- reads: employees
-- expect: answered
SELECT d.name, sum(e.salary) / max(d.budget) AS used FROM employees e JOIN departments d ON e.department = d.department WHERE e.left_on IS NULL GROUP BY d.name ORDER BY used DESC;

-- name: full-time equivalents
-- reads: employees
-- expect: answered
SELECT site, sum(fte) AS fte, count(*) AS heads, sum(fte) / count(*) AS quota FROM employees WHERE left_on IS NULL GROUP BY site;

-- name: salary at full time
-- reads: employees
-- expect: answered
SELECT grade, avg(salary / nullif(fte, 0)) AS full_time_salary FROM employees GROUP BY grade;

-- name: mean tenure of leavers in days
-- reads: employees
-- expect: answered
SELECT department, avg(left_on - hired) AS days FROM employees WHERE left_on IS NOT NULL GROUP BY department;

-- name: mean tenure in years
-- reads: employees
-- expect: answered
SELECT grade, round(avg((date '2024-12-31' - hired) / 365.25), 1) AS years FROM employees WHERE left_on IS NULL GROUP BY grade;

-- name: mean tenure with age()
-- reads: employees
-- expect: answered
SELECT site, avg(age(coalesce(left_on, date '2024-12-31'), hired)) AS tenure FROM employees GROUP BY site;

-- name: mean tenure, missing ends replaced
-- reads: employees
-- expect: answered
SELECT site, avg(coalesce(left_on, date '2024-12-31') - hired) / 365.25 AS years FROM employees GROUP BY site;

-- name: mean age of the workforce
-- reads: employees
-- expect: answered
SELECT avg(date_part('year', age(current_date, birth_date))) AS mean_age FROM employees WHERE left_on IS NULL;

-- name: mean age at hire
-- reads: employees
-- expect: answered
SELECT grade, avg(extract(year from hired) - extract(year from birth_date)) AS age_at_hire FROM employees GROUP BY grade;

-- name: age structure
-- reads: employees
-- expect: answered
SELECT CASE WHEN birth_date > date '1994-12-31' THEN 'under 30' WHEN birth_date > date '1974-12-31' THEN '30 to 49' ELSE '50 and more' END AS age,
       gender, count(*) FROM employees WHERE left_on IS NULL GROUP BY 1, 2 ORDER BY 1, 2;

-- name: hires by year
-- reads: employees
-- expect: answered
SELECT extract(year from hired)::int AS year, count(*) AS hires FROM employees GROUP BY 1 ORDER BY 1;

-- name: hires by quarter as dates
-- reads: employees
-- expect: answered
SELECT date_trunc('quarter', hired)::date AS quarter, count(*) AS hires FROM employees GROUP BY 1 ORDER BY 1;

-- name: leavers by year and division
-- reads: employees
-- expect: answered
SELECT date_part('year', e.left_on) AS year, count(*) AS leavers FROM employees e WHERE e.left_on >= '2013-01-01' AND e.left_on < '2024-01-01' GROUP BY 1 ORDER BY 1;

-- name: turnover
-- reads: employees
-- expect: answered
SELECT site, count(left_on)::numeric / count(*) AS turnover FROM employees GROUP BY site;

-- name: turnover as a percentage of CASE
-- reads: employees
-- expect: answered
SELECT department, 100.0 * sum(CASE WHEN left_on IS NOT NULL THEN 1 ELSE 0 END) / count(*) AS turnover FROM employees GROUP BY department;

-- name: share of women among leads
-- reads: employees
-- expect: answered
SELECT round(100.0 * count(*) FILTER (WHERE gender = 'f' AND grade = 'lead') / count(*) FILTER (WHERE grade = 'lead'), 1) FROM employees;

-- name: sick days per head
-- reads: employees
-- expect: answered
SELECT department, sum(sick_days)::float / count(*) AS per_head, percentile_cont(0.5) WITHIN GROUP (ORDER BY sick_days) AS median FROM employees GROUP BY department;

-- name: sick days above the firm's mean
-- reads: employees
-- expect: answered
SELECT department, avg(sick_days) FROM employees GROUP BY department HAVING avg(sick_days) >= (SELECT avg(sick_days) FROM employees);

-- name: employees above the mean salary
-- reads: employees
-- expect: answered
SELECT gender, count(*) FROM employees WHERE salary > (SELECT avg(salary) FROM employees) GROUP BY gender;

-- name: employees above the mean salary of their grade
-- reads: employees
-- expect: answered
SELECT e.gender, count(*) FROM employees e WHERE e.salary > (SELECT avg(x.salary) FROM employees x WHERE x.grade = e.grade) GROUP BY e.gender;

-- name: salary relative to the firm
-- reads: employees
-- expect: answered
SELECT grade, avg(salary) / (SELECT avg(salary) FROM employees) AS relative FROM employees GROUP BY grade;

-- name: bonus quota
-- reads: employees
-- expect: may be refused: each person would be weighed by a number of their own
SELECT grade, avg(bonus / salary) AS quota FROM employees WHERE bonus IS NOT NULL GROUP BY grade;

-- name: bonus quota of the grade
-- reads: employees
-- expect: answered
SELECT grade, sum(bonus) / sum(salary) AS quota FROM employees WHERE bonus IS NOT NULL GROUP BY grade;

-- name: total pay
-- reads: employees
-- expect: answered
SELECT department, sum(salary + coalesce(bonus, 0)) AS pay FROM employees GROUP BY department;

-- name: salary bands
-- reads: employees
-- expect: answered
SELECT floor(salary / 10000) * 10000 AS band, count(*) AS n FROM employees GROUP BY 1 ORDER BY 1;

-- name: ratings
-- reads: employees
-- expect: answered
SELECT rating, count(*) AS n, avg(salary) FROM employees WHERE rating IS NOT NULL GROUP BY rating ORDER BY rating;

-- name: correlation of rating and salary
-- reads: employees
-- expect: answered
SELECT corr(rating, salary) AS r, count(*) FROM employees WHERE rating IS NOT NULL;

-- name: commonest rating
-- reads: employees
-- expect: answered
SELECT grade, mode() WITHIN GROUP (ORDER BY rating) AS usual FROM employees WHERE rating IS NOT NULL GROUP BY grade;

-- name: highest and lowest salary
-- reads: employees
-- expect: may be refused: it is one person's value
SELECT grade, min(salary), max(salary) FROM employees GROUP BY grade;

-- name: salary spread by percentiles
-- reads: employees
-- expect: answered
SELECT grade, percentile_cont(0.9) WITHIN GROUP (ORDER BY salary) / percentile_cont(0.1) WITHIN GROUP (ORDER BY salary) AS p90_p10 FROM employees GROUP BY grade;

-- name: a report with common table expressions
-- reads: employees
-- expect: answered
WITH active AS (
    SELECT * FROM employees WHERE left_on IS NULL
), by_department AS (
    SELECT department, count(*) AS heads, avg(salary) AS mean_salary FROM active GROUP BY department
)
SELECT d.name, b.heads, round(b.mean_salary, 0) AS mean_salary FROM by_department b JOIN departments d ON d.department = b.department ORDER BY d.name;

-- name: a tool's quoted aggregate
-- reads: employees
-- expect: answered
SELECT "rows"."site" AS "site", sum("rows"."salary") AS "a0"
FROM (SELECT "_"."site", "_"."salary" FROM "public"."employees" "_" WHERE "_"."grade" = 'senior') "rows"
GROUP BY "site" LIMIT 1000001;

-- name: a tool's test for any lead
-- reads: employees
-- expect: answered
SELECT "public"."employees"."department" AS "department", bool_or("public"."employees"."grade" = 'lead') AS "has lead"
FROM "public"."employees" GROUP BY "public"."employees"."department";

-- name: names of a department
-- reads: employees
-- expect: may be refused: they are single people
SELECT d.name, string_agg(e.name, ', ' ORDER BY e.name) FROM employees e JOIN departments d ON d.department = e.department GROUP BY d.name;

-- name: sites of a department as a list
-- reads: employees
-- expect: answered
SELECT department, string_agg(DISTINCT site, ', ' ORDER BY site) AS sites FROM employees GROUP BY department;

-- name: departments with many seniors
-- reads: employees
-- expect: answered
SELECT department FROM employees WHERE grade = 'senior' GROUP BY department HAVING count(*) > 70 ORDER BY department;
