{# What the view of a release reads. A function hides from PostgreSQL which table and columns its rows are from: the condition, which is
   always true and goes away when a query is planned, makes the view depend on them, as that of a single server does. #}
(
    SELECT
{% for c in stored %}
        r.{{ c.output }}{% if c.collation %} COLLATE {{ c.collation }} AS {{ c.output }}{% endif %},
{% endfor %}
        r.kanon_pattern
    FROM {{ reader }}() AS r
    WHERE ROW({% for c in read %}(NULL::{{ base }}).{{ c }}{% if not loop.last %}, {% endif %}{% endfor %}) IS NULL
) AS stored
