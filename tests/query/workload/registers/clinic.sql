-- A clinic's controllers, epidemiologists and their dashboards.

-- name: mean length of stay as an interval
-- reads: stays
-- expect: answered
SELECT ward, avg(discharged - admitted) AS mean_stay FROM stays GROUP BY ward ORDER BY ward;

-- name: mean length of stay in days, from an epoch
-- reads: stays
-- expect: answered
SELECT ward, ROUND((avg(EXTRACT(EPOCH FROM (discharged - admitted))) / 86400)::numeric, 2) AS days
FROM stays WHERE discharged IS NOT NULL GROUP BY ward;

-- name: mean length of stay in days, divided inside
-- reads: stays
-- expect: answered
SELECT ward, avg(EXTRACT(EPOCH FROM discharged - admitted) / 86400) AS days FROM stays GROUP BY ward;

-- name: mean length of stay, divided by 86400.0
-- reads: stays
-- expect: answered
SELECT avg(extract(epoch from (discharged - admitted)) / 86400.0) FROM stays WHERE ward = 'oncology';

-- name: mean length of stay of whole days
-- reads: stays
-- expect: answered
SELECT ward, avg(discharge_day - admission_day) AS days, count(*) AS stays FROM stays GROUP BY ward;

-- name: mean length of stay, timestamps cast to dates
-- reads: stays
-- expect: answered
SELECT ward, round(avg(discharged::date - admitted::date), 1) AS alos FROM stays WHERE discharged IS NOT NULL GROUP BY ward ORDER BY alos DESC;

-- name: bed days
-- reads: stays
-- expect: answered
SELECT ward, sum(discharge_day - admission_day) AS bed_days FROM stays WHERE discharge_day IS NOT NULL GROUP BY 1 ORDER BY 2 DESC;

-- name: bed days, at least one for each stay
-- reads: stays
-- expect: answered
SELECT ward, sum(discharge_day - admission_day + 1) AS bed_days FROM stays GROUP BY ward;

-- name: hours in the house
-- reads: stays
-- expect: answered
SELECT date_trunc('year', admitted)::date AS year, sum(extract(epoch FROM discharged - admitted)) / 3600 AS hours
FROM stays WHERE discharged IS NOT NULL GROUP BY 1 ORDER BY 1;

-- name: mean age at admission by age()
-- reads: stays
-- expect: answered
SELECT ward, avg(extract(year FROM age(admission_day, birth_date))) AS mean_age FROM stays GROUP BY ward;

-- name: mean age by the difference of years
-- reads: stays
-- expect: answered
SELECT sex, avg(extract(year from admitted) - extract(year from birth_date)) AS mean_age FROM stays GROUP BY sex;

-- name: mean age in days over 365.25
-- reads: stays
-- expect: answered
SELECT sex, round(avg((admission_day - birth_date) / 365.25), 1) AS mean_age, count(*) FROM stays GROUP BY sex;

-- name: mean age with date_part
-- reads: stays
-- expect: answered
SELECT ward, AVG(DATE_PART('year', AGE(admitted, birth_date))) AS avg_age FROM stays GROUP BY ward;

-- name: age groups
-- reads: stays
-- expect: answered
SELECT CASE WHEN date_part('year', age(admitted, birth_date)) < 40 THEN '0-39'
            WHEN date_part('year', age(admitted, birth_date)) < 65 THEN '40-64'
            ELSE '65+' END AS age_group, count(*) AS n
FROM stays GROUP BY 1 ORDER BY 1;

-- name: age in decades
-- reads: stays
-- expect: answered
SELECT floor(extract(year from age(admission_day, birth_date)) / 10) * 10 AS decade, count(DISTINCT patient_id) AS patients
FROM stays WHERE birth_date BETWEEN '1935-01-01' AND '2003-12-31' GROUP BY 1 ORDER BY 1;

-- name: admissions by month as dates
-- reads: stays
-- expect: answered
SELECT date_trunc('month', admitted)::date AS month, count(*) FROM stays GROUP BY 1 ORDER BY 1;

-- name: admissions by month as dates, the expression repeated
-- reads: stays
-- expect: answered
SELECT DATE_TRUNC('month', admitted)::DATE AS month, COUNT(*) AS admissions, AVG(cost) AS mean_cost
FROM stays
GROUP BY DATE_TRUNC('month', admitted)::DATE
ORDER BY DATE_TRUNC('month', admitted)::DATE;

-- name: admissions by month of a date column
-- reads: stays
-- expect: answered
SELECT date_trunc('month', admission_day)::date AS month, count(*) FROM stays GROUP BY date_trunc('month', admission_day)::date ORDER BY month;

-- name: cost per day
-- reads: stays
-- expect: answered
SELECT ward, avg(cost / nullif(los, 0)) AS cost_per_day FROM stays GROUP BY ward;

