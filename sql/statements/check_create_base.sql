-- A small table for a trial, rolled back afterwards.
CREATE TABLE {{ relation }} AS
SELECT i % 3 AS a, i % 7 AS b, 'x' AS c FROM pg_catalog.generate_series(1, 40) AS i
