{# The rows of a linked table with the person of each, as a subquery for FROM. #}
(
    SELECT
        t0.*,
{% if columns|length == 1 %}
        {{ last }}.{{ columns[0] }} AS {{ person }}
{% else %}
        pg_catalog.format('{% for c in columns %}%L {% endfor %}'{% for c in columns %}, {{ last }}.{{ c }}{% endfor %}) AS {{ person }}
{% endif %}
    FROM {{ relation }} AS t0
{% for step in steps %}
    INNER JOIN {{ step.relation }} AS {{ step.alias }}
        ON {% for p in step.pairs %}{{ step.alias }}.{{ p.parent }} = {{ step.child }}.{{ p.column }}{% if not loop.last %} AND {% endif %}{% endfor %}

{% endfor %}
) AS linked
