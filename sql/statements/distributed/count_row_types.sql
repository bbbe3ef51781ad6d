-- Row types with multiplicities, as count_row_types gives them, of a table that is distributed by who a row is about: each
-- node counts the people of its shards for good, in one pass. What travels is row types with counts of rows, people and people who
-- have no other row type, and a number for each person who has others. The numbers of those who have none are drawn here.
WITH types AS MATERIALIZED (
    SELECT
        {% for q in columns %}{{ q.alias }}, {% endfor %}

        sum(n)::bigint AS n,
        count(*) AS people,
        sum(lone)::bigint AS lone,
        pg_catalog.array_agg(someone) FILTER (WHERE lone = 0) AS others,
        sum(first)::bigint AS first,
        sum(mark) AS mark
    FROM (
        SELECT
            {% for q in columns %}{{ q.alias }}, {% endfor %}

            n,
            (row_types = 1)::integer AS lone,
            (place = 1)::integer AS first,
            pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) AS someone,
            {% include "counting/pair_mark.sql" %} AS mark
        FROM (
            SELECT
                held.*,
                count(*) OVER (PARTITION BY held.person) AS row_types,
                pg_catalog.row_number() OVER (PARTITION BY held.person) AS place
            FROM (
                SELECT {% for q in columns %}{{ q.alias }}, {% endfor %}person, count(*) AS n
                FROM (
                    SELECT
{% for q in columns %}
                        {{ q.expression }} AS {{ q.alias }},
{% endfor %}
                        {{ entity.expression }} AS person
                    FROM {{ relation }}
                ) AS base
                GROUP BY {% for q in columns %}{{ q.alias }}, {% endfor %}person
            ) AS held
        ) AS pairs
    ) AS counted
    GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last %}, {% endif %}{% endfor %}

),

totals AS MATERIALIZED (
    SELECT
        count(*) AS types,
        coalesce(sum(n), 0)::bigint AS n,
        coalesce(sum(first), 0)::bigint AS people,
        coalesce(sum(mark), 0)::text AS fingerprint,
        count(*) * {{ type_bytes }} + coalesce(sum(people), 0)::bigint * {{ pair_bytes }} AS bytes
    FROM types
)

SELECT
    {% include "counting/totals.sql" %},
    totals.people,
    totals.fingerprint,
    packed.*,
    paired.*
FROM totals
CROSS JOIN (
    {% include "counting/packed_types.sql" %}
) AS packed
CROSS JOIN (
    SELECT
        coalesce(pg_catalog.string_agg(pg_catalog.int8send(types.key), ''), '') AS pair_keys,
        coalesce(pg_catalog.string_agg(pg_catalog.int8send(somebody.person), ''), '') AS pair_people
    FROM (
        SELECT types.lone, types.others, {% include "counting/type_key.sql" %} AS key
        FROM types
        WHERE (SELECT t.bytes FROM totals AS t) <= {{ most_bytes }}
        OFFSET 0
    ) AS types
    CROSS JOIN LATERAL (
        SELECT other.person FROM pg_catalog.unnest(types.others) AS other (person)
        UNION ALL
        SELECT pg_catalog.hash_record_extended(ROW(types.key, alone.number), 1)
        FROM pg_catalog.generate_series(1, types.lone) AS alone (number)
    ) AS somebody
) AS paired
