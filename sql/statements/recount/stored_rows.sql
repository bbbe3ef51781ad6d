{# The rows of a release that agree on pattern and cells, and on the person if several rows may be one's. #}
        SELECT
            kanon_pattern AS pattern,
{% for q in columns %}
            {{ q.cell }} AS {{ q.alias }},
{% endfor %}
{% if entity %}
            kanon_person AS person,
{% endif %}
            count(*) AS n
        FROM {{ storage }}
        GROUP BY kanon_pattern{% for q in columns %}, {{ q.cell }}{% endfor %}{% if entity %}, kanon_person{% if on_nodes %}, kanon_place{% endif %}{% endif %}
