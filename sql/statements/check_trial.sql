-- The smallest class of the trial release, and whether analysts can read it.
-- $1 text
SELECT
    coalesce(min(class.people), 0) AS smallest,
    pg_catalog.has_table_privilege('kanon_analyst', $1::text, 'SELECT')
        AND pg_catalog.has_schema_privilege('kanon_analyst', 'safe', 'USAGE') AS readable
FROM (SELECT count(*) AS people FROM {{ view }} GROUP BY a, b, c, kanon_suppressed) AS class