-- name: cost per day of the ward
-- reads: stays
-- expect: answered
SELECT ward, sum(cost) / nullif(sum(los), 0) AS cost_per_day FROM stays WHERE los IS NOT NULL GROUP BY ward;

-- name: correlation of stay and cost
-- reads: stays
-- expect: answered
SELECT corr(los, cost) FROM stays;

-- name: stays per bed
-- reads: stays
-- expect: answered
SELECT w.ward, count(*)::numeric / max(w.beds) AS stays_per_bed FROM stays s JOIN wards w ON w.ward = s.ward GROUP BY w.ward;

-- name: occupancy of beds
-- reads: stays
-- expect: answered
SELECT w.ward, ROUND(100.0 * SUM(s.discharge_day - s.admission_day) / (MAX(w.beds) * 1096), 1) AS occupancy
FROM stays s JOIN wards w USING (ward) WHERE s.discharge_day IS NOT NULL GROUP BY w.ward ORDER BY occupancy DESC;

-- name: beds beside stays
-- reads: stays
-- expect: answered
SELECT w.building, count(*) AS stays, min(w.beds) AS smallest, max(w.beds) AS largest FROM stays s JOIN wards w ON s.ward = w.ward GROUP BY w.building;

-- name: all wards, also those without stays
-- reads: stays
-- expect: answered
SELECT w.ward, count(s.stay_id) AS stays FROM wards w LEFT JOIN stays s ON s.ward = w.ward GROUP BY w.ward ORDER BY w.ward;

-- name: all wards with mean cost
-- reads: stays
-- expect: answered
SELECT w.title, count(s.patient_id) AS stays, coalesce(avg(s.cost), 0) AS mean_cost
FROM wards AS w LEFT OUTER JOIN stays AS s ON w.ward = s.ward
GROUP BY w.title
ORDER BY stays DESC;

-- name: all wards joined with counted stays
-- reads: stays
-- expect: answered
SELECT w.ward, coalesce(n.stays, 0) AS stays
FROM wards w LEFT JOIN (SELECT ward, count(*) AS stays FROM stays GROUP BY ward) n ON n.ward = w.ward
ORDER BY w.ward;

-- name: stays dearer than the average
-- reads: stays
-- expect: answered
SELECT ward, count(*) AS dear FROM stays WHERE cost > (SELECT avg(cost) FROM stays) GROUP BY ward;

-- name: wards dearer than the average
-- reads: stays
-- expect: answered
SELECT ward, avg(cost) AS mean_cost FROM stays GROUP BY ward HAVING avg(cost) > (SELECT avg(cost) FROM stays) ORDER BY 2 DESC;

-- name: each ward against the house
-- reads: stays
-- expect: answered
SELECT ward, avg(cost) - (SELECT avg(cost) FROM stays) AS above_mean FROM stays GROUP BY ward;

-- name: share of all stays
-- reads: stays
-- expect: answered
SELECT ward, round(100.0 * count(*) / (SELECT count(*) FROM stays), 1) AS percent FROM stays GROUP BY ward ORDER BY percent DESC;

-- name: commonest diagnosis of a ward
-- reads: stays
-- expect: answered
SELECT ward, mode() WITHIN GROUP (ORDER BY diagnosis) AS commonest FROM stays GROUP BY ward;

-- name: wards with deaths
-- reads: stays
-- expect: answered
SELECT ward, bool_or(died) AS any_death, count(*) FROM stays GROUP BY ward;

-- name: death rate
-- reads: stays
-- expect: answered
SELECT diagnosis, round(100.0 * count(*) FILTER (WHERE died) / count(*), 2) AS lethality FROM stays GROUP BY diagnosis ORDER BY lethality DESC;

-- name: death rate by a sum of casts
-- reads: stays
-- expect: answered
SELECT diagnosis, SUM(died::int) * 1.0 / COUNT(*) AS lethality FROM stays GROUP BY diagnosis;

-- name: readmission rate by an average of CASE
-- reads: stays
-- expect: answered
SELECT ward, AVG(CASE WHEN readmitted THEN 1.0 ELSE 0 END) AS readmission_rate FROM stays GROUP BY ward HAVING COUNT(*) >= 30;

-- name: case mix
-- reads: stays
-- expect: answered
SELECT ward, avg(severity) AS case_mix, stddev(severity) AS spread FROM stays GROUP BY ward;

-- name: quartiles of cost
-- reads: stays
-- expect: answered
SELECT ward, percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY cost) AS quartiles FROM stays GROUP BY ward;

-- name: median length of stay
-- reads: stays
-- expect: answered
SELECT diagnosis, percentile_cont(0.5) WITHIN GROUP (ORDER BY los) AS median_los FROM stays WHERE los IS NOT NULL GROUP BY diagnosis;

