-- What Metabase sends to look at a database, and its questions: names of three parts, truncated dates, bins.

-- catalog: settings
SET SESSION TIMEZONE TO 'UTC';

-- catalog: isolation
SHOW TRANSACTION ISOLATION LEVEL;

-- catalog: time zone
SELECT (SELECT now()), current_setting('TIMEZONE');

-- catalog: tables with their estimated rows
SELECT "n"."nspname" AS "schema", "c"."relname" AS "name",
    CASE WHEN "c"."relkind" = 'r' THEN 'TABLE' WHEN "c"."relkind" = 'v' THEN 'VIEW' ELSE NULL END AS "type",
    "d"."description" AS "description", NULLIF("stat"."n_live_tup", 0) AS "estimated_row_count"
FROM "pg_catalog"."pg_class" AS "c"
INNER JOIN "pg_catalog"."pg_namespace" AS "n" ON "c"."relnamespace" = "n"."oid"
LEFT JOIN "pg_catalog"."pg_description" AS "d"
    ON ("c"."oid" = "d"."objoid") AND ("d"."objsubid" = 0) AND ("d"."classoid" = 'pg_class'::REGCLASS)
LEFT JOIN "pg_stat_user_tables" AS "stat"
    ON ("n"."nspname" = "stat"."schemaname") AND ("c"."relname" = "stat"."relname")
WHERE ("n"."nspname" !~ '^pg_') AND ("n"."nspname" <> 'information_schema')
    AND c.relkind in ('r', 'p', 'v', 'f', 'm')
ORDER BY "type" ASC, "schema" ASC, "name" ASC;

-- catalog: what the role may read
WITH relations AS (
    SELECT schemaname AS "schema", tablename AS "table" FROM pg_catalog.pg_tables
    UNION SELECT schemaname, viewname FROM pg_catalog.pg_views
    UNION SELECT schemaname, matviewname FROM pg_catalog.pg_matviews
)
SELECT r.*, pg_catalog.has_any_column_privilege(current_user, '"' || replace(r."schema", '"', '""') || '"."'
    || replace(r."table", '"', '""') || '"', 'select') AS "select"
FROM relations AS r
WHERE r."schema" !~ '^pg_' AND pg_catalog.has_schema_privilege(current_user, r."schema", 'usage');

-- catalog: columns
SELECT "c"."column_name" AS "name",
    CASE WHEN "c"."udt_schema" IN ('public', 'pg_catalog') THEN FORMAT('%s', "c"."udt_name")
        ELSE FORMAT('"%s"."%s"', "c"."udt_schema", "c"."udt_name") END AS "database-type",
    "c"."ordinal_position" - 1 AS "database-position", "pk"."column_name" IS NOT NULL AS "pk?",
    COL_DESCRIPTION(CAST(CAST(FORMAT('%I.%I', CAST("c"."table_schema" AS TEXT), CAST("c"."table_name" AS TEXT))
        AS REGCLASS) AS OID), "c"."ordinal_position") AS "field-comment",
    ("column_default" IS NOT NULL) AND ("column_default" LIKE '%nextval(%') AS "database-is-auto-increment"
FROM "information_schema"."columns" AS "c"
LEFT JOIN (
    SELECT "tc"."table_schema", "tc"."table_name", "kc"."column_name"
    FROM "information_schema"."table_constraints" AS "tc"
    INNER JOIN "information_schema"."key_column_usage" AS "kc"
        ON ("tc"."constraint_name" = "kc"."constraint_name") AND ("tc"."table_name" = "kc"."table_name")
    WHERE "tc"."constraint_type" = 'PRIMARY KEY'
) AS "pk" ON ("c"."table_name" = "pk"."table_name") AND ("c"."column_name" = "pk"."column_name")
WHERE c.table_schema !~ '^information_schema|catalog_history|pg_';

-- catalog: foreign keys
SELECT "fk_table"."relname", "fk_column"."attname", "pk_table"."relname", "pk_column"."attname"
FROM "pg_constraint" AS "c"
INNER JOIN "pg_class" AS "fk_table" ON "c"."conrelid" = "fk_table"."oid"
INNER JOIN "pg_attribute" AS "fk_column" ON "c"."conrelid" = "fk_column"."attrelid"
INNER JOIN "pg_class" AS "pk_table" ON "c"."confrelid" = "pk_table"."oid"
INNER JOIN "pg_attribute" AS "pk_column" ON "c"."confrelid" = "pk_column"."attrelid"
WHERE ("c"."contype" = 'f'::char) AND ("fk_column"."attnum" = ANY(c.conkey))
    AND ("pk_column"."attnum" = ANY(c.confkey));

-- catalog: indexed columns
SELECT TRIM(BOTH '"' FROM PG_CATALOG.PG_GET_INDEXDEF("tmp"."ci_oid", "tmp"."pos", FALSE)) AS "field-name"
FROM (
    SELECT "ci"."oid" AS "ci_oid", (INFORMATION_SCHEMA._PG_EXPANDARRAY("i"."indkey"))."n" AS "pos"
    FROM "pg_catalog"."pg_index" AS "i"
    INNER JOIN "pg_catalog"."pg_class" AS "ci" ON "ci"."oid" = "i"."indexrelid"
    WHERE PG_CATALOG.PG_GET_EXPR("i"."indpred", "i"."indrelid") IS NULL
) AS "tmp"
WHERE "tmp"."pos" = 1;

-- data: how many by category
-- Metabase:: userID: 1 queryType: MBQL queryHash: 0a1b
SELECT "public"."patients"."ward" AS "ward", COUNT(*) AS "count" FROM "public"."patients"
GROUP BY "public"."patients"."ward" ORDER BY "public"."patients"."ward" ASC;

-- data: values of a filter
SELECT "public"."patients"."ward" AS "ward" FROM "public"."patients" GROUP BY "public"."patients"."ward"
ORDER BY "public"."patients"."ward" ASC LIMIT 1000;

-- data: an average by year
SELECT DATE_TRUNC('year', "public"."patients"."birth_date") AS "birth_date",
    AVG("public"."patients"."cost") AS "avg"
FROM "public"."patients" GROUP BY DATE_TRUNC('year', "public"."patients"."birth_date")
ORDER BY DATE_TRUNC('year', "public"."patients"."birth_date") ASC;

-- data: a year as a date
SELECT CAST(DATE_TRUNC('year', "public"."patients"."birth_date") AS date) AS "birth_date", COUNT(*) AS "count"
FROM "public"."patients" GROUP BY CAST(DATE_TRUNC('year', "public"."patients"."birth_date") AS date)
ORDER BY CAST(DATE_TRUNC('year', "public"."patients"."birth_date") AS date) ASC;

-- data: dates between
SELECT COUNT(*) AS "count" FROM "public"."patients"
WHERE ("public"."patients"."birth_date" >= date '1950-01-01')
    AND ("public"."patients"."birth_date" < date '1990-01-01');

-- data: a joined table
SELECT "Wards"."floor" AS "Wards__floor", COUNT(*) AS "count" FROM "public"."patients"
LEFT JOIN "public"."wards" AS "Wards" ON "public"."patients"."ward" = "Wards"."ward"
GROUP BY "Wards"."floor" ORDER BY "Wards"."floor" ASC;

-- data: a public table
SELECT "public"."wards"."ward" AS "ward", "public"."wards"."floor" AS "floor" FROM "public"."wards" LIMIT 2000;
