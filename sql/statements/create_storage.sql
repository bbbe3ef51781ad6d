-- The guarded materialized view: suppresses by the mapping, counts the people of every class on the
-- published cells themselves, and withholds classes with fewer than k, and those that violate a privacy
-- model. Row types that the mapping does not know (rows added since) are suppressed fully.
CREATE MATERIALIZED VIEW {{ storage }} AS
WITH {% include "guard/base.sql" %}


{% include "guard/assigned.sql" %}


{% include "guard/masked.sql" %}


{% if entity %}
-- Two passes over what is published: a sort by class and person would compare every cell of every row with that of
-- its neighbour. Classes are compared cell by cell; two with the same hash have no people, because theirs would be
-- counted together. Two people with the same hash count as one.
hashed AS MATERIALIZED (
    SELECT
        masked.*,
        CASE WHEN masked.person IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.masked_hash }}), 0) END AS who,
        pg_catalog.hash_record_extended(
            ROW({% for q in columns %}{{ q.masked_hash }}, {% endfor %}masked.pattern), 0
        ) AS class_hash
    FROM masked
),

classes AS MATERIALIZED (
    SELECT
        alike.class_hash,
        alike.size,
        CASE WHEN alike.classes = 1 THEN met.people ELSE 0 END AS people
    FROM (
        SELECT class_hash, count(*) AS classes, sum(n)::bigint AS size
        FROM (
            SELECT class_hash, count(*) AS n
            FROM hashed
            GROUP BY class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %}

        ) AS class
        GROUP BY class_hash
    ) AS alike
    INNER JOIN (
        SELECT class_hash, count(who) AS people
        FROM (SELECT class_hash, who FROM hashed GROUP BY class_hash, who) AS pair
        GROUP BY class_hash
    ) AS met ON met.class_hash = alike.class_hash
),

counted AS (
    SELECT
        hashed.*,
{% if model_checks %}
        classes.class_hash AS class,
        classes.size,
{% endif %}
        classes.people
    FROM hashed
    INNER JOIN classes ON classes.class_hash = hashed.class_hash
){% if model_checks %},{% endif %}

{% else %}
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

counted AS (
    SELECT
{% if model_checks %}
        count(*) OVER same_class AS size,
        min(row_number) OVER same_class AS class,
{% endif %}
        hashed.*,
        count(*) OVER same_class AS people
    FROM hashed
    WINDOW same_class AS (PARTITION BY class_hash, pattern{% for q in columns %}, {{ q.alias }}{% endfor %})
){% if model_checks %},{% endif %}

{% endif %}

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
    counted.who AS kanon_person,
{% endif %}
    counted.pattern AS kanon_pattern
FROM counted
WHERE counted.people >= {{ k }}
{% if model_checks %}
    AND counted.class IN (SELECT s.class FROM satisfied AS s)
{% endif %}
ORDER BY pg_catalog.random()