-- name: diagnoses by chapter
-- reads: stays
-- expect: answered
SELECT d.chapter, count(*) AS stays, count(DISTINCT s.patient_id) AS patients
FROM stays s INNER JOIN diagnoses d ON d.code = s.diagnosis
WHERE d.chronic GROUP BY d.chapter ORDER BY stays DESC;

-- name: long and short stays
-- reads: stays
-- expect: answered
SELECT ward, count(*) FILTER (WHERE los >= 7) AS long, count(*) FILTER (WHERE los < 7) AS short, count(*) AS n FROM stays GROUP BY ward;

-- name: admissions by day of the week
-- reads: stays
-- expect: answered
SELECT to_char(admitted, 'ID') AS weekday, extract(isodow from admitted) AS number, count(*) FROM stays GROUP BY 1, 2 ORDER BY 2;

-- name: night admissions
-- reads: stays
-- expect: answered
SELECT ward, count(*) AS at_night FROM stays WHERE extract(hour from admitted) NOT BETWEEN 8 AND 18 GROUP BY ward;

-- name: stays per patient
-- reads: stays
-- expect: answered
SELECT avg(n) AS stays_per_patient FROM (SELECT patient_id, count(*) AS n FROM stays GROUP BY patient_id) AS t;

-- name: a card of a dashboard with three-part names
-- reads: stays
-- expect: answered
SELECT "public"."stays"."ward" AS "ward", COUNT(*) AS "count" FROM "public"."stays" GROUP BY "public"."stays"."ward" ORDER BY "count" DESC, "public"."stays"."ward" ASC;

-- name: a card of a dashboard by month
-- reads: stays
-- expect: answered
SELECT CAST(DATE_TRUNC('month', "public"."stays"."admitted") AS date) AS "admitted", AVG("public"."stays"."cost") AS "avg"
FROM "public"."stays"
WHERE ("public"."stays"."admitted" >= timestamp '2022-01-01 00:00:00.000') AND ("public"."stays"."admitted" < timestamp '2024-01-01 00:00:00.000')
GROUP BY CAST(DATE_TRUNC('month', "public"."stays"."admitted") AS date)
ORDER BY CAST(DATE_TRUNC('month', "public"."stays"."admitted") AS date) ASC;

-- name: a card of a dashboard with bins
-- reads: stays
-- expect: answered
SELECT (FLOOR(("public"."stays"."cost" / 1000.0)) * 1000.0) AS "cost", COUNT(*) AS "count"
FROM "public"."stays" GROUP BY (FLOOR(("public"."stays"."cost" / 1000.0)) * 1000.0) ORDER BY (FLOOR(("public"."stays"."cost" / 1000.0)) * 1000.0) ASC;

-- name: a card of a dashboard with a share
-- reads: stays
-- expect: answered
SELECT "source"."ward" AS "ward", CAST(SUM(CASE WHEN "source"."died" = TRUE THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(CAST(COUNT(*) AS DOUBLE PRECISION), 0.0) AS "share"
FROM (SELECT "public"."stays"."ward" AS "ward", "public"."stays"."died" AS "died" FROM "public"."stays") AS "source"
GROUP BY "source"."ward" ORDER BY "source"."ward" ASC;

-- name: a panel with a time filter
-- reads: stays
-- expect: answered
SELECT date_trunc('week', admission_day) AS "time", count(*) AS value FROM stays
WHERE admission_day BETWEEN '2022-01-03T00:00:00Z' AND '2024-12-29T23:59:59Z' GROUP BY 1 ORDER BY 1;

-- name: a panel with a time group
-- reads: stays
-- expect: answered
SELECT floor(extract(epoch from admitted)/2592000)*2592000 AS "time", avg(cost) AS "mean cost"
FROM stays WHERE admitted BETWEEN '2022-01-15T00:00:00Z' AND '2024-11-30T23:59:59Z'
GROUP BY 1 ORDER BY 1;

-- name: first and last day
-- reads: stays
-- expect: may be refused: it is one person's value
SELECT min(admission_day), max(admission_day) FROM stays;

-- name: dearest stay of a ward
-- reads: stays
-- expect: may be refused: it is one person's value
SELECT ward, max(cost) FROM stays GROUP BY ward;

-- name: patients with a stay in two wards
-- reads: stays
-- expect: answered
SELECT count(DISTINCT a.patient_id) FROM stays a JOIN stays b ON a.patient_id = b.patient_id WHERE a.ward = 'surgery' AND b.ward = 'neurology';

-- name: a year against the one before
-- reads: stays
-- expect: answered
WITH y AS (SELECT ward, extract(year from admitted) AS year, sum(cost) AS total FROM stays GROUP BY ward, extract(year from admitted))
SELECT a.ward, a.total AS this_year, b.total AS last_year, round(100 * (a.total - b.total) / b.total, 1) AS change
FROM y a JOIN y b ON a.ward = b.ward WHERE a.year = 2024 AND b.year = 2023;
