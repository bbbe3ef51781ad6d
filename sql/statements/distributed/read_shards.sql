{# What the view of a release reads. #}
(
    SELECT
{% for c in stored %}
        r.{{ c.output }}{% if c.collation %} COLLATE {{ c.collation }} AS {{ c.output }}{% endif %},
{% endfor %}
        r.kanon_pattern
    FROM {{ reader }}() AS r
) AS stored
