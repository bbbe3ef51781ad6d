{# The class of each row of the base table in a release that does not say which row is which, by the rules that made it.
   What the rules give is compared with what is stored. Where nothing stored is missing in the table, other rows of
   the table are not in the release; where something is, they may have been it. Rows that readers of the release
   cannot tell apart are known if all of them are in it, and none if only chance says which cells they have. #}
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
            {% if by_person %}kanon_rows.kanon_person{% else %}classed.person{% endif %} AS person,
            classed.class,
{% if carried or by_person %}
            pg_catalog.hash_record_extended(
                ROW(classed.class
                    {%- for c in carried %}, classed.{{ c.alias }}::text COLLATE "C"{% endfor %}
                    {%- if by_person %}, kanon_rows.kanon_person{% endif %}), 0
            ) AS published
{% else %}
            classed.class AS published
{% endif %}
        FROM classed
{% if by_person %}
        INNER JOIN kanon_rows ON kanon_rows.kanon_row = classed.person
{% endif %}
    ),

    shown AS (
        SELECT
            pg_catalog.hash_record_extended(ROW({% for c in cells %}{{ c.hashed }}, {% endfor %}s.kanon_pattern), 0) AS class
            {%- for c in carried %},
            s.{{ c.output }}::text COLLATE "C" AS {{ c.alias }}{% endfor %}
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
                    {%- for c in carried %}, shown.{{ c.alias }} COLLATE "C"{% endfor %}
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
            count(*) FILTER (WHERE NOT is_here) AS there
        FROM (
            SELECT published, true AS is_here FROM expected
            UNION ALL
            SELECT published, false FROM stored
        ) AS both_sides
        GROUP BY published
    ),

    missing AS MATERIALIZED (
        SELECT coalesce(sum(there - here), 0)::bigint AS rows FROM compared WHERE there > here
    )

    SELECT
        expected.row_id,
        expected.person,
        expected.class,
        compared.there >= compared.here{% if parts %} AND expected.row_id NOT IN (SELECT tied.row_id FROM (
            SELECT
                drawn.person AS row_id,
                min(drawn.pattern) OVER same_row <> max(drawn.pattern) OVER same_row AS by_chance
            FROM assigned AS drawn
            WHERE drawn.row_type IN (SELECT d.row_type FROM divided AS d)
            WINDOW same_row AS (PARTITION BY drawn.row_type{% for c in carried %}, drawn.{{ c.alias }}::text COLLATE "C"{% endfor %})
        ) AS tied WHERE tied.by_chance){% endif %} AS is_known,
        1::bigint AS rows
    FROM expected
    INNER JOIN compared ON compared.published = expected.published
    CROSS JOIN missing
    WHERE compared.there > 0 OR missing.rows > 0
    UNION ALL
    SELECT NULL, NULL, NULL, false, missing.rows FROM missing
