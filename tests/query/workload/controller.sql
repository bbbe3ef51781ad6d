-- Queries of a controller: money, workload, comparison of years.

-- name: total cost by ward
-- tags: sum
-- expect: answered
SELECT ward, SUM(cost) AS total, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY total DESC;

-- name: total of the house
-- tags: no group by
-- expect: answered
SELECT COUNT(*), SUM(cost), AVG(cost) FROM patients;

-- name: cost by year and quarter
-- tags: join calendar, sum
-- expect: answered
SELECT c.year, c.quarter, SUM(p.cost) AS total
FROM patients p JOIN calendar c ON c.day = p.admission_date
GROUP BY c.year, c.quarter
ORDER BY c.year, c.quarter;

-- name: cost by building and floor
-- tags: join public, sum
-- expect: answered
SELECT w.building, w.floor, SUM(p.cost) AS total, ROUND(AVG(p.cost), 2) AS mean
FROM patients AS p
INNER JOIN wards AS w ON p.ward = w.ward
GROUP BY w.building, w.floor;

-- name: cost per bed
-- tags: join public, arithmetic of aggregates and keys
-- expect: answered
SELECT w.ward, w.beds, SUM(p.cost) / w.beds AS per_bed
FROM patients p
JOIN wards w ON w.ward = p.ward
GROUP BY w.ward, w.beds
ORDER BY per_bed DESC;

-- name: wards above the budget
-- tags: having
-- expect: answered
SELECT ward, SUM(cost) AS total
FROM patients
GROUP BY ward
HAVING SUM(cost) > 1000000
ORDER BY 2 DESC;

-- name: expensive wards by average
-- tags: having avg, limit
-- expect: answered
SELECT ward, AVG(cost) FROM patients GROUP BY ward HAVING AVG(cost) >= 3000 AND COUNT(*) > 50 ORDER BY AVG(cost) DESC LIMIT 3;

-- name: quartiles of cost
-- tags: percentile
-- expect: answered
SELECT ward,
       PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY cost) AS q1,
       PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost) AS median,
       PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY cost) AS q3
FROM patients
GROUP BY ward;

-- name: quartiles as an array
-- tags: percentile array
-- expect: answered
SELECT PERCENTILE_CONT(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY cost) FROM patients;

-- name: spread of cost
-- tags: stddev, variance
-- expect: answered
SELECT sex, AVG(cost), STDDEV_SAMP(cost), VARIANCE(cost) FROM patients GROUP BY sex;

-- name: cost in classes of 1000
-- tags: floor group by, histogram
-- expect: answered
SELECT FLOOR(cost / 1000) * 1000 AS class, COUNT(*) AS n
FROM patients
WHERE cost < 9000
GROUP BY FLOOR(cost / 1000) * 1000
ORDER BY class;

-- name: cost in ten classes
-- tags: width_bucket, histogram
-- expect: answered
SELECT WIDTH_BUCKET(cost, 0, 10000, 5) AS class, COUNT(*), SUM(cost) FROM patients GROUP BY 1 ORDER BY 1;

-- name: highest and lowest bill
-- tags: min max sensitive
-- expect: may be refused: extremes of a sensitive column are single values; percentiles say nearly the same
SELECT ward, MIN(cost), MAX(cost) FROM patients GROUP BY ward;

-- name: first and last admission
-- tags: min max quasi-identifier
-- expect: may be refused: extremes are single values
SELECT MIN(admission_date), MAX(admission_date) FROM patients;

-- name: fees by department and kind
-- tags: protected many rows
-- expect: answered
SELECT department, kind, COUNT(*) AS visits, COUNT(DISTINCT patient_id) AS people, SUM(fee) AS fees
FROM visits
GROUP BY department, kind
ORDER BY department, kind;

-- name: visits without a fee
-- tags: is null, where
-- expect: answered
SELECT department, COUNT(*) FROM visits WHERE fee IS NULL GROUP BY department;

-- name: fees, missing ones as zero
-- tags: coalesce of an aggregate
-- expect: answered
SELECT department, COALESCE(SUM(fee), 0) AS fees FROM visits GROUP BY department;

-- name: fees, missing ones as zero row by row
-- tags: coalesce in an aggregate
-- expect: answered
SELECT department, AVG(COALESCE(fee, 0)) AS mean FROM visits GROUP BY department;

