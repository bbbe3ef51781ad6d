{# The rows of each person in each class of a release on all nodes, counted where they are. #}
(
        SELECT
{% for output in outputs %}
            {{ output }},
{% endfor %}
            kanon_pattern,
            kanon_person,
            count(*) AS kanon_rows
        FROM {{ storage }}
        GROUP BY {% for output in outputs %}{{ output }}, {% endfor %}kanon_pattern, kanon_place, kanon_person
    ) AS held
