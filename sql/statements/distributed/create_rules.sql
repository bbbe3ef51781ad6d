-- What the nodes need to suppress: the pattern of each row type, for divided ones the range of chance of each part.
CREATE TABLE {{ rules }} AS
{% if parts %}
SELECT m.row_type, NULL::bigint AS seed, NULL::bigint AS first_chance, NULL::bigint AS last_chance, m.pattern
FROM {{ mapping }} AS m
WHERE NOT EXISTS (SELECT FROM {{ parts }} AS p WHERE p.row_type = m.row_type)
UNION ALL
SELECT
    p.row_type,
    p.seed,
    CASE WHEN p.first_row = 1 THEN -9223372036854775808 ELSE c.chance END,
    coalesce(pg_catalog.lead(c.chance) OVER (PARTITION BY p.row_type ORDER BY p.first_row) - 1, 9223372036854775807),
    p.pattern
FROM {{ parts }} AS p
INNER JOIN (
    SELECT row_type, chance, pg_catalog.row_number() OVER (PARTITION BY row_type ORDER BY chance) AS place
    FROM {{ chances }}
) AS c ON c.row_type = p.row_type AND c.place = p.first_row
{% else %}
SELECT row_type, pattern FROM {{ mapping }}
{% endif %}
