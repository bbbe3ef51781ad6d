-- How many rows a table has.
SELECT count(*) AS rows FROM {{ relation }}
