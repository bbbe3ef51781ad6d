-- What the readers of several releases of one table see together. The rows with one history, the same class in each of
-- some releases or shown in none, are what these tell apart; each person counts with the fewest people of a history. Where
-- it is not known which history a row has, the figures are bounds: nobody has fewer candidates, no more people too few.
WITH
{% for b in bases %}
{{ b.rows }} AS MATERIALIZED (
    SELECT * FROM {{ b.relation }}
),

{% endfor %}
{% for s in sources %}
{{ s.name }} AS MATERIALIZED (
{{ s.text }}
),

{% endfor %}
rows_seen AS MATERIALIZED (
    SELECT
        row_id,
        person{% for s in sources %},
        coalesce(max(class) FILTER (WHERE source = {{ s.number }}), 0) AS {{ s.class }},
        coalesce(pg_catalog.bool_or(NOT is_known) FILTER (WHERE source = {{ s.number }}), false) AS {{ s.unknown }},
        coalesce(pg_catalog.bool_or(is_assumed) FILTER (WHERE source = {{ s.number }}), false) AS {{ s.assumed }}
{% endfor %}

    FROM (
{% for s in sources %}
        SELECT {{ s.number }} AS source, row_id, person, class, is_known, is_assumed FROM {{ s.name }}
{% if not loop.last %}
        UNION ALL
{% endif %}
{% endfor %}
    ) AS every
    WHERE row_id IS NOT NULL
    GROUP BY row_id, person
),

-- The rows of each history; where a person may have several rows, those of each person. Class 0: not shown. Whoever has a
-- row whose class is not known, or only assumed, may be alone with it, and is nobody's candidate: what is said are bounds.
history AS MATERIALIZED (
    SELECT
        {% if by_person %}person, {% endif %}{% for s in sources %}{{ s.class }}, {{ s.unknown }}, {{ s.assumed }}, {% endfor %}count(*) AS rows
    FROM rows_seen
    GROUP BY {% if by_person %}person, {% endif %}{% for s in sources %}{{ s.class }}, {{ s.unknown }}, {{ s.assumed }}{% if not loop.last %}, {% endif %}{% endfor %}

),

-- Published rows that are no longer in the table as they were: whose they are is not known.
gone AS (
{% for s in sources %}
    SELECT {{ s.number }} AS source, coalesce(sum(rows), 0)::bigint AS rows FROM {{ s.name }} WHERE row_id IS NULL
{% if not loop.last %}
    UNION ALL
{% endif %}
{% endfor %}
)

{% for t in together %}
SELECT
    {{ t.number }} AS number,
    coalesce(sum(counted.people), 0)::bigint AS people,
    min(counted.candidates)::bigint AS smallest,
    (sum(counted.people * counted.candidates) / sum(counted.people))::double precision AS average,
    coalesce(sum(counted.people) FILTER (WHERE counted.candidates < {{ t.k }}), 0)::bigint AS people_below,
    ((SELECT coalesce(sum(rows), 0) FROM history WHERE {{ t.unknown }}) + (SELECT sum(g.rows) FROM gone AS g WHERE g.source IN ({{ t.numbers }})))::bigint AS unseen_rows,
    (SELECT coalesce(sum(rows), 0) FROM history WHERE {{ t.undecided }} AND NOT {{ t.unknown }})::bigint AS assumed_rows
FROM (
{% if by_person %}
    SELECT count(*) AS people, each_person.candidates
    FROM (
        SELECT sized.person, min(sized.candidates) AS candidates
        FROM (
            SELECT held.person, greatest(met.candidates, {{ t.fewest }}) AS candidates
            FROM (
                SELECT DISTINCT person, {{ t.classes }}
                FROM history
                WHERE person IS NOT NULL AND {{ t.shown }} AND NOT {{ t.undecided }}
            ) AS held
            INNER JOIN (
                SELECT {{ t.classes }}, count(DISTINCT person) AS candidates
                FROM history
                WHERE NOT {{ t.undecided }}
                GROUP BY {{ t.classes }}
            ) AS met USING ({{ t.classes }})
            UNION ALL
            SELECT person, {{ t.fewest }} FROM history WHERE person IS NOT NULL AND {{ t.undecided }}
        ) AS sized
        GROUP BY sized.person
    ) AS each_person
    GROUP BY each_person.candidates
{% else %}
    SELECT sum(rows) AS people, greatest(sum(rows), {{ t.fewest }}) AS candidates
    FROM history
    WHERE {{ t.shown }} AND NOT {{ t.undecided }}
    GROUP BY {{ t.classes }}
    UNION ALL
    SELECT sum(rows), {{ t.fewest }} FROM history WHERE {{ t.undecided }}
    HAVING sum(rows) > 0
{% endif %}
    UNION ALL
    SELECT (SELECT sum(g.rows) FROM gone AS g WHERE g.source IN ({{ t.numbers }})), {{ t.fewest }} WHERE (SELECT sum(g.rows) FROM gone AS g WHERE g.source IN ({{ t.numbers }})) > 0
) AS counted
{% if not loop.last %}
UNION ALL
{% endif %}
{% endfor %}