-- name: workload of physicians
-- tags: group by quasi-identifier
-- expect: may be withheld: one physician sees a single patient
SELECT physician, COUNT(*) AS visits, SUM(minutes) AS minutes FROM visits GROUP BY physician;

-- name: workload of physicians with many patients
-- tags: having count distinct
-- expect: may be withheld: HAVING hides a group of one, whose existence must not be disclosed
SELECT physician, COUNT(*) AS visits FROM visits GROUP BY physician HAVING COUNT(DISTINCT patient_id) >= 5;

-- name: hours by department
-- tags: arithmetic of aggregates
-- expect: answered
SELECT department, ROUND(SUM(minutes) / 60.0, 1) AS hours FROM visits GROUP BY department ORDER BY hours DESC;

-- name: minutes weighted by a constant
-- tags: affine argument
-- expect: answered
SELECT department, SUM(minutes * 1.19 + 5) AS billed FROM visits WHERE kind <> 'ward round' GROUP BY department;

-- name: fee per minute
-- tags: product of columns
-- expect: may be refused: a quotient of two columns inside the aggregate; sum(fee) / sum(minutes) is the usual figure
SELECT department, AVG(fee / minutes) FROM visits GROUP BY department;

-- name: fee per minute of the department
-- tags: arithmetic of aggregates
-- expect: answered
SELECT department, SUM(fee) / NULLIF(SUM(minutes), 0) AS per_minute FROM visits GROUP BY department;

-- name: this year and last year side by side
-- tags: filter, date constants
-- expect: answered
SELECT ward,
       SUM(cost) FILTER (WHERE admission_date >= DATE '2024-01-01') AS this_year,
       SUM(cost) FILTER (WHERE admission_date >= DATE '2023-01-01' AND admission_date < DATE '2024-01-01') AS last_year
FROM patients
GROUP BY ward;

-- name: this year and last year as two lists
-- tags: union all
-- expect: answered
SELECT 2023 AS year, ward, SUM(cost) AS total FROM patients
WHERE admission_date >= DATE '2023-01-01' AND admission_date < DATE '2024-01-01' GROUP BY ward
UNION ALL
SELECT 2024, ward, SUM(cost) FROM patients WHERE admission_date >= DATE '2024-01-01' GROUP BY ward
ORDER BY 2, 1;

-- name: growth by ward
-- tags: cte, join of levels
-- expect: answered
WITH y23 AS (
  SELECT ward, SUM(cost) AS total FROM patients
  WHERE admission_date BETWEEN DATE '2023-01-01' AND DATE '2023-12-31' GROUP BY ward
), y24 AS (
  SELECT ward, SUM(cost) AS total FROM patients
  WHERE admission_date BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' GROUP BY ward
)
SELECT y24.ward, y24.total - y23.total AS growth
FROM y24 JOIN y23 ON y23.ward = y24.ward;

-- name: average of the wards' totals
-- tags: derived table
-- expect: answered
SELECT AVG(total) AS mean_total, COUNT(*) AS wards
FROM (SELECT ward, SUM(cost) AS total FROM patients GROUP BY ward) AS t;

-- name: average number of visits of a patient
-- tags: derived table by person
-- expect: answered
SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS v;

-- name: average number of visits of a patient, as a quotient
-- tags: arithmetic of aggregates, count distinct
-- expect: answered
SELECT COUNT(*)::numeric / COUNT(DISTINCT patient_id) AS visits_per_patient FROM visits;

-- name: running total over months
-- tags: window over groups
-- expect: may be refused: window functions; the client can add up
SELECT DATE_TRUNC('month', admission_date) AS month, SUM(SUM(cost)) OVER (ORDER BY DATE_TRUNC('month', admission_date))
FROM patients
GROUP BY 1;

-- name: subtotals with ROLLUP
-- tags: grouping sets
-- expect: answered
SELECT w.building, p.ward, SUM(p.cost) FROM patients p JOIN wards w ON w.ward = p.ward GROUP BY ROLLUP (w.building, p.ward);

-- name: length of stay by ward from the view
-- tags: declared view, percentile
-- expect: answered
SELECT ward, AVG(days) AS mean_days, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY days) AS median_days
FROM stays
WHERE days IS NOT NULL
GROUP BY ward;
