-- Plans, without reading a row, what releases do with columns: fails if a type has no equality or no order.
SELECT pg_catalog.count(*) OVER (PARTITION BY {% for column in columns %}{{ column }}{% if not loop.last %}, {% endif %}{% endfor %})
FROM (
    SELECT {% for column in columns %}{{ column }}{% if not loop.last %}, {% endif %}{% endfor %}

    FROM {{ relation }}
    WHERE false
    GROUP BY {% for column in columns %}{{ column }}{% if not loop.last %}, {% endif %}{% endfor %}

) AS types
LIMIT 0
