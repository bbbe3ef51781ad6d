-- Whether a relation has no rows; one of them is asked for, because Citus reads all that a condition might look at.
SELECT pg_catalog.count(*) = 0 AS empty FROM (SELECT 1 FROM {{ relation }} LIMIT 1) AS one
