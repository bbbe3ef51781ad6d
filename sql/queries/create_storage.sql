-- The guarded materialized view: suppresses by the mapping, counts the people of every class on the
-- published cells themselves, and withholds classes with fewer than k, and those that violate a privacy
-- model. Row types that the mapping does not know (rows added since) are suppressed fully.
CREATE MATERIALIZED VIEW {{ storage }} AS
WITH {% include "guard/base.sql" %}


{% include "guard/assigned.sql" %}


{% include "guard/masked.sql" %}


-- The hash sorts quickly; classes are compared cell by cell.
hashed AS (
    SELECT
        masked.*,
{% if model_checks %}
        pg_catalog.row_number() OVER () AS row_number,
{% endif %}
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
{% if model_checks %}
        count(*) OVER same_class AS size,
        min(row_number) OVER same_class AS class,
{% endif %}
{% if entity %}
        met.*,
        count(*) FILTER (WHERE is_new) OVER same_class AS people
    FROM met
{% else %}
        hashed.*,
        count(*) OVER same_class AS people
    FROM hashed
{% endif %}
    WINDOW same_class AS (PARTITION BY class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %})
){% if model_checks %},{% endif %}

{% for j in model_checks %}

{% include "guard/model_checks.sql" %}

{% endfor %}
{% if model_checks %}
satisfied AS (
{% for j in model_checks %}
    SELECT class FROM {{ j.satisfying }}
{% if not loop.last %}
    INTERSECT
{% endif %}
{% endfor %}
)
{% endif %}

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
{% if model_checks %}
    AND counted.class IN (SELECT s.class FROM satisfied AS s)
{% endif %}
ORDER BY pg_catalog.random()
