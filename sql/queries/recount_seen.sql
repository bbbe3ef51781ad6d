-- Classes of a release as readers tell them apart: by the published cells and by which of them are
-- suppressed, not by levels, which nobody sees.
SELECT
    count(*) AS classes,
    coalesce(sum(n), 0)::bigint AS rows,
    coalesce(min(people), 0) AS smallest,
    coalesce(max(people), 0) AS largest,
    coalesce(sum(people), 0)::bigint AS memberships,
    coalesce(sum(n * suppressed), 0)::bigint AS suppressed
FROM (
    SELECT
        {{ rows }} AS n,
{% for q in columns %}
        ({{ q.is_suppressed }})::integer{% if not loop.last %} +{% endif %}

{% endfor %}
        AS suppressed,
        {{ people }} AS people
    FROM {{ storage }}
    GROUP BY
{% for q in columns %}
        {{ q.cell }}, {{ q.is_suppressed }}{% if not loop.last %},{% endif %}

{% endfor %}
) AS class
