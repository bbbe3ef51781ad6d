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
        CASE WHEN coalesce(mapping.pattern, {{ all_suppressed }}) & {{ q.bit }} = 0 THEN base.{{ q.alias }} ELSE {{ q.suppressed }} END
            AS {{ q.alias }},
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

-- The hash sorts quickly; classes are compared cell by cell.
hashed AS (
    SELECT
        masked.*,
        pg_catalog.hash_record_extended(
            ROW({% for q in columns %}{{ q.masked_hash }}, {% endfor %}masked.pattern), 0
        ) AS class_hash
    FROM masked
    OFFSET 0
),

{% if entity %}
met AS (
    SELECT
        hashed.*,
        person IS NOT NULL AND pg_catalog.row_number() OVER (
            PARTITION BY class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %}, person
        ) = 1 AS is_new
    FROM hashed
),

{% endif %}
counted AS (
    SELECT
{% if entity %}
        met.*,
        count(*) FILTER (WHERE is_new) OVER (
            PARTITION BY class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %}

        ) AS people
    FROM met
{% else %}
        hashed.*,
        count(*) OVER (
            PARTITION BY class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %}

        ) AS people
    FROM hashed
{% endif %}
)

SELECT
{% for p in published %}
    {{ p.stored }} AS {{ p.output }},
{% endfor %}
{% if entity %}
    CASE WHEN counted.person IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) END
        AS kanon_person,
{% endif %}
    counted.pattern AS kanon_pattern
FROM counted
WHERE counted.people >= {{ k }}
ORDER BY pg_catalog.random()
