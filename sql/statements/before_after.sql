-- name: before_after/facts(text): What a report says of a release besides its record; moments in UTC.
SELECT
    (
        SELECT pg_catalog.format('%I.%I', n.nspname, c.relname)
        FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.oid = base
    ) AS base,
    pg_catalog.format('safe.%I', release) AS view, parameters::text AS parameters, rows, people, classes, smallest_class, average_class, largest_class,
    suppressed_cells, suppressed_share, weighted_cost, lower_bound, gap, optimal, method, bound_method, termination,
    certainty_penalty, version, changes_since, published_by::text AS published_by,
    pg_catalog.to_char(published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS published_at,
    pg_catalog.to_char(refreshed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS refreshed_at
FROM kanon.releases WHERE release = $1::text

-- name: before_after/linked_tables(text): The further tables of a release; the source is what reads one with its people's reader.
SELECT t.name, pg_catalog.format('safe.%I', t.name) AS view, t.relation::oid::bigint AS relation, c.relname::text AS source,
    t.numbers_known, t.sensitive::text[] AS sensitive, t.insensitive::text[] AS insensitive,
    t.foreign_keys::text AS foreign_keys, pg_catalog.to_regclass(pg_catalog.format('safe.%I', t.name)) IS NOT NULL AS is_shown,
    EXISTS (
        SELECT FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = pg_catalog.to_regclass(pg_catalog.format('safe.%I', t.name)) AND a.attname = 'kanon_suppressed'
    ) AS has_models
FROM kanon.release_table AS t LEFT JOIN pg_catalog.pg_class AS c ON c.oid = t.source::oid
WHERE t.release = $1::text ORDER BY t.place

-- name: before_after/linked_rows(): The rows of a further table, with the person of each, and what is known of these.
(
    SELECT {% for c in columns %}t0.{{ c.value }} AS {{ c.name }}, {% endfor %}{{ last.below }}.{{ last.own }} AS kanon_person
        {% if people %}, {{ last.alias }}.*{% endif %}
    FROM {{ rows }} AS t0
    {% for s in steps %}LEFT JOIN {{ s.relation }} AS {{ s.alias }} ON {{ s.alias }}.{{ s.key }} = {{ s.below }}.{{ s.own }} {% endfor %}
) AS linked

-- name: before_after/patterns(): How many rows of a release have which levels.
SELECT kanon_pattern AS pattern, count(*) AS rows FROM {{ storage }} GROUP BY kanon_pattern

-- name: before_after/would_show(): The rows that a release would have of its base relation now, before the guard withholds any, as a
-- number and a sum of hashes.
WITH {% include "guard/base" %}
{% include "guard/assigned" %}
{% include "guard/masked" %}
hashed AS (
    SELECT pg_catalog.hash_record_extended(ROW(
        {% for q in columns %}{{ q.masked_hash }}, {% endfor %}
        {% for look in looks %}{{ look }}, {% endfor %}
        {% if entity %}CASE WHEN masked.person IS NOT NULL THEN pg_catalog.hash_record_extended(ROW({{ entity.masked_hash }}), 0) END,{% endif %}
        masked.pattern
    ), 0) AS hash
    FROM masked
)
SELECT count(*) AS rows, sum(hash)::text AS hashes FROM hashed

-- name: before_after/shows(): The same of what a release has.
SELECT count(*) AS rows, sum(pg_catalog.hash_record_extended(ROW(
        {% for cell in cells %}{{ cell }}, {% endfor %}
        {% for look in looks %}{{ look }}, {% endfor %}
        {% if entity %}s.kanon_person,{% endif %}
        s.kanon_pattern
    ), 0))::text AS hashes
FROM {{ storage }} AS s

-- name: before_after/source(): The rows of a base relation or of a release, with the columns that are compared.
    SELECT
{% for c in columns %}
        {{ c.expression }} AS {{ c.cell }},
{% if c.hidden %}
        {{ c.hidden }} AS {{ c.is_hidden }},
{% endif %}
{% if c.level %}
        {{ c.level }} AS {{ c.level_alias }},
{% endif %}
{% endfor %}
        {% if entity %}{{ entity }} AS person,{% endif %}
        true AS is_row
    FROM {{ relation }}

-- name: before_after/shown(): The visible values of a column, by their hashes.
SELECT coalesce(pg_catalog.array_agg(DISTINCT {{ columns[0].identity }}), '{}') AS identities
FROM (
{% include "before_after/source" %}
) AS source
WHERE source.{{ columns[0].cell }} IS DISTINCT FROM NULL{% if columns[0].hidden %} AND NOT source.{{ columns[0].is_hidden }}{% endif %}

-- name: before_after/nodes_shown(): How many rows show which node of a generalized column, by the hash of node and level.
SELECT {{ columns[0].identity }} AS node, count(*) AS rows
FROM (
{% include "before_after/source" %}
) AS source
WHERE source.{{ columns[0].cell }} IS DISTINCT FROM NULL AND NOT source.{{ columns[0].is_hidden }}
GROUP BY {{ columns[0].identity }}

-- name: before_after/nodes(): The nodes of a hierarchy at one level, in order, each with the hashes of the values below it and of
-- all nodes from there up to it.
SELECT kanon.spelled({{ top.name }}) AS label, pg_catalog.array_agg(DISTINCT {{ identity }}) AS cells,
    pg_catalog.array_agg(DISTINCT below.node) AS nodes
FROM {{ table }} AS known
CROSS JOIN LATERAL pg_catalog.unnest(ARRAY[
{% for n in nodes %}
    pg_catalog.hash_record_extended(ROW({{ loop.index0 }}, {{ n.look }}), 0){% if not loop.last %},{% endif %}
{% endfor %}
]) AS below (node)
GROUP BY {{ top.name }}
ORDER BY {{ top.name }}

-- name: before_after/values(bigint[]): The values of a column which at least k people have, most of them first, but those of some
-- hashes; and how many values there are besides these, told apart by what readers see.
WITH cell AS MATERIALIZED (
    SELECT {{ columns[0].identity }} AS identity, min({{ columns[0].kept }}) AS kept,
        {% if entity %}count(DISTINCT source.person){% else %}count(*){% endif %} AS people, count(*) AS rows
    FROM (
{% include "before_after/source" %}
    ) AS source
    WHERE source.{{ columns[0].cell }} IS DISTINCT FROM NULL
    GROUP BY {{ columns[0].identity }}
),
left_over AS MATERIALIZED (
    SELECT cell.* FROM cell
    LEFT JOIN pg_catalog.unnest($1::bigint[]) AS shown (identity) ON shown.identity = cell.identity
    WHERE shown.identity IS NULL
)
SELECT every.different, many.identity, {{ columns[0].label }} AS label, many.rows
FROM (SELECT count(*) AS different FROM left_over) AS every
LEFT JOIN (
    SELECT identity, kept, rows, people FROM left_over WHERE people >= {{ k }} ORDER BY rows DESC, identity LIMIT {{ most }}
) AS many ON true
ORDER BY many.rows DESC, many.identity

-- name: before_after/spread(): Between which numbers nine of ten values of a column are; NULL without finite values.
SELECT pg_catalog.percentile_disc(ARRAY[0.05, 0.95]) WITHIN GROUP (ORDER BY valued.number) AS ends
FROM (
    SELECT {{ columns[0].number }} AS number
    FROM (
{% include "before_after/source" %}
    ) AS source
) AS valued
WHERE valued.number > -1e300 AND valued.number < 1e300

-- name: before_after/class_sizes(): How many people have a class of which size as their smallest, by the quasi-identifiers; and the
-- mean of 1 / size over all memberships.
WITH member AS MATERIALIZED (
    SELECT source.*, count(*) AS rows
    FROM (
        SELECT
            {% for c in columns %}{{ c.expression }} AS {{ c.cell }}, {% endfor %}
            {% if entity %}{{ entity }} AS person, {% endif %}
            {% if pattern %}{{ pattern }}{% else %}0{% endif %} AS pattern
        FROM {{ relation }}
    ) AS source
    GROUP BY {% for c in columns %}{{ c.cell }}, {% endfor %}{% if entity %}person, {% endif %}pattern
),
{% if entity %}
sized AS MATERIALIZED (
    SELECT person, count(person) OVER (PARTITION BY {% for c in columns %}{{ c.cell }}, {% endfor %}pattern) AS size
    FROM member
)
SELECT once.size, count(*) AS people, (SELECT avg(1::double precision / s.size) FROM sized AS s WHERE s.person IS NOT NULL) AS marketer
FROM (SELECT person, min(size) AS size FROM sized WHERE person IS NOT NULL GROUP BY person) AS once
GROUP BY once.size
{% else %}
sized AS (SELECT rows AS size FROM member)
SELECT size, sum(size)::bigint AS people, (SELECT count(*) / sum(s.size)::double precision FROM sized AS s) AS marketer FROM sized
GROUP BY size
{% endif %}
ORDER BY size

-- name: before_after/tables(bigint[], bigint[], bigint[], double precision[]): Rows, people and the most rows of one of them by the
-- buckets of each column, and rows by those of two and three columns together: a row each, with a list of each figure. Buckets
-- are given by column, hash of a value or node, and number; those of numbers by bounds. Others are 0, NULL is -1, a suppressed
-- cell -2.
WITH known AS MATERIALIZED (
    SELECT given.place, given.identity, given.bucket
    FROM ROWS FROM (
        pg_catalog.unnest($1::bigint[]), pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($3::bigint[])
    ) AS given (place, identity, bucket)
),
scale AS MATERIALIZED (SELECT $4::double precision[] AS bounds),
held AS MATERIALIZED (
    SELECT
{% for c in columns %}
        CASE
            {% if c.hidden %}WHEN source.{{ c.is_hidden }} THEN -2{% endif %}
            WHEN source.{{ c.cell }} IS NOT DISTINCT FROM NULL THEN -1
{% if c.ends %}
            WHEN {{ c.number }} = 'NaN' THEN 0
            ELSE pg_catalog.width_bucket({{ c.number }}, (SELECT s.bounds[{{ c.begins }}:{{ c.ends }}] FROM scale AS s)) + 1
{% else %}
            ELSE coalesce({{ c.known }}.bucket, 0)
{% endif %}
        END AS {{ c.bucket }},
{% endfor %}
        {% if entity %}source.person,{% endif %}
        count(*) AS n
    FROM (
{% include "before_after/source" %}
    ) AS source
{% for c in columns %}
{% if not c.ends %}
    LEFT JOIN known AS {{ c.known }} ON {{ c.known }}.place = {{ loop.index }} AND {{ c.known }}.identity = {{ c.identity }}
{% endif %}
{% endfor %}
    GROUP BY {% for c in columns %}{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}{% if entity %}, source.person{% endif %}
)
SELECT 0 AS number, ARRAY[]::bigint[] AS first, NULL::bigint[] AS second, NULL::bigint[] AS third,
    ARRAY[coalesce(sum(n), 0)]::bigint[] AS rows,
    ARRAY[{% if entity %}count(person){% else %}coalesce(sum(n), 0){% endif %}]::bigint[] AS people,
    ARRAY[{% if entity %}coalesce(max(n), 1){% else %}1{% endif %}]::bigint[] AS most
FROM {% if entity %}(SELECT sum(n) AS n, person FROM held GROUP BY person) AS {% endif %}held
{% for t in tables %}
UNION ALL
SELECT {{ t.number }}, {% for name in ("first", "second", "third") %}
    {% if loop.index0 < t.buckets | length %}pg_catalog.array_agg(counted.{{ t.buckets[loop.index0] }}::bigint){% else %}NULL{% endif %},
{% endfor %}
    pg_catalog.array_agg(counted.n), {% if t.buckets | length > 1 %}NULL, NULL{% else %}pg_catalog.array_agg(counted.people), pg_catalog.array_agg(counted.most){% endif %}
FROM (
    SELECT {% for b in t.buckets %}{{ b }}, {% endfor %}sum(n)::bigint AS n,
        {% if entity %}count(person) AS people, max(n)::bigint AS most{% else %}sum(n)::bigint AS people, 1::bigint AS most{% endif %}
    FROM {% if entity and t.buckets | length == 1 %}(
        SELECT {{ t.buckets[0] }}, sum(n) AS n, person FROM held GROUP BY {{ t.buckets[0] }}, person
    ) AS {% endif %}held
    GROUP BY {% for b in t.buckets %}{{ b }}{% if not loop.last %}, {% endif %}{% endfor %}
) AS counted
{% endfor %}
