{# What is counted of each row of a source; of a shard, with how many rows share it, because PostgreSQL 15 sends no
   partial aggregates to foreign servers. #}
    SELECT
{% if shards %}
        {% for q in columns %}{{ q.alias }}, {% endfor %}{% if entity %}person, {% endif %}count(*) AS n
    FROM (
        SELECT
{% endif %}
{% for q in columns %}
        {{ q.expression }} AS {{ q.alias }}{% if not loop.last or entity %},{% endif %}

{% endfor %}
{% if entity %}
        {{ entity.expression }} AS person
{% endif %}
    FROM {{ source }}
{% if shards %}
    ) AS shard
    GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last or entity %}, {% endif %}{% endfor %}{% if entity %}person{% endif %}

{% endif %}
