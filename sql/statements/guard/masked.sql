{# Every row with what is published of its quasi-identifiers, and the pattern that says so: first, where a sort finds it
   without looking at the cells. #}
{% if generalized %}
{% include "guard/leveled.sql" %}


{% else %}
masked AS (
    SELECT
        coalesce(assigned.pattern, {{ all_suppressed }}) AS pattern
{% for q in columns %}
        , CASE WHEN coalesce(assigned.pattern, {{ all_suppressed }}) & {{ q.bit }} = 0 THEN assigned.{{ q.alias }} ELSE {{ q.suppressed }} END
            AS {{ q.alias }}
{% endfor %}
{% for c in model_columns + carried %}
        , assigned.{{ c.alias }}
{% endfor %}
{% if entity %}
        , assigned.person
{% if source %}
        , assigned.ordinality
{% endif %}
{% endif %}
    FROM assigned
),

{% endif %}
