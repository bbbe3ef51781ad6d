-- Plans, without reading a row, a GROUP BY over columns: fails if a type has no equality.
SELECT
FROM {{ relation }}
GROUP BY {% for column in columns %}{{ column }}{% if not loop.last %}, {% endif %}{% endfor %}

LIMIT 0
