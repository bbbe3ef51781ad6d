-- Row types with multiplicities, each output one buffer of 64-bit big-endian numbers; buffers are empty
-- if they would need more bytes than the limit. Columns are the quasi-identifiers, then the sensitive columns
-- that a privacy model constrains. Foreign partitions are grouped where they are, each by itself.
WITH base AS (
{% for source in shards or [relation] %}
{% include "guard/base_rows.sql" %}
{% if not loop.last %}
    UNION ALL
{% endif %}
{% endfor %}
),

{% if entity %}
pairs AS MATERIALIZED (
    SELECT {% for q in columns %}{{ q.alias }}, {% endfor %}person, {% if shards %}sum(n)::bigint{% else %}count(*){% endif %} AS n
    FROM base
    GROUP BY {% for q in columns %}{{ q.alias }}, {% endfor %}person
),

types AS MATERIALIZED (
    SELECT {% for q in columns %}{{ q.alias }}, {% endfor %}sum(n)::bigint AS n, count(person) AS people
    FROM pairs
    GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last %}, {% endif %}{% endfor %}

),
{% else %}
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
        count(*) * {{ type_bytes }} + (SELECT count(*) FROM pairs) * {{ pair_bytes }} AS bytes
{% else %}
        count(*) * {{ type_bytes }} AS bytes
{% endif %}
    FROM types
)

SELECT
    {% include "counting/totals.sql" %},
{% if entity %}
    (SELECT count(DISTINCT person) FROM pairs) AS people,
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
        coalesce(pg_catalog.string_agg(
            pg_catalog.int8send({% include "counting/pair_key.sql" %}), ''
        ) FILTER (WHERE pairs.person IS NOT NULL), '') AS pair_keys,
        coalesce(pg_catalog.string_agg(
            pg_catalog.int8send(pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0)), ''
        ) FILTER (WHERE pairs.person IS NOT NULL), '') AS pair_people,
        coalesce(sum({% include "counting/pair_mark.sql" %}), 0)::text AS fingerprint
    FROM pairs
    WHERE (SELECT t.bytes FROM totals AS t) <= {{ most_bytes }}
{% else %}
    SELECT ''::bytea AS pair_keys, ''::bytea AS pair_people
{% endif %}
) AS paired
