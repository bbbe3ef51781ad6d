-- Classes of a release by pattern vector, counted on the published cells.
SELECT
    pattern,
    count(*) AS classes,
    sum(n)::bigint AS rows,
    min(people) AS smallest,
    max(people) AS largest,
    sum(people)::bigint AS memberships,
    pg_catalog.bool_or(
{% for q in columns %}
        ({{ q.is_suppressed }} AND {{ q.alias }} IS NOT NULL){% if not loop.last %} OR{% endif %}

{% endfor %}
    ) AS leaks
FROM (
    SELECT
        kanon_pattern AS pattern,
{% for q in columns %}
        {{ q.cell }} AS {{ q.alias }},
{% endfor %}
        {{ rows }} AS n,
        {{ people }} AS people
    FROM {{ storage }}
    GROUP BY kanon_pattern{% for q in columns %}, {{ q.cell }}{% endfor %}

) AS class
GROUP BY pattern
