-- Classes of a generalized release as readers tell them apart: by the published cells and by which of them are
-- suppressed, not by levels, which nobody sees.
SELECT
    count(*) AS classes,
    min(people) AS smallest,
    max(people) AS largest,
    sum(people)::bigint AS memberships
FROM (
    SELECT
{% if entity %}
        count(DISTINCT kanon_person) AS people
{% else %}
        count(*) AS people
{% endif %}
    FROM {{ storage }}
    GROUP BY
{% for q in columns %}
        {{ q.cell }}, {{ q.is_suppressed }}{% if not loop.last %},{% endif %}

{% endfor %}
) AS class
