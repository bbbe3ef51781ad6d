-- The guarded materialized view: suppresses by the mapping, counts the people of every class on the
-- published cells themselves, and withholds classes with fewer than k. Row types that the mapping does
-- not know (rows added since) are suppressed fully.
CREATE MATERIALIZED VIEW {{ storage }} AS
WITH base AS (
    SELECT
{% for q in columns %}
        {{ q.expression }} AS {{ q.alias }}{% if not loop.last or carried or entity %},{% endif %}

{% endfor %}
{% for c in carried %}
        {{ c.expression }} AS {{ c.alias }}{% if not loop.last or entity %},{% endif %}

{% endfor %}
{% if entity %}
        {{ entity.expression }} AS person
{% endif %}
    FROM {{ relation }}
),

masked AS (
    SELECT
{% for q in columns %}
        CASE WHEN coalesce(mapping.pattern, {{ all_suppressed }}) & {{ q.bit }} = 0 THEN base.{{ q.alias }} END AS {{ q.alias }},
{% endfor %}
{% for c in carried %}
        base.{{ c.alias }},
{% endfor %}
{% if entity %}
        base.person,
{% endif %}
        coalesce(mapping.pattern, {{ all_suppressed }}) AS pattern
    FROM base
    LEFT JOIN {{ mapping }} AS mapping
        ON mapping.row_type = pg_catalog.hash_record_extended(
            ROW({% for q in columns %}{{ q.base_hash }}{% if not loop.last %}, {% endif %}{% endfor %}), {{ hash_seed }}
        )
),

-- The hash only finds candidates quickly; classes are compared cell by cell.
assigned AS MATERIALIZED (
    SELECT
        masked.*,
        pg_catalog.hash_record_extended(
            ROW({% for q in columns %}{{ q.masked_hash }}, {% endfor %}masked.pattern), 0
        ) AS class_hash
    FROM masked
),

backed AS (
{% if entity %}
    SELECT class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %}

    FROM (
        SELECT DISTINCT class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %}, person
        FROM assigned
        WHERE person IS NOT NULL
    ) AS presence
{% else %}
    SELECT class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %}

    FROM assigned
{% endif %}
    GROUP BY class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %}

    HAVING count(*) >= {{ k }}
)

SELECT
{% for p in published %}
    assigned.{{ p.alias }} AS {{ p.output }},
{% endfor %}
{% if entity %}
    CASE WHEN assigned.person IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) END
        AS kanon_person,
{% endif %}
    assigned.pattern AS kanon_pattern
FROM assigned
INNER JOIN backed
    ON backed.class_hash = assigned.class_hash
    AND backed.pattern = assigned.pattern
{% for q in columns %}
    AND backed.{{ q.alias }} IS NOT DISTINCT FROM assigned.{{ q.alias }}
{% endfor %}
ORDER BY pg_catalog.random()
