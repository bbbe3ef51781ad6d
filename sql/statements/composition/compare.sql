-- What the readers of several releases of one table see together. The rows with one history, the same class in each of
-- some releases or shown in none, are what these tell apart; each person counts with the fewest people of a history.
WITH
{% if relation %}
kanon_rows AS MATERIALIZED (
    SELECT * FROM {{ relation }}
),

{% endif %}
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

-- The rows of each history; where a person may have several rows, those of each person. Class 0: not shown.
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
    found.*,
    (
        (SELECT coalesce(sum(h.rows), 0) FROM history AS h WHERE {% for s in t.sources %}h.{{ s.unknown }}{% if not loop.last %} OR {% endif %}{% endfor %})
        + (SELECT sum(g.rows) FROM gone AS g WHERE g.source IN ({% for s in t.sources %}{{ s.number }}{% if not loop.last %}, {% endif %}{% endfor %}))
    )::bigint AS unseen_rows,
    (
        SELECT coalesce(sum(h.rows), 0)
        FROM history AS h
        WHERE ({% for s in t.sources %}h.{{ s.assumed }}{% if not loop.last %} OR {% endif %}{% endfor %})
            AND NOT ({% for s in t.sources %}h.{{ s.unknown }}{% if not loop.last %} OR {% endif %}{% endfor %})
    )::bigint AS assumed_rows
FROM (
{% if by_person %}
    SELECT
        count(*) AS people,
        min(candidates) AS smallest,
        avg(candidates)::double precision AS average,
        count(*) FILTER (WHERE candidates < {{ t.k }}) AS people_below
    FROM (
        SELECT person, min(sized.candidates) AS candidates
        FROM (
            SELECT DISTINCT person{% for s in t.sources %}, {{ s.class }}{% endfor %}

            FROM history
            WHERE person IS NOT NULL
                AND ({% for s in t.sources %}{{ s.class }} <> 0{% if not loop.last %} OR {% endif %}{% endfor %})
                AND NOT ({% for s in t.sources %}{{ s.unknown }}{% if not loop.last %} OR {% endif %}{% endfor %})
        ) AS held
        INNER JOIN (
            SELECT {% for s in t.sources %}{{ s.class }}, {% endfor %}count(DISTINCT person) AS candidates
            FROM history
            WHERE NOT ({% for s in t.sources %}{{ s.unknown }}{% if not loop.last %} OR {% endif %}{% endfor %})
            GROUP BY {% for s in t.sources %}{{ s.class }}{% if not loop.last %}, {% endif %}{% endfor %}

        ) AS sized USING ({% for s in t.sources %}{{ s.class }}{% if not loop.last %}, {% endif %}{% endfor %})
        GROUP BY person
    ) AS each_person
{% else %}
    SELECT
        coalesce(sum(candidates), 0)::bigint AS people,
        min(candidates)::bigint AS smallest,
        (sum(candidates * candidates) / sum(candidates))::double precision AS average,
        coalesce(sum(candidates) FILTER (WHERE candidates < {{ t.k }}), 0)::bigint AS people_below
    FROM (
        SELECT sum(rows) AS candidates
        FROM history
        WHERE ({% for s in t.sources %}{{ s.class }} <> 0{% if not loop.last %} OR {% endif %}{% endfor %})
            AND NOT ({% for s in t.sources %}{{ s.unknown }}{% if not loop.last %} OR {% endif %}{% endfor %})
        GROUP BY {% for s in t.sources %}{{ s.class }}{% if not loop.last %}, {% endif %}{% endfor %}

    ) AS sized
{% endif %}
) AS found
{% if not loop.last %}
UNION ALL
{% endif %}
{% endfor %}
