-- name: way_to_people(bigint): The links from a table to its people, in order; the last table has the columns that tell people
-- apart. One row without them if the links lead to nobody any more.
WITH RECURSIVE way AS (
    SELECT 1 AS step, l.child, l.parent, l.columns, l.parent_columns, l.people, l.person FROM kanon.links AS l
    WHERE l.child = $1::bigint::oid::regclass
    UNION ALL
    SELECT w.step + 1, l.child, l.parent, l.columns, l.parent_columns, l.people, l.person
    FROM way AS w INNER JOIN kanon.links AS l ON l.child = w.parent AND w.people IS NOT NULL
)
SELECT w.columns::text[] AS columns, w.parent_columns::text[] AS parent_columns, w.parent::oid::bigint AS parent,
    w.person::text[] AS person
FROM way AS w ORDER BY w.step

-- name: linked_above(bigint): The tables that links lead to from a table, whether their foreign keys still hold or not.
SELECT a.relation::oid::bigint AS oid FROM kanon.linked_above($1::bigint::oid::regclass) AS a (relation)

-- name: linked_below(bigint): The tables from which links lead to a table, and whether they answer queries.
SELECT b.relation::oid::bigint AS oid, n.nspname::text AS schema, c.relname::text AS name,
    EXISTS (SELECT FROM kanon.protection AS p WHERE p.relation = b.relation) AS protected
FROM kanon.linked_below($1::bigint::oid::regclass) AS b (relation)
INNER JOIN pg_catalog.pg_class AS c ON c.oid = b.relation::oid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
ORDER BY n.nspname, c.relname

-- name: linked_rows(): The rows of a linked table with the person of each, as a subquery for FROM.
(
    SELECT t0.*,
{% if columns|length == 1 %}
        {{ last }}.{{ columns[0] }} AS {{ person }}
{% else %}
        pg_catalog.format('{% for c in columns %}%L {% endfor %}'{% for c in columns %}, {{ last }}.{{ c }}{% endfor %}) AS {{ person }}
{% endif %}
    FROM {{ relation }} AS t0
{% for step in steps %}
    INNER JOIN {{ step.relation }} AS {{ step.alias }}
        ON {% for p in step.pairs %}{{ step.alias }}.{{ p.parent }} = {{ step.child }}.{{ p.column }}{% if not loop.last %} AND {% endif %}{% endfor %}
{% endfor %}
) AS linked

-- name: list_links(): The links, and whose people they lead to.
SELECT child::text AS child, parent::text AS parent, columns::text[] AS columns, foreign_key::text AS foreign_key,
    people::text AS people, person::text[] AS person, linked_by::text AS linked_by,
    pg_catalog.to_char(linked_at, 'YYYY-MM-DD HH24:MI:SS') AS linked_at
FROM kanon.links ORDER BY 1

-- name: store_link(bigint, bigint, text[], text[], text): Records or replaces whose people the rows of a table belong to.
INSERT INTO kanon.link AS l (child, parent, columns, parent_columns, linked_by)
VALUES ($1::bigint::oid::regclass, $2::bigint::oid::regclass, $3::text[]::name[], $4::text[]::name[], $5::text::name)
ON CONFLICT (child) DO UPDATE SET
    parent = excluded.parent, columns = excluded.columns, parent_columns = excluded.parent_columns,
    linked_by = excluded.linked_by, linked_at = pg_catalog.now()

-- name: forget_link(bigint): Removes a link.
DELETE FROM kanon.link WHERE child = $1::bigint::oid::regclass RETURNING parent::oid::bigint AS parent

-- name: find_foreign_keys(bigint, bigint): The foreign keys that lead from one table to another.
SELECT f.name::text AS name, f.columns::text[] AS columns, f.parent_columns::text[] AS parent_columns,
    f.nullable::text[] AS nullable, f.validated, f.inherited
FROM (
{% include "foreign_keys" %}
) AS f
WHERE f.child = $1::bigint::oid AND f.parent = $2::bigint::oid ORDER BY f.name

-- name: foreign_keys(): Foreign keys, with what a link asks of them: one row of the parent for each row of the child, at every
-- moment.
    SELECT c.conrelid AS child, c.confrelid AS parent, c.conname AS name, k.columns, k.parent_columns,
        coalesce(k.nullable, '{}') AS nullable,
        c.convalidated
        -- of PostgreSQL 18: refers to the rows of a span of time
        AND NOT coalesce((pg_catalog.to_jsonb(c) ->> 'conperiod')::boolean, false)
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger AS t WHERE t.tgconstraint = c.oid AND t.tgenabled <> 'O') AS validated,
        -- a foreign key says nothing about rows of inheritance children
        EXISTS (
            SELECT FROM pg_catalog.pg_class AS r INNER JOIN pg_catalog.pg_inherits AS i ON i.inhparent = r.oid
            WHERE r.oid IN (c.conrelid, c.confrelid) AND r.relkind = 'r'
        ) AS inherited
    FROM pg_catalog.pg_constraint AS c
    CROSS JOIN LATERAL (
        SELECT pg_catalog.array_agg(a.attname ORDER BY a.attname) AS columns,
            pg_catalog.array_agg(p.attname ORDER BY a.attname) AS parent_columns,
            pg_catalog.array_agg(a.attname ORDER BY a.attname) FILTER (
                WHERE NOT a.attnotnull OR EXISTS (
                    -- of PostgreSQL 18: NOT NULL that was not validated
                    SELECT FROM pg_catalog.pg_constraint AS n
                    WHERE n.conrelid = a.attrelid AND n.contype = 'n' AND n.conkey = ARRAY[a.attnum] AND NOT n.convalidated
                )
            ) AS nullable
        FROM ROWS FROM (pg_catalog.unnest(c.conkey), pg_catalog.unnest(c.confkey)) AS u (number, parent_number)
        INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = u.number
        INNER JOIN pg_catalog.pg_attribute AS p ON p.attrelid = c.confrelid AND p.attnum = u.parent_number
    ) AS k
    WHERE c.contype = 'f'
