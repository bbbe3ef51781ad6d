    SELECT
{% for q in columns + model_columns %}
        {{ q.expression }} AS {{ q.alias }}{% if not loop.last or carried or entity %},{% endif %}

{% endfor %}
{% for c in carried %}
        {{ c.expression }} AS {{ c.alias }}{% if not loop.last or entity %},{% endif %}

{% endfor %}
{% if entity %}
        {{ entity.expression }} AS person
{% endif %}
    FROM {{ relation }}
