-- name: hierarchy_broken_ranges(text, integer, integer[], text[], text[]): The lowest level, if any, at which ranges do not hold
-- their values, do not nest, or overlap. The arrays hold each node once, with its level and the node above it.
WITH nodes AS (
    SELECT u.level, u.node::{{ range }} AS span, u.above::{{ range }} AS above
    FROM ROWS FROM (pg_catalog.unnest($3::integer[]), pg_catalog.unnest($4::text[]), pg_catalog.unnest($5::text[])) AS u (level, node, above)
),
neighbours AS (SELECT level, span, pg_catalog.lag(span) OVER (PARTITION BY level ORDER BY span) AS previous FROM nodes)
SELECT
    (
        SELECT 1 FROM kanon.hierarchy_value AS v
        WHERE v.hierarchy = $1 AND v.version = $2 AND NOT v.nodes[1]::{{ range }} @> v.value::{{ element }} LIMIT 1
    ) AS misplaced,
    (SELECT min(level) FROM nodes WHERE NOT above @> span) AS torn,
    (SELECT min(level) FROM neighbours WHERE span && previous) AS overlapping

-- name: hierarchy_column_values(): The different values of a column, each in a text form that does not depend on the session's
-- style of dates or its time zone.
SELECT
{% if is_zoned %}
    CASE
        WHEN pg_catalog.isfinite({{ column }}::pg_catalog.timestamptz)
            THEN (pg_catalog.to_jsonb(pg_catalog.timezone('UTC', {{ column }}::pg_catalog.timestamptz)) #>> '{}') || '+00:00'
        ELSE pg_catalog.to_jsonb({{ column }}) #>> '{}'
    END AS value,
{% elif is_moment %}
    pg_catalog.to_jsonb({{ column }}) #>> '{}' AS value,
{% else %}
    {{ text }} AS value,
{% endif %}
    count(*) AS rows
FROM {{ relation }} WHERE {{ column }} IS NOT NULL GROUP BY {{ column }} ORDER BY 1 LIMIT {{ most }}

-- name: hierarchy_drop(text): Forgets all versions of a hierarchy; their values go with them.
DELETE FROM kanon.hierarchy WHERE name = $1

-- name: hierarchy_find(text, integer, text): The latest version of a hierarchy, or a given one, and whether a role may see and
-- use it.
SELECT h.version, h.kind, h.output, h.height, h.nodes,
    coalesce(
        h.shared OR pg_catalog.pg_has_role($3::name, pg_catalog.to_regrole(pg_catalog.quote_ident(h.created_by)), 'USAGE'),
        (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = $3::name)
    ) AS usable,
    coalesce(
        pg_catalog.pg_has_role($3::name, pg_catalog.to_regrole(pg_catalog.quote_ident(h.created_by)), 'USAGE'),
        (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = $3::name)
    ) AS owned
FROM kanon.hierarchy AS h WHERE h.name = $1 AND h.version = coalesce($2, h.version) ORDER BY h.version DESC LIMIT 1

-- name: hierarchy_hold(text): Keeps a hierarchy from being dropped until the transaction ends: a name that is dropped and stored
-- anew would have the same versions with other values.
SELECT version FROM kanon.hierarchy WHERE name = $1 FOR KEY SHARE

-- name: hierarchy_insert(text, integer, text, text, text, text, integer, integer[], boolean, text):
-- Records a version of a hierarchy.
INSERT INTO kanon.hierarchy (name, version, description, kind, spec, output, height, nodes, shared, created_by)
VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10::name)

-- name: hierarchy_insert_values(text, integer, text[], text[]): Stores the values of a hierarchy: the values, and per value its
-- nodes as the text of an array.
INSERT INTO kanon.hierarchy_value (hierarchy, version, value, nodes)
SELECT $1, $2, u.value, u.nodes::text[]
FROM ROWS FROM (pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::text[])) AS u (value, nodes)

-- name: hierarchy_lock(): Lets one call at a time store hierarchies; readers go on.
LOCK TABLE kanon.hierarchy IN SHARE ROW EXCLUSIVE MODE

-- name: hierarchy_next_version(text): The version that a hierarchy of this name has next; the table must be locked, so that no
-- other call takes it.
SELECT coalesce(max(version), 0) + 1 AS version FROM kanon.hierarchy WHERE name = $1

-- name: hierarchy_rows(text, integer): The values of a version of a hierarchy with their nodes from level 1.
SELECT value, nodes FROM kanon.hierarchy_value WHERE hierarchy = $1 AND version = $2 ORDER BY value

-- name: hierarchy_table_rows(): The rows of a table that holds a hierarchy, as texts.
SELECT
    {% for column in columns %}{{ column.text }} AS {{ column.alias }}{% if not loop.last %},{% endif %} {% endfor %}
FROM {{ relation }} LIMIT {{ most }}

-- name: list_hierarchies(): The stored hierarchies in their latest versions.
SELECT hierarchy, version, description, kind, output, height, nodes, shared, created_by::text AS created_by,
    created_at::text AS created_at
FROM kanon.hierarchies ORDER BY hierarchy
