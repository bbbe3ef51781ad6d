{# What is stored of each row, as the guarded materialized view would show it. The order is chance by a secret seed, because Citus lets
   no node draw numbers while it stores. #}
SELECT
{% if by_person %}
    coalesce(
        pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0),
        pg_catalog.hashtextextended(pg_catalog.md5({{ seed }} || counted.kanon_at), 1)
    ) AS kanon_place,
{% else %}
    counted.kanon_place AS kanon_place,
{% endif %}
{% for p in published %}
    {{ p.stored }} AS {{ p.output }},
{% endfor %}
{% if entity %}
    CASE WHEN counted.person IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) END
        AS kanon_person,
{% endif %}
    counted.pattern AS kanon_pattern,
    pg_catalog.hashtextextended(pg_catalog.md5({{ seed }} || counted.kanon_at), 0) AS kanon_chance
FROM (
    SELECT
{% for q in columns %}
        CASE WHEN assigned.pattern & {{ q.bit }} = 0 THEN assigned.{{ q.alias }} ELSE {{ q.suppressed }} END AS {{ q.alias }},
{% endfor %}
{% for c in carried %}
        assigned.{{ c.alias }},
{% endfor %}
{% if entity %}
        assigned.person,
{% endif %}
        assigned.kanon_place,
        assigned.kanon_at,
        assigned.pattern
    FROM (
        SELECT base.*, coalesce(rules.pattern, {{ all_suppressed }}) AS pattern
        FROM (
    {% include "distributed/base_rows.sql" %}
        ) AS base
        LEFT JOIN {{ rules }} AS rules
            ON rules.row_type = {% include "guard/row_type.sql" %}

{% if parts %}
            AND (rules.seed IS NULL OR ({% include "distributed/chance.sql" %}) BETWEEN rules.first_chance AND rules.last_chance)
{% endif %}
    ) AS assigned
) AS counted
ORDER BY kanon_chance
