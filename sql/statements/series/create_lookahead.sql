-- The rows that may enter, with the versions for which they have waited, and some earlier ones at random, with -1.
CREATE TABLE {{ lookahead }} AS
SELECT {% for c in columns %}e.{{ c }}, {% endfor %}e.kanon_row, ({{ version }} - p.since)::integer AS kanon_waited
FROM {{ entering }} AS e
INNER JOIN {{ pending }} AS p ON p.row_id = e.kanon_row
UNION ALL
SELECT earlier.*
FROM (
    SELECT {% for c in columns %}c.{{ c }}, {% endfor %}c.kanon_row, -1
    FROM {{ current }}() AS c
    WHERE NOT EXISTS (SELECT FROM {{ pending }} AS p WHERE p.row_id = c.kanon_row)
    ORDER BY pg_catalog.hashint8extended(c.kanon_row, {{ version }})
    LIMIT {{ most }}
) AS earlier
