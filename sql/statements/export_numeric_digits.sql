-- How many digits the values of a numeric column need before and after the point.
SELECT
    coalesce(max(pg_catalog.length(pg_catalog.trunc(pg_catalog.abs({{ column }}))::text)), 1)::integer AS whole,
    coalesce(max(pg_catalog.scale({{ column }})), 0)::integer AS fraction
FROM {{ relation }}
