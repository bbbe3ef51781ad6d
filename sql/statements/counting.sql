-- name: count_row_types(): Row types with multiplicities, each output one buffer of 64-bit big-endian numbers; buffers are empty
-- if they would need more bytes than the limit. Columns are the quasi-identifiers, then the sensitive columns that a privacy
-- model constrains. Foreign partitions are grouped where they are, each by itself.
WITH base AS{% if entity %} {% if not shards %}NOT {% endif %}MATERIALIZED{% endif %} (
{% for source in shards or [relation] %}
{% include "guard/base_rows" %}
    {% if not loop.last %}UNION ALL{% endif %}
{% endfor %}
),
{% if entity %}
{% if repeats %}
-- Who receives the pairs finds repeats among them in less time than a GROUP BY.
pairs AS NOT MATERIALIZED (
    SELECT
        {% include "counting/pair_key" %} AS key,
        {% include "counting/pair_person" %} AS who,
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
            {% include "counting/pair_key" %} AS key,
            {% include "counting/pair_person" %} AS who{% if shards %},
            pairs.n{% endif %}
        FROM base AS pairs
    ) AS held
    GROUP BY key, who
),
types AS MATERIALIZED (
    SELECT types.*, types.n - coalesce(spared.n, 0) AS people
    FROM (
        SELECT {% for q in columns %}{{ q.alias }}, {% endfor %}{% if shards %}sum(n)::bigint{% else %}count(*){% endif %} AS n
        FROM base GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last %}, {% endif %}{% endfor %}
        OFFSET 0
    ) AS types
    -- Rows that add nobody; most pairs have one row.
    LEFT JOIN (
        SELECT key, sum(n - (who IS NOT NULL)::integer)::bigint AS n FROM pairs WHERE n > 1 OR who IS NULL GROUP BY key
    ) AS spared ON spared.key = {% include "counting/type_key" %}
),
{% endif %}
{% endif %}
{% if repeats or not entity %}
types AS MATERIALIZED (
    SELECT
        {% for q in columns %}{{ q.alias }}, {% endfor %}
        {% if shards %}sum(n)::bigint AS n, sum(n)::bigint AS people{% else %}count(*) AS n, count(*) AS people{% endif %}
    FROM base GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last %}, {% endif %}{% endfor %}
),
{% endif %}
totals AS MATERIALIZED (
    SELECT count(*) AS types, coalesce(sum(n), 0)::bigint AS n,
{% if entity %}
        count(*) * {{ type_bytes }} + {% if repeats %}coalesce(sum(n), 0)::bigint{% else %}(SELECT count(*) FROM pairs){% endif %} * {{ pair_bytes }} AS bytes
{% else %}
        count(*) * {{ type_bytes }} AS bytes
{% endif %}
    FROM types
)
SELECT
    {% include "counting/totals" %},
    {% if entity %}(SELECT count(DISTINCT who) FROM pairs) AS people,{% else %}totals.n AS people,{% endif %}
    packed.*, paired.*
FROM totals
CROSS JOIN (
    {% include "counting/packed_types" %}
) AS packed
CROSS JOIN (
{% if entity %}
    SELECT
        coalesce(pg_catalog.string_agg(pg_catalog.int8send(pairs.key), '') FILTER (WHERE pairs.who IS NOT NULL), '') AS pair_keys,
        coalesce(pg_catalog.string_agg(pg_catalog.int8send(pairs.who), '') FILTER (WHERE pairs.who IS NOT NULL), '') AS pair_people,
        coalesce(sum((pg_catalog.hash_record_extended(ROW(pairs.key, pairs.who), {{ hash_seed }}) >> 32) * pairs.n), 0)::text
            AS fingerprint
    FROM pairs WHERE (SELECT t.bytes FROM totals AS t) <= {{ most_bytes }}
{% else %}
    SELECT ''::bytea AS pair_keys, ''::bytea AS pair_people
{% endif %}
) AS paired

-- name: counting/packed_types(): Row types as buffers of 64-bit big-endian numbers, empty if they would need more bytes than the
-- limit.
SELECT coalesce(pg_catalog.string_agg(pg_catalog.int8send(types.key), ''), '') AS keys,
        coalesce(pg_catalog.string_agg(pg_catalog.int8send(types.n), ''), '') AS row_counts,
        {% if repeats %}''::bytea{% else %}coalesce(pg_catalog.string_agg(pg_catalog.int8send(types.people), ''), ''){% endif %} AS people_counts
{% for q in columns %}
        , coalesce(pg_catalog.string_agg(pg_catalog.int8send({{ q.identity }}), ''), '') AS {{ q.cell }}
{% if q.value %}
        , coalesce(pg_catalog.string_agg(pg_catalog.float8send({{ q.value }}), ''), '') AS {{ q.number }}
{% endif %}
{% endfor %}
        {% if not entity %}, coalesce(sum((types.key >> 32) * types.n), 0)::text AS fingerprint{% endif %}
    FROM (
        SELECT types.*, {% include "counting/type_key" %} AS key
        FROM types WHERE (SELECT t.bytes FROM totals AS t) <= {{ most_bytes }}
        OFFSET 0
    ) AS types
{%- for q in columns if q.order %}
    LEFT JOIN (
        SELECT {{ q.alias }}, (row_number() OVER (ORDER BY {{ q.alias }}))::double precision AS place FROM types
        WHERE {{ q.alias }} IS NOT NULL GROUP BY {{ q.alias }}
    ) AS {{ q.order }} ON {{ q.order }}.{{ q.alias }} = types.{{ q.alias }}
{%- endfor %}

