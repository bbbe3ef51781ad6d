-- How many rows a relation has.
SELECT count(*) AS rows FROM {{ relation }}
