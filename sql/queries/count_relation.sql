-- Rows of a relation, as it is now.
SELECT count(*) AS rows FROM {{ relation }}