-- name: counting/pair_key(): The same number from a pair of a row type and a person.
pg_catalog.hash_record_extended(ROW({% for q in columns %}{{ q.hashed_pair }}{% if not loop.last %}, {% endif %}{% endfor %}), {{ hash_seed }})

-- name: counting/pair_mark(): What a pair of a row type and a person adds to the checksum.
(pg_catalog.hash_record_extended(
                ROW({% include "counting/pair_key" %}, {% include "counting/pair_person" %}), {{ hash_seed }}
            ) >> 32) * pairs.n

-- name: counting/pair_person(): The number by which the person of a pair is known, NULL for nobody known.
CASE WHEN pairs.person IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.hashed }}), 0) END

-- name: counting/totals(): The figures of all row types together.
totals.types,
    totals.bytes,
{% if quasi_identifiers %}
    (
        SELECT count(*)
        FROM (
            SELECT 1 AS one FROM types
            GROUP BY {% for q in quasi_identifiers %}{{ q }}{% if not loop.last %}, {% endif %}{% endfor %}
        ) AS tuple
    ) AS tuples,
{% else %}
    totals.types AS tuples,
{% endif %}
    totals.n AS rows

-- name: counting/type_key(): The number by which a row type is known.
pg_catalog.hash_record_extended(ROW({% for q in columns %}{{ q.hashed }}{% if not loop.last %}, {% endif %}{% endfor %}), {{ hash_seed }})

-- name: fingerprint_row_types(): A sum over all rows that changes when a quasi-identifier or the person of any row changes.
SELECT
    {% if shards %}coalesce(sum(pairs.n), 0)::bigint{% else %}count(*){% endif %} AS rows,
    coalesce(sum(({% if entity %}pg_catalog.hash_record_extended(
        ROW({% include "counting/pair_key" %}, {% include "counting/pair_person" %}), {{ hash_seed }}
    ){% else %}{% include "counting/pair_key" %}{% endif %} >> 32){% if shards %} * pairs.n{% endif %}), 0)::text AS fingerprint
FROM (
{% for source in shards or [relation] %}
{% include "guard/base_rows" %}
    {% if not loop.last %}UNION ALL{% endif %}
{% endfor %}
) AS pairs

-- name: sample_row_types(bigint, bigint): Whether the first rows of a relation alone have more row types than a limit: they are
-- counted up to it.
WITH base AS (
    SELECT
        {% for q in columns %}{{ q.expression }} AS {{ q.alias }}{% if not loop.last %},{% endif %} {% endfor %}
    FROM {{ relation }} LIMIT $2::bigint
)
SELECT count(*) AS types
FROM (
    SELECT FROM base
    GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last %}, {% endif %}{% endfor %} LIMIT $1::bigint + 1
) AS types

-- name: row_types(): A relation's row types, counted for whoever may read the relation at that moment; Citus asks a subquery that
-- names no table here, where the setting is, and not on its nodes.
SELECT
    {% for q in columns %}{{ q.alias }} AS {{ q.output }}, {% endfor %}
    count(*) AS {{ rows }},
    {% if entity %}count(DISTINCT person) AS {{ people }}{% else %}count(*) AS {{ people }}{% endif %}
FROM (
    SELECT
        {% for q in columns %}{{ q.expression }} AS {{ q.alias }}{% if not loop.last or entity %},{% endif %} {% endfor %}
        {% if entity %}{{ entity.expression }} AS person{% endif %}
    FROM {{ relation }}
    WHERE (
        SELECT pg_catalog.has_table_privilege(pg_catalog.current_setting('kanon.asking'), {{ relation_name }}::regclass, 'SELECT')
            OR ({% for q in columns %}pg_catalog.has_column_privilege(pg_catalog.current_setting('kanon.asking'), {{ relation_name }}::regclass, {{ q.name }}, 'SELECT'){% if not loop.last %} AND {% endif %}{% endfor %})
    )
) AS base
GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last %}, {% endif %}{% endfor %}

-- name: shards(text): The partitions of a table of which at least one lies on another server, if the current role may read all of
-- them.
WITH leaf AS (
    SELECT c.oid, c.relname, c.relkind, c.relnamespace
    FROM pg_catalog.pg_partition_tree(pg_catalog.to_regclass($1)) AS t
    INNER JOIN pg_catalog.pg_class AS c ON c.oid = t.relid
    WHERE t.isleaf AND t.level > 0
)
SELECT n.nspname::text AS schema, leaf.relname::text AS name FROM leaf
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = leaf.relnamespace
WHERE EXISTS (SELECT FROM leaf AS l WHERE l.relkind = 'f')
    AND NOT EXISTS (
        SELECT FROM leaf AS l
        WHERE NOT pg_catalog.has_table_privilege(l.oid, 'SELECT') OR NOT pg_catalog.has_schema_privilege(l.relnamespace, 'USAGE')
    )
ORDER BY schema, name
