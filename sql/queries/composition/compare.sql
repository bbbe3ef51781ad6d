-- What the readers of several releases of one table see together. The rows with one history, the same class in each of
-- some releases or shown in none, are what these tell apart; each person counts with the fewest people of a history.
WITH
{% if relation %}
kanon_rows AS MATERIALIZED (
    SELECT
        keyed.*,
{% if entity %}
        CASE WHEN keyed.kanon_who IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) END
            AS kanon_person,
{% else %}
        NULL::bigint AS kanon_person,
{% endif %}
{% if keys %}
        pg_catalog.hash_record_extended(ROW({% for k in keys %}{{ k.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), 0)
            AS kanon_row
{% else %}
        pg_catalog.row_number() OVER () AS kanon_row
{% endif %}
    FROM (
        SELECT
{% for k in keys %}
            {{ k.expression }} AS {{ k.alias }},
{% endfor %}
{% if entity %}
            {{ entity.expression }} AS kanon_who,
{% endif %}
{% for c in columns %}
            {{ c }}{% if not loop.last %},{% endif %}

{% endfor %}
        FROM {{ relation }}
    ) AS keyed
),

{% endif %}
{% for s in sources %}
{{ s.name }} AS MATERIALIZED (
{{ s.text }}
),

{% endfor %}
history AS MATERIALIZED (
    SELECT
        row_id,
        person{% for s in sources %},
        max(class) FILTER (WHERE source = {{ s.number }}) AS {{ s.class }},
        coalesce(pg_catalog.bool_or(NOT is_known) FILTER (WHERE source = {{ s.number }}), false) AS {{ s.unknown }}
{% endfor %}

    FROM (
{% for s in sources %}
        SELECT {{ s.number }} AS source, row_id, person, class, is_known FROM {{ s.name }}
{% if not loop.last %}
        UNION ALL
{% endif %}
{% endfor %}
    ) AS every
    WHERE row_id IS NOT NULL
    GROUP BY row_id, person
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
    count(*) AS people,
    min(candidates) AS smallest,
    avg(candidates)::double precision AS average,
    count(*) FILTER (WHERE candidates < {{ t.k }}) AS people_below,
    (
        (SELECT count(*) FROM history WHERE {% for s in t.sources %}{{ s.unknown }}{% if not loop.last %} OR {% endif %}{% endfor %})
        + (SELECT sum(g.rows) FROM gone AS g WHERE g.source IN ({% for s in t.sources %}{{ s.number }}{% if not loop.last %}, {% endif %}{% endfor %}))
    )::bigint AS unseen_rows
FROM (
    SELECT person, min(candidates) AS candidates
    FROM (
        SELECT
            person,
            count(person) OVER (PARTITION BY {% for s in t.sources %}{{ s.class }}{% if not loop.last %}, {% endif %}{% endfor %}) AS candidates
        FROM (
            SELECT DISTINCT person{% for s in t.sources %}, {{ s.class }}{% endfor %}

            FROM history
            WHERE ({% for s in t.sources %}{{ s.class }} IS NOT NULL{% if not loop.last %} OR {% endif %}{% endfor %})
                AND NOT ({% for s in t.sources %}{{ s.unknown }}{% if not loop.last %} OR {% endif %}{% endfor %})
        ) AS held
    ) AS counted
    WHERE person IS NOT NULL
    GROUP BY person
) AS each_person
{% if not loop.last %}
UNION ALL
{% endif %}
{% endfor %}
