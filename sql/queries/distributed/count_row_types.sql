-- Row types with multiplicities, as count_row_types gives them, of a table that is distributed by who a row is about: each
-- node counts the people of its shards for good. What travels is row types with counts of rows, people and people who have no other row type,
-- and, of those who have others, two numbers per row type and person. The numbers of those who have one are drawn here.
WITH types AS MATERIALIZED (
    SELECT
        {% for q in columns %}{{ q.alias }}, {% endfor %}

        sum(n)::bigint AS n,
        count(*) AS people,
        sum((row_types = 1)::integer)::bigint AS lone
    FROM (
        {% include "distributed/held_row_types.sql" %}
    ) AS held
    GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last %}, {% endif %}{% endfor %}

),

pairs AS MATERIALIZED (
    SELECT
        {% include "counting/pair_key.sql" %} AS key,
        pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) AS person
    FROM (
        {% include "distributed/held_row_types.sql" %}
    ) AS pairs
    WHERE row_types > 1
),

marks AS MATERIALIZED (
    SELECT
        coalesce(sum(mark), 0)::text AS fingerprint,
        coalesce(sum(first), 0)::bigint AS people
    FROM (
        SELECT
            {% include "counting/pair_mark.sql" %} AS mark,
            (pairs.place = 1)::integer AS first
        FROM (
            {% include "distributed/held_row_types.sql" %}
        ) AS pairs
    ) AS marked
),

totals AS MATERIALIZED (
    SELECT
        count(*) AS types,
        coalesce(sum(n), 0)::bigint AS n,
        coalesce(sum(lone), 0)::bigint AS lone,
        count(*) * {{ type_bytes }} + (coalesce(sum(lone), 0)::bigint + (SELECT count(*) FROM pairs)) * {{ pair_bytes }} AS bytes
    FROM types
)

SELECT
    {% include "counting/totals.sql" %},
    marks.people,
    marks.fingerprint,
    packed.*,
    paired.*
FROM totals
CROSS JOIN marks
CROSS JOIN (
    {% include "counting/packed_types.sql" %}
) AS packed
CROSS JOIN (
    SELECT
        coalesce(pg_catalog.string_agg(pg_catalog.int8send(listed.key), ''), '') AS pair_keys,
        coalesce(pg_catalog.string_agg(pg_catalog.int8send(listed.person), ''), '') AS pair_people
    FROM (
        SELECT p.key, p.person FROM pairs AS p WHERE (SELECT t.bytes FROM totals AS t) <= {{ most_bytes }}
        UNION ALL
        SELECT types.key, pg_catalog.hash_record_extended(ROW(types.key, lone.number), 1)
        FROM (
            SELECT types.lone, {% include "counting/type_key.sql" %} AS key
            FROM types
            WHERE (SELECT t.bytes FROM totals AS t) <= {{ most_bytes }}
        ) AS types
        CROSS JOIN LATERAL pg_catalog.generate_series(1, types.lone) AS lone (number)
    ) AS listed
) AS paired
