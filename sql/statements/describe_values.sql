-- The table of a generalized column as the solver needs it, each output one buffer of 64-bit big-endian numbers;
-- and whether different values look alike at level 0.
SELECT
    count(*) AS n,
    count(DISTINCT {{ nodes[0].look }}) AS published,
    coalesce(pg_catalog.string_agg(pg_catalog.int8send({{ identity }}), ''), '') AS cells
{% for node in nodes %}
    , coalesce(pg_catalog.string_agg(pg_catalog.int8send(
        pg_catalog.hash_record_extended(ROW({{ node.look }}), 0)
    ), ''), '') AS {{ node.name }}
    , coalesce(pg_catalog.string_agg(pg_catalog.float8send({{ node.loss }}), ''), '') AS {{ node.loss }}
{% endfor %}
    , (
        SELECT pg_catalog.int8send({{ identity }}) FROM (SELECT) AS one LEFT JOIN {{ table }} AS known ON false
    ) AS null_cell
FROM {{ table }} AS known
