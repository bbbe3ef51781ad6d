{# The level of each cell and what may be published of it. A value that its hierarchy does not know has the top, and
   so has every level that there is not. Levels are computed once (OFFSET 0) and packed again, so that the pattern
   says what is shown. #}
leveled AS (
    SELECT
        assigned.*,
{% for q in columns %}
{% if q.levels %}
        CASE
            WHEN {{ q.levels.known }}.value IS NULL AND assigned.{{ q.alias }} IS NOT NULL THEN {{ q.levels.height }}
            ELSE least({{ q.levels.height }}, (coalesce(assigned.pattern, {{ all_suppressed }}) >> {{ q.offset }}) & {{ q.mask }})
        END AS {{ q.level }}
{% for node in q.levels.nodes %}
        , {{ q.levels.known }}.{{ node.name }} AS {{ node.alias }}
{% endfor %}
{% else %}
        (coalesce(assigned.pattern, {{ all_suppressed }}) >> {{ q.offset }}) & 1 AS {{ q.level }}
{% endif %}
{% if not loop.last %}
        ,
{% endif %}
{% endfor %}
    FROM assigned
{% for q in columns %}
{% if q.levels %}
    LEFT JOIN {{ q.levels.table }} AS {{ q.levels.known }}
        ON {{ q.levels.knows }}
{% endif %}
{% endfor %}
    OFFSET 0
),

masked AS (
    SELECT
{% for q in columns %}
        (leveled.{{ q.level }}::bigint << {{ q.offset }}){% if not loop.last %} |{% endif %}

{% endfor %}
        AS pattern
{% for q in columns %}
{% if q.levels %}
        , CASE leveled.{{ q.level }}
{% for node in q.levels.nodes %}
            WHEN {{ loop.index0 }} THEN leveled.{{ node.alias }}
{% endfor %}
        END AS {{ q.alias }}
{% else %}
        , CASE WHEN leveled.{{ q.level }} = 0 THEN leveled.{{ q.alias }} ELSE {{ q.suppressed }} END AS {{ q.alias }}
{% endif %}
{% endfor %}
{% for c in model_columns + carried %}
        , leveled.{{ c.alias }}
{% endfor %}
{% if entity %}
        , leveled.person
{% if source %}
        , leveled.ordinality
{% endif %}
{% endif %}
    FROM leveled
),
