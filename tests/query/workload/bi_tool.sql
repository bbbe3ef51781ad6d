-- What tools for dashboards send: quoted names, schemas, sub-selects around everything, constant conditions.

-- name: bar chart
-- tags: quoted names
-- expect: answered
SELECT "patients"."ward" AS "Ward", COUNT(*) AS "Number of Records" FROM "hospital"."patients" "patients" GROUP BY "patients"."ward";

-- name: bar chart with a condition that is always true
-- tags: constant condition
-- expect: answered
SELECT "p"."sex" AS "sex", SUM("p"."cost") AS "sum_cost" FROM "hospital"."patients" "p" WHERE 1 = 1 GROUP BY "p"."sex" HAVING COUNT(1) > 0;

-- name: time line
-- tags: date_trunc, cast
-- expect: answered
SELECT CAST(DATE_TRUNC('QUARTER', CAST("p"."admission_date" AS TIMESTAMP)) AS DATE) AS "q", COUNT("p"."patient_id") AS "n"
FROM "hospital"."patients" "p"
GROUP BY 1
ORDER BY 1 ASC NULLS LAST
LIMIT 500;

-- name: filter from a drop-down
-- tags: in, quoted names
-- expect: answered
SELECT "source"."ward" AS "ward", avg("source"."cost") AS "avg"
FROM "hospital"."patients" AS "source"
WHERE ("source"."sex" = 'F' AND "source"."ward" IN ('oncology', 'surgery', 'internal'))
GROUP BY "source"."ward"
ORDER BY "source"."ward" ASC;

-- name: grouped query wrapped in a sub-select
-- tags: derived table, limit
-- expect: answered
SELECT "t0"."ward" AS "c1", "t0"."n" AS "c2"
FROM (SELECT "ward", COUNT(*) AS "n" FROM "hospital"."patients" GROUP BY "ward") AS "t0"
ORDER BY "c2" DESC
LIMIT 1000;

-- name: values of a drop-down
-- tags: distinct
-- expect: answered
SELECT DISTINCT "department" FROM "hospital"."visits" ORDER BY "department" LIMIT 1001;

-- name: table wrapped as custom SQL
-- tags: derived table of rows
-- expect: answered
SELECT "custom"."ward", SUM("custom"."cost") FROM (SELECT * FROM "hospital"."patients") "custom" GROUP BY "custom"."ward";

-- name: key figure
-- tags: count distinct
-- expect: answered
SELECT COUNT(DISTINCT "visits"."patient_id") AS "ctd:patient_id:ok" FROM "hospital"."visits" "visits";

-- name: key figure with a cast
-- tags: cast, avg
-- expect: answered
SELECT CAST(AVG("minutes") AS DECIMAL(10, 2)) AS "avg_minutes" FROM "hospital"."visits";

-- name: pivot table
-- tags: group by three
-- expect: may be withheld: a cell may have fewer than k people
SELECT "ward", "sex", "ethnicity", COUNT(*) AS "n", SUM("cost") AS "cost" FROM "hospital"."patients" GROUP BY "ward", "sex", "ethnicity";

-- name: map
-- tags: join public, having not null
-- expect: answered
SELECT "z"."zip", "z"."city", COUNT(*) AS "n"
FROM "hospital"."patients" "p" INNER JOIN "hospital"."zip_regions" "z" ON ("p"."zip" = "z"."zip")
WHERE (NOT ("z"."city" IS NULL))
GROUP BY "z"."zip", "z"."city";

-- name: histogram with bins of the tool
-- tags: floor, cast, arithmetic
-- expect: answered
SELECT (FLOOR(("cost" - 0.0) / 1500) * 1500) + 0.0 AS "bin", COUNT(*) AS "count"
FROM "hospital"."patients" WHERE "cost" BETWEEN 0 AND 8999.99 GROUP BY (FLOOR(("cost" - 0.0) / 1500) * 1500) + 0.0 ORDER BY "bin" ASC;

-- name: stacked bars with a group of the tool
-- tags: case group by
-- expect: answered
SELECT (CASE WHEN ("ward" IN ('icu', 'surgery', 'orthopedics')) THEN 'operating' WHEN ("ward" IN ('psychiatry', 'neurology')) THEN 'head' ELSE 'other' END) AS "group",
       "sex", COUNT(1) AS "n"
FROM "hospital"."patients"
GROUP BY 1, 2;

-- name: sum of a number for each record
-- tags: constant aggregate
-- expect: answered
SELECT SUM(1) AS "sum:Number of Records:ok", "ward" FROM "hospital"."patients" GROUP BY "ward";

-- name: relative period
-- tags: current_date
-- expect: may be refused: a query whose meaning changes with the clock
SELECT COUNT(*) FROM "hospital"."patients" WHERE "admission_date" >= CURRENT_DATE - INTERVAL '5 years';

-- name: top wards by count with ties broken by name
-- tags: order by two, limit, offset
-- expect: answered
SELECT "ward", COUNT(*) AS "n" FROM "hospital"."patients" GROUP BY "ward" ORDER BY "n" DESC, "ward" ASC LIMIT 3 OFFSET 1;

-- name: structure of a table
-- tags: no row
-- expect: answered
SELECT * FROM "hospital"."patients" WHERE 1 = 0;

-- name: cross filter of two charts
-- tags: join public, and or
-- expect: answered
SELECT "w"."specialty" AS "specialty", "p"."sex" AS "sex", COUNT(*) AS "n"
FROM "hospital"."patients" "p" JOIN "hospital"."wards" "w" ON "w"."ward" = "p"."ward"
WHERE (("w"."building" = 'A') OR ("w"."building" = 'B')) AND ("p"."readmitted" = TRUE)
GROUP BY "w"."specialty", "p"."sex"
ORDER BY "n" DESC;

-- name: union of two data sources
-- tags: union all, quoted names
-- expect: answered
SELECT "department" AS "unit", 'visits' AS "source", COUNT(*) AS "n" FROM "hospital"."visits" GROUP BY "department"
UNION ALL
SELECT "ward" AS "unit", 'stays' AS "source", COUNT(*) AS "n" FROM "hospital"."patients" GROUP BY "ward";
