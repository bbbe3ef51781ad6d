{# The class of each row of the base table in a release that does not say which row is which, by the rules that made it.
   What the rules give is compared with what is stored.
   - A settled row was there as it is now when the release read the table: what the rules say of it holds, but for divided
     row types, where others of its kind may have taken its place.
   - If the settled rows account for all that is stored, no other row is in the release.
   - Otherwise the others are taken for what is left of what is stored, where they look like it: is_assumed. Those that do
     not may have been what is stored and looks like no row: they are not known.
   Rows that readers of the release cannot tell apart are not known if only chance says which cells they have. #}
    WITH {% include "guard/base.sql" %}


    {% include "guard/assigned.sql" %}


    {% include "guard/masked.sql" %}


    classed AS (
        SELECT
            masked.*,
            pg_catalog.hash_record_extended(ROW({% for q in columns %}{{ q.masked_hash }}, {% endfor %}masked.pattern), 0)
                AS class
        FROM masked
        OFFSET 0
    ),

    expected AS MATERIALIZED (
        SELECT
            classed.person AS row_id,
            {% if by_person %}{{ relation }}.kanon_person{% else %}classed.person{% endif %} AS person,
            {% if settled %}{{ settled }}{% else %}false{% endif %} AS is_settled,
            classed.class,
{% if carried or by_person %}
            pg_catalog.hash_record_extended(
                ROW(classed.class
                    {%- for c in carried %}, {{ c.looks.classed }}{% endfor %}
                    {%- if by_person %}, {{ relation }}.kanon_person{% endif %}), 0
            ) AS published
{% else %}
            classed.class AS published
{% endif %}
        FROM classed
{% if by_person or settled %}
        INNER JOIN {{ relation }} ON {{ relation }}.kanon_row = classed.person
{% endif %}
    ),

{% if parts %}
    drawn AS MATERIALIZED (
        SELECT
            one.person AS row_id,
            min(one.pattern) OVER same_row <> max(one.pattern) OVER same_row AS by_chance
        FROM assigned AS one
        WHERE one.row_type IN (SELECT d.row_type FROM divided AS d)
        WINDOW same_row AS (PARTITION BY one.row_type{% for c in carried %}, {{ c.looks.one }}{% endfor %})
    ),

{% endif %}
    placed AS MATERIALIZED (
        SELECT
            expected.*,
{% if parts %}
            drawn.row_id IS NOT NULL AS is_divided,
            coalesce(drawn.by_chance, false) AS by_chance,
            expected.is_settled AND drawn.row_id IS NULL AS is_certain
        FROM expected
        LEFT JOIN drawn ON drawn.row_id = expected.row_id
{% else %}
            false AS is_divided,
            false AS by_chance,
            expected.is_settled AS is_certain
        FROM expected
{% endif %}
    ),

    shown AS (
        SELECT
            pg_catalog.hash_record_extended(ROW({% for c in cells %}{{ c.hashed }}, {% endfor %}s.kanon_pattern), 0) AS class
            {%- for c in carried %},
            {{ c.looks.stored }} AS {{ c.alias }}{% endfor %}
            {%- if by_person %},
            s.kanon_person{% endif %}

        FROM {{ storage }} AS s
        OFFSET 0
    ),

    stored AS (
        SELECT
{% if carried or by_person %}
            pg_catalog.hash_record_extended(
                ROW(shown.class
                    {%- for c in carried %}, shown.{{ c.alias }}{% endfor %}
                    {%- if by_person %}, shown.kanon_person{% endif %}), 0
            ) AS published
{% else %}
            shown.class AS published
{% endif %}
        FROM shown
    ),

    compared AS MATERIALIZED (
        SELECT
            published,
            count(*) FILTER (WHERE is_here) AS here,
            count(*) FILTER (WHERE NOT is_here) AS there,
            count(*) FILTER (WHERE is_certain) AS certain
        FROM (
            SELECT published, true AS is_here, is_certain FROM placed
            UNION ALL
            SELECT published, false, false FROM stored
        ) AS both_sides
        GROUP BY published
    ),

    account AS MATERIALIZED (
        SELECT
            coalesce(sum(there - here) FILTER (WHERE there > here), 0)::bigint AS missing,
            coalesce(pg_catalog.bool_or(there > certain), false) AS is_open,
{% if was_refreshed %}
            false AS is_whole
{% else %}
            -- All rows are as the release found them, and it shows all.
            pg_catalog.bool_and(there = here) AND (SELECT pg_catalog.bool_and(p.is_settled) FROM placed AS p) AS is_whole
{% endif %}
        FROM compared
    ),

    found AS (
        SELECT
            placed.row_id,
            placed.person,
            CASE WHEN compared.there > CASE WHEN placed.is_certain THEN 0 ELSE compared.certain END THEN placed.class END
                AS class,
            placed.is_certain
            OR NOT account.is_open
            OR (NOT placed.by_chance AND (
                compared.there >= compared.here OR (compared.there = compared.certain AND account.missing = 0)
            )) AS is_known,
            NOT placed.is_certain AND account.is_open AND NOT (placed.is_divided AND account.is_whole) AS is_assumed
        FROM placed
        INNER JOIN compared ON compared.published = placed.published
        CROSS JOIN account
    )

    SELECT row_id, person, class, is_known, is_assumed, 1::bigint AS rows
    FROM found
    WHERE class IS NOT NULL OR NOT is_known OR is_assumed
    UNION ALL
    SELECT NULL, NULL, NULL, false, false, account.missing FROM account
