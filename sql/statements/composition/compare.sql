-- What the readers of several releases of one table see together. The rows with one history, the same class in each of
-- some releases or shown in none, are what these tell apart; each person counts with the fewest people of a history.
-- Whoever was erased may be alone, and is nobody's candidate: then the figures are bounds.
WITH
-- The rows of each history; where a person may have several rows, those of each person. Class 0: not shown.
history AS MATERIALIZED (
    SELECT
        {% if by_person %}person, {% endif %}{% for s in sources %}{{ s.class }}, {% endfor %}count(*) AS rows
    FROM (
        SELECT
            row_id,
            person{% for s in sources %},
            coalesce(max(class) FILTER (WHERE source = {{ s.number }}), 0) AS {{ s.class }}
{% endfor %}

        FROM (
{% for s in sources %}
            SELECT {{ s.number }} AS source, row_id, person, class
            FROM (
{{ s.text }}
            ) AS shown
{% if not loop.last %}
            UNION ALL
{% endif %}
{% endfor %}
        ) AS every
        GROUP BY row_id, person
    ) AS rows_seen
    GROUP BY {% if by_person %}person, {% endif %}{% for s in sources %}{{ s.class }}{% if not loop.last %}, {% endif %}{% endfor %}

)

{% for t in together %}
SELECT
    {{ t.number }} AS number,
    coalesce(sum(counted.people), 0)::bigint AS people,
    min(counted.candidates)::bigint AS smallest,
    (sum(counted.people * counted.candidates) / sum(counted.people))::double precision AS average,
    coalesce(sum(counted.people) FILTER (WHERE counted.candidates < {{ t.k }}), 0)::bigint AS people_below
FROM (
{% if by_person %}
    SELECT count(*) AS people, each_person.candidates
    FROM (
        SELECT held.person, min(greatest(met.candidates, {{ t.fewest }})) AS candidates
        FROM (
            SELECT DISTINCT person, {{ t.classes }}
            FROM history
            WHERE person IS NOT NULL AND ({{ t.shown }})
        ) AS held
        INNER JOIN (
            SELECT {{ t.classes }}, count(DISTINCT person) AS candidates
            FROM history
            GROUP BY {{ t.classes }}
        ) AS met USING ({{ t.classes }})
        GROUP BY held.person
    ) AS each_person
    GROUP BY each_person.candidates
{% else %}
    SELECT sum(rows) AS people, greatest(sum(rows), {{ t.fewest }}) AS candidates
    FROM history
    WHERE {{ t.shown }}
    GROUP BY {{ t.classes }}
{% endif %}
{% if t.unseen %}
    UNION ALL
    SELECT {{ t.unseen }}, {{ t.fewest }}
{% endif %}
) AS counted
{% if not loop.last %}
UNION ALL
{% endif %}
{% endfor %}
