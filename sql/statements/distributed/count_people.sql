-- How many people a release on all nodes has, counted where their rows are.
SELECT count(*) AS people
FROM (
    SELECT kanon_person FROM {{ storage }} WHERE kanon_person IS NOT NULL GROUP BY kanon_place, kanon_person
) AS person
