{# The rows of the base table as the nodes read them, with the shard that each goes to and where it is stored. #}
SELECT
{% for q in columns %}
        {{ q.expression }} AS {{ q.alias }},
{% endfor %}
{% for c in carried %}
        {{ c.expression }} AS {{ c.alias }},
{% endfor %}
{% if entity %}
        {{ entity.expression }} AS person,
{% endif %}
        {{ place }} AS kanon_place,
        pg_catalog.concat_ws(' ', {{ place }}, r.tableoid, r.ctid) AS kanon_at
    FROM {{ relation }} AS r
