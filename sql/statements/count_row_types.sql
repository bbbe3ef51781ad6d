-- Row types with multiplicities, each output one buffer of 64-bit big-endian numbers; buffers are empty
-- if they would need more bytes than the limit. Columns are the quasi-identifiers, then the sensitive columns
-- that a privacy model constrains. Foreign partitions are grouped where they are, each by itself.
WITH base AS{% if entity %} {% if not shards %}NOT {% endif %}MATERIALIZED{% endif %} (
{% for source in shards or [relation] %}
{% include "guard/base_rows.sql" %}
{% if not loop.last %}
    UNION ALL
{% endif %}
{% endfor %}
),

{% if entity %}
{% if repeats %}
-- Who receives the pairs finds repeats among them in less time than a GROUP BY.
pairs AS NOT MATERIALIZED (
    SELECT
        {% include "counting/pair_key.sql" %} AS key,
        {% include "counting/pair_person.sql" %} AS who,
        1 AS n
    FROM base AS pairs
    OFFSET 0
),

{% else %}
-- Two numbers per pair sort and hash faster than all cells; row types are grouped by their cells.
pairs AS MATERIALIZED (
    SELECT key, who, {% if shards %}sum(n)::bigint{% else %}count(*){% endif %} AS n
    FROM (
        SELECT
            {% include "counting/pair_key.sql" %} AS key,
            {% include "counting/pair_person.sql" %} AS who{% if shards %},
            pairs.n{% endif %}

        FROM base AS pairs
    ) AS held
    GROUP BY key, who
),

types AS MATERIALIZED (
    SELECT types.*, types.n - coalesce(spared.n, 0) AS people
    FROM (
        SELECT {% for q in columns %}{{ q.alias }}, {% endfor %}{% if shards %}sum(n)::bigint{% else %}count(*){% endif %} AS n
        FROM base
        GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last %}, {% endif %}{% endfor %}

        OFFSET 0
    ) AS types
    -- Rows that add nobody; most pairs have one row.
    LEFT JOIN (
        SELECT key, sum(n - (who IS NOT NULL)::integer)::bigint AS n
        FROM pairs
        WHERE n > 1 OR who IS NULL
        GROUP BY key
    ) AS spared ON spared.key = {% include "counting/type_key.sql" %}

),
{% endif %}
{% endif %}
{% if repeats or not entity %}
types AS MATERIALIZED (
    SELECT
        {% for q in columns %}{{ q.alias }}, {% endfor %}

{% if shards %}
        sum(n)::bigint AS n, sum(n)::bigint AS people
{% else %}
        count(*) AS n, count(*) AS people
{% endif %}
    FROM base
    GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last %}, {% endif %}{% endfor %}

),
{% endif %}

totals AS MATERIALIZED (
    SELECT
        count(*) AS types, coalesce(sum(n), 0)::bigint AS n,
{% if entity %}
        count(*) * {{ type_bytes }} + {% if repeats %}coalesce(sum(n), 0)::bigint{% else %}(SELECT count(*) FROM pairs){% endif %} * {{ pair_bytes }} AS bytes
{% else %}
        count(*) * {{ type_bytes }} AS bytes
{% endif %}
    FROM types
)

SELECT
    {% include "counting/totals.sql" %},
{% if entity %}
    (SELECT count(DISTINCT who) FROM pairs) AS people,
{% else %}
    totals.n AS people,
{% endif %}
    packed.*,
    paired.*
FROM totals
CROSS JOIN (
    {% include "counting/packed_types.sql" %}
) AS packed
CROSS JOIN (
{% if entity %}
    SELECT
        coalesce(pg_catalog.string_agg(pg_catalog.int8send(pairs.key), '') FILTER (WHERE pairs.who IS NOT NULL), '') AS pair_keys,
        coalesce(pg_catalog.string_agg(pg_catalog.int8send(pairs.who), '') FILTER (WHERE pairs.who IS NOT NULL), '') AS pair_people,
        coalesce(sum((pg_catalog.hash_record_extended(ROW(pairs.key, pairs.who), {{ hash_seed }}) >> 32) * pairs.n), 0)::text
            AS fingerprint
    FROM pairs
    WHERE (SELECT t.bytes FROM totals AS t) <= {{ most_bytes }}
{% else %}
    SELECT ''::bytea AS pair_keys, ''::bytea AS pair_people
{% endif %}
) AS paired
