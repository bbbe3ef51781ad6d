-- Classes of a release by pattern vector, counted on the published cells.
SELECT
    pattern,
    count(*) AS classes,
    sum(n)::bigint AS rows,
    min(people) AS smallest,
    max(people) AS largest,
    sum(people)::bigint AS memberships,
    pg_catalog.bool_or(leak) AS leaks
FROM (
    SELECT
        kanon_pattern AS pattern,
        count(*) AS n,
{% if entity %}
        count(DISTINCT kanon_person) AS people,
{% else %}
        count(*) AS people,
{% endif %}
        pg_catalog.bool_or(
{% for q in columns %}
            (kanon_pattern & {{ q.bit }} <> 0 AND {{ q.name }} IS NOT NULL){% if not loop.last %} OR{% endif %}

{% endfor %}
        ) AS leak
    FROM {{ storage }}
    GROUP BY kanon_pattern{% for q in columns %}, {{ q.name }}{% if q.as_text %}::text{% endif %}{% endfor %}

) AS class
GROUP BY pattern
