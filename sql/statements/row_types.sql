{# A relation's row types, counted for whoever may read the relation at that moment; Citus asks a subquery that names no table here, where the
   setting is, and not on its nodes. #}
SELECT
{% for q in columns %}
    {{ q.alias }} AS {{ q.output }},
{% endfor %}
    count(*) AS {{ rows }},
{% if entity %}
    count(DISTINCT person) AS {{ people }}
{% else %}
    count(*) AS {{ people }}
{% endif %}
FROM (
    SELECT
{% for q in columns %}
        {{ q.expression }} AS {{ q.alias }}{% if not loop.last or entity %},{% endif %}

{% endfor %}
{% if entity %}
        {{ entity.expression }} AS person
{% endif %}
    FROM {{ relation }}
    WHERE (
        SELECT pg_catalog.has_table_privilege(pg_catalog.current_setting('kanon.asking'), {{ relation_name }}::regclass, 'SELECT')
            OR ({% for q in columns %}pg_catalog.has_column_privilege(pg_catalog.current_setting('kanon.asking'), {{ relation_name }}::regclass, {{ q.name }}, 'SELECT'){% if not loop.last %} AND {% endif %}{% endfor %})
    )
) AS base
GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last %}, {% endif %}{% endfor %}
