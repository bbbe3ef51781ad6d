-- Distinct people of a release.
SELECT count(DISTINCT kanon_person) AS people FROM {{ storage }}
