{# Each person who left, with what stands for all their departures. #}
    SELECT
        left_once.person,
        pg_catalog.hash_record_extended(
            ROW(pg_catalog.array_agg(left_once.departure ORDER BY left_once.departure)), 2
        ) AS origin
    FROM (
        SELECT DISTINCT person, pg_catalog.hash_record_extended(ROW(cohort, version, since), 1) AS departure
        FROM {{ departed }}
        WHERE person IS NOT NULL
    ) AS left_once
    GROUP BY left_once.person
