-- Distinct people of a release; grouped, because a DISTINCT count would sort all rows.
SELECT count(person) AS people
FROM (SELECT kanon_person AS person FROM {{ storage }} GROUP BY kanon_person) AS somebody
