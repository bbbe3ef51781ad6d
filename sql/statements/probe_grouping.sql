-- Plans, without reading a relation, what releases do with columns: fails if a type has no equality or no order. What
-- plans a relation would run the code of its indexes.
SELECT pg_catalog.count(*) OVER (PARTITION BY {% for type in types %}c{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %})
FROM (
    SELECT {% for type in types %}c{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

    FROM (SELECT {% for type in types %}NULL::{{ type }} AS c{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}) AS columns
    WHERE false
    GROUP BY {% for type in types %}c{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}

) AS types
LIMIT 0
