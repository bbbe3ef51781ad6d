-- The cohorts that are shown, counted on what is stored.
SELECT coalesce(sum(rows), 0)::bigint AS rows, coalesce(min(people), 0) AS smallest
FROM (
    SELECT
        count(*) AS rows,
{% if entity %}
        count(DISTINCT m.person) AS people
{% else %}
        count(*) AS people
{% endif %}
    FROM {{ members }} AS m
    WHERE m.cohort IN (SELECT c.cohort FROM {{ cohorts }} AS c WHERE c.is_shown)
    GROUP BY m.cohort
) AS cohort
