-- name: query_facts(text[], text[], text): What a query may name, and the tables that links lead to from there: whose people they
-- have, who owns what they read, which columns and keys they have. One row for each relation; columns and keys are JSON.
WITH RECURSIVE candidates (oid) AS MATERIALIZED (
    SELECT c.oid FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relname = ANY ($1::text[]::name[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'
        AND (n.nspname = ANY ($1::text[]::name[]) OR n.nspname = ANY ($2::text[]::name[]))
        AND n.nspname NOT IN (
            'pg_catalog', 'information_schema', 'pg_toast', 'kanon', 'kanon_bases', 'kanon_shards',
            'kanon_shown'
        )
),
links AS MATERIALIZED (
    SELECT l.child::oid AS child, l.parent::oid AS parent, l.columns, l.parent_columns, l.people::oid AS people
    FROM kanon.links AS l
),
-- A partition or child is what its parent is.
tops (oid, top, distance) AS (
    SELECT c.oid, c.oid, 0 FROM candidates AS c
    UNION ALL
    SELECT t.oid, i.inhparent, t.distance + 1 FROM tops AS t INNER JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = t.top
),
chains (root, step, oid) AS (
    SELECT t.oid, 1, l.parent
    FROM (
        SELECT DISTINCT ON (t.oid) t.oid, t.top FROM tops AS t INNER JOIN links AS l ON l.child = t.top ORDER BY t.oid, t.distance
    ) AS t
    INNER JOIN links AS l ON l.child = t.top AND l.people IS NOT NULL
    UNION ALL
    SELECT c.root, c.step + 1, l.parent FROM chains AS c INNER JOIN links AS l ON l.child = c.oid AND l.people IS NOT NULL
),
targets (oid) AS MATERIALIZED (SELECT c.oid FROM candidates AS c UNION SELECT c.oid FROM chains AS c),
known (oid) AS MATERIALIZED (
    SELECT d.relation::oid FROM kanon.declaration AS d
    UNION
    SELECT p.relation::oid FROM kanon.protection AS p
    UNION
    SELECT r.relation::oid FROM kanon.release AS r
    UNION
    SELECT u.oid::oid FROM kanon.link AS l CROSS JOIN LATERAL (VALUES (l.child), (l.parent)) AS u (oid)
),
trusted (oid) AS MATERIALIZED (
    SELECT o.oid FROM pg_catalog.pg_roles AS o
    WHERE o.rolsuper OR o.rolname IN ('kanon_owner', 'pg_database_owner')
        OR o.oid = (SELECT d.datdba FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())
        OR pg_catalog.pg_has_role(o.oid, 'kanon_curator', 'MEMBER')
    UNION
    SELECT (SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid = p.relation::oid)
    FROM kanon.protection AS p
),
-- What reading a relation reads: a view's query, partitions and children. Releases are published: nothing
-- behind them counts.
reads (root, oid) AS (
    SELECT t.oid, t.oid FROM targets AS t
    UNION
    SELECT r.root, step.oid FROM reads AS r
    CROSS JOIN LATERAL (
        SELECT d.refobjid AS oid FROM pg_catalog.pg_rewrite AS w
        INNER JOIN pg_catalog.pg_depend AS d
            ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
            AND d.refclassid = 'pg_catalog.pg_class'::regclass
        WHERE w.ev_class = r.oid AND w.ev_type = '1' AND NOT EXISTS (SELECT FROM kanon.release AS p WHERE p.storage::oid = r.oid)
        UNION ALL
        SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = r.oid
    ) AS step
),
-- What is read with each, the tables among it where its people are found; whether it may be read for queries, and what in a
-- view finds other rows in every reading. Functions of others are among its dependencies; PostgreSQL's own are in its tree alone.
behind (root, oid, relkind, is_linked, is_trusted, is_plain, volatile) AS MATERIALIZED (
    SELECT r.root, r.oid, b.relkind, r.is_linked,
        b.relowner IN (SELECT t.oid FROM trusted AS t)
        AND (SELECT s.nspowner FROM pg_catalog.pg_namespace AS s WHERE s.oid = b.relnamespace)
        IN (SELECT t.oid FROM trusted AS t),
        b.relkind IN ('r', 'p', 'v', 'm') AND b.relpersistence <> 't' AND NOT b.relrowsecurity AND NOT EXISTS (
            -- read with the reading role's rights, which may read more than the analyst
            SELECT FROM pg_catalog.pg_options_to_table(b.reloptions) AS o
            WHERE b.relkind = 'v' AND o.option_name = 'security_invoker' AND o.option_value::boolean
        ) AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_rewrite AS w
            INNER JOIN pg_catalog.pg_depend AS x
                ON x.classid = 'pg_catalog.pg_rewrite'::regclass AND x.objid = w.oid
                AND x.refclassid IN ('pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass)
            WHERE w.ev_class = b.oid AND b.relkind IN ('v', 'm')
                AND NOT EXISTS (SELECT FROM kanon.release AS q WHERE q.storage::oid = b.oid)
        ),
        CASE WHEN b.relkind = 'v' THEN (
            SELECT pg_catalog.min(v.name) FROM pg_catalog.pg_rewrite AS w
            CROSS JOIN LATERAL (
                SELECT f.proname::text AS name
                FROM pg_catalog.regexp_matches(w.ev_action::text, ':(?:funcid|opfuncid) ([0-9]+)', 'g') AS m (found)
                INNER JOIN pg_catalog.pg_proc AS f ON f.oid = m.found[1]::oid AND f.oid < 16384 AND f.provolatile = 'v'
                UNION ALL
                SELECT 'TABLESAMPLE' WHERE w.ev_action::text LIKE '%{TABLESAMPLECLAUSE %'
            ) AS v
            WHERE w.ev_class = b.oid
        ) END
    FROM (
        SELECT r.root, r.oid, false AS is_linked FROM reads AS r
        UNION
        SELECT c.root, r.oid, true FROM chains AS c INNER JOIN reads AS r ON r.root = c.oid
        OFFSET 0
    ) AS r
    INNER JOIN LATERAL (SELECT c.* FROM pg_catalog.pg_class AS c WHERE c.oid = r.oid OFFSET 0) AS b ON true
),
above (oid, parent, distance) AS (
    SELECT DISTINCT r.oid, r.oid, 0 FROM reads AS r
    UNION
    SELECT a.oid, i.inhparent, a.distance + 1
    FROM above AS a INNER JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = a.parent
),
-- Of what is read: whose rows it has by the nearest declaration, protection and link.
origins (oid, declared_by, protected_by, linked_by, is_known) AS MATERIALIZED (
    SELECT a.oid, (pg_catalog.array_agg(a.parent ORDER BY a.distance) FILTER (WHERE d.relation IS NOT NULL))[1],
        (pg_catalog.array_agg(a.parent ORDER BY a.distance, p.k DESC) FILTER (WHERE p.relation IS NOT NULL))[1],
        (pg_catalog.array_agg(a.parent ORDER BY a.distance) FILTER (WHERE l.child IS NOT NULL))[1],
        pg_catalog.bool_or(k.oid IS NOT NULL)
    FROM above AS a
    LEFT JOIN kanon.declaration AS d ON d.relation::oid = a.parent
    LEFT JOIN kanon.protection AS p ON p.relation::oid = a.parent
    LEFT JOIN links AS l ON l.child = a.parent
    LEFT JOIN known AS k ON k.oid = a.parent
    GROUP BY a.oid
)
SELECT c.oid::bigint AS oid, n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS kind,
    o.declared_by::bigint AS declared_by, o.protected_by::bigint AS protected_by, o.is_known AS known,
    o.linked_by::bigint AS linked_by,
    EXISTS (SELECT FROM reads AS r INNER JOIN origins AS b ON b.oid = r.oid WHERE r.root = c.oid AND b.is_known) AS dependent,
    p.k, d.identifiers::text[] AS identifiers, d.quasi_identifiers::text[] AS quasi_identifiers, d.sensitive::text[] AS sensitive,
    d.insensitive::text[] AS insensitive, d.entity::text AS entity, l.columns::text[] AS link_columns,
    l.parent_columns::text[] AS link_parent_columns, l.parent::bigint AS link_parent,
    -- Whose people these are: at the end of links; of a view, those of the only tables of people that it reads.
    CASE
        WHEN o.linked_by IS NOT NULL THEN ARRAY[l.people::bigint]
        WHEN c.relkind IN ('v', 'm') THEN (
            SELECT pg_catalog.array_agg(DISTINCT s.space)
            FROM (
                SELECT CASE WHEN f.linked_by IS NOT NULL THEN e.people ELSE coalesce(f.declared_by, r.oid) END::bigint AS space,
                    pg_catalog.bool_or(f.is_known) OVER () AS is_any_known, f.is_known
                FROM behind AS r
                INNER JOIN origins AS f ON f.oid = r.oid
                LEFT JOIN links AS e ON e.child = f.linked_by
                WHERE r.root = c.oid AND NOT r.is_linked AND r.relkind IN ('r', 'p', 'f')
                    -- partitions are counted with what they are parts of
                    AND NOT EXISTS (
                        SELECT
                        FROM pg_catalog.pg_inherits AS i INNER JOIN reads AS u ON u.root = r.root AND u.oid = i.inhparent
                        WHERE i.inhrelid = r.oid
                    )
            ) AS s
            WHERE s.is_known = s.is_any_known
        )
        ELSE ARRAY[coalesce(o.declared_by, c.oid)::bigint]
    END AS spaces,
    (
        SELECT pg_catalog.array_agg(a.attname::text ORDER BY a.attname)
        FROM pg_catalog.pg_index AS i
        INNER JOIN pg_catalog.pg_attribute AS a
            ON a.attrelid = i.indrelid AND a.attnum = ANY (pg_catalog.string_to_array(i.indkey::text, ' ')::smallint[])
        WHERE i.indrelid = coalesce(o.declared_by, c.oid) AND i.indisprimary AND i.indimmediate AND i.indisvalid
    ) AS primary_key,
    NOT EXISTS (SELECT FROM behind AS r WHERE r.root = c.oid AND NOT r.is_trusted) AS trusted,
    NOT EXISTS (SELECT FROM behind AS r WHERE r.root = c.oid AND NOT r.is_plain) AS plain,
    (SELECT pg_catalog.min(r.volatile) FROM behind AS r WHERE r.root = c.oid) AS volatile,
    coalesce(
        pg_catalog.has_schema_privilege(q.reader, n.oid, 'USAGE')
        AND pg_catalog.has_schema_privilege('kanon_reader', n.oid, 'USAGE')
        AND pg_catalog.has_any_column_privilege(q.reader, c.oid, 'SELECT'), false
    ) AS readable,
    (
        SELECT pg_catalog.min(h.oid::regclass::text) FROM chains AS h
        WHERE h.root = c.oid AND NOT coalesce(
            pg_catalog.has_schema_privilege(
                q.reader, (SELECT b.relnamespace FROM pg_catalog.pg_class AS b WHERE b.oid = h.oid), 'USAGE'
            )
            AND pg_catalog.has_any_column_privilege(q.reader, h.oid, 'SELECT'), false
        )
    ) AS unread,
    q.reader::text AS reader,
    pg_catalog.has_schema_privilege($3::text::name, n.oid, 'USAGE')
    AND pg_catalog.has_any_column_privilege($3::text::name, c.oid, 'SELECT') AS selectable,
    (
        SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
            'name', a.attname,
            'number', a.attnum,
            'type_name', pg_catalog.format_type(a.atttypid, a.atttypmod),
            'is_built_in', CASE t.typtype
                -- whoever owns an enum can rename its labels at any time; no function takes a domain over one
                WHEN 'e' THEN t.oid = a.atttypid AND (
                    t.typowner = c.relowner OR (SELECT x.rolsuper FROM pg_catalog.pg_roles AS x WHERE x.oid = t.typowner)
                )
                ELSE t.typnamespace = 'pg_catalog'::regnamespace
            END,
            'is_number', t.oid = ANY ('{int2,int4,int8,float4,float8,numeric,interval}'::regtype[]),
            'is_filled', a.attnotnull,
            'selectable', pg_catalog.has_column_privilege($3::text::name, a.attrelid, a.attnum, 'SELECT')
        ) ORDER BY a.attnum)::text
        FROM pg_catalog.pg_attribute AS a
        INNER JOIN pg_catalog.pg_type AS s ON s.oid = a.atttypid
        INNER JOIN pg_catalog.pg_type AS t ON t.oid = CASE
            WHEN s.typtype <> 'd' THEN s.oid
            -- a domain over a domain is one over the type below both
            ELSE (
                WITH RECURSIVE below (oid) AS (
                    SELECT a.atttypid
                    UNION
                    SELECT x.typbasetype
                    FROM below AS b INNER JOIN pg_catalog.pg_type AS x ON x.oid = b.oid AND x.typtype = 'd'
                )
                SELECT u.oid FROM below AS b INNER JOIN pg_catalog.pg_type AS u ON u.oid = b.oid AND u.typtype <> 'd'
            )
        END
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            AND (q.reader IS NULL OR pg_catalog.has_column_privilege(q.reader, a.attrelid, a.attnum, 'SELECT'))
    ) AS columns,
    -- Sets of columns of which no two rows can be equal: unique at every moment, never NULL, by the columns' own equality.
    (
        SELECT pg_catalog.json_agg(k.columns ORDER BY k.is_primary DESC, k.width, k.columns::text)::text
        FROM (
            SELECT pg_catalog.array_agg(a.attname::text ORDER BY g.place) AS columns, i.indisprimary AS is_primary,
                i.indnkeyatts AS width
            FROM pg_catalog.pg_index AS i
            CROSS JOIN LATERAL pg_catalog.generate_series(0, i.indnkeyatts - 1) AS g (place)
            INNER JOIN pg_catalog.pg_opclass AS x ON x.oid = i.indclass[g.place]
            LEFT JOIN pg_catalog.pg_attribute AS a
                ON a.attrelid = i.indrelid AND a.attnum = i.indkey[g.place] AND a.attnum > 0 AND a.attnotnull
                AND a.attcollation = i.indcollation[g.place] AND x.opcdefault
                AND NOT EXISTS (
                    -- of PostgreSQL 18: NOT NULL that was not validated
                    SELECT FROM pg_catalog.pg_constraint AS y
                    WHERE y.conrelid = a.attrelid AND y.contype = 'n' AND y.conkey = ARRAY[a.attnum] AND NOT y.convalidated
                )
            WHERE i.indrelid = c.oid
                AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indisready AND i.indpred IS NULL
                -- rows of inheritance children are not in the index
                AND NOT (c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = c.oid))
            GROUP BY i.indexrelid, i.indisprimary, i.indnkeyatts HAVING pg_catalog.count(a.attnum) = pg_catalog.count(*)
        ) AS k
    ) AS keys
FROM targets AS u
INNER JOIN pg_catalog.pg_class AS c ON c.oid = u.oid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
INNER JOIN origins AS o ON o.oid = c.oid
LEFT JOIN kanon.declaration AS d ON d.relation::oid = o.declared_by
LEFT JOIN kanon.protection AS p ON p.relation::oid = o.protected_by
LEFT JOIN links AS l ON l.child = o.linked_by
LEFT JOIN LATERAL (
{% include "query_reader_of" %}
) AS q ON true
ORDER BY c.oid

-- name: query_functions(text[]): Of PostgreSQL's own functions with some names: whether all of a name depend on their arguments
-- alone.
SELECT p.proname::text AS name, pg_catalog.bool_and(p.provolatile = 'i' AND p.prokind = 'f' AND NOT p.proretset) AS immutable
FROM pg_catalog.pg_proc AS p
WHERE p.proname = ANY ($1::text[]::name[]) AND p.pronamespace = 'pg_catalog'::regnamespace AND p.oid < 16384
GROUP BY p.proname

-- name: query_reader_of(): With whose rights queries read the relation c: a superuser's code is trusted, that of others reaches
-- what they own.
    SELECT CASE
        WHEN o.rolsuper OR o.rolname = 'kanon_owner' THEN 'kanon_reader'::name
        ELSE (
            SELECT q.rolname
            FROM kanon.base AS b INNER JOIN pg_catalog.pg_roles AS q ON q.rolname = pg_catalog.format('kanon_base_%s', b.reader)
            WHERE b.answers_for = o.oid
        )
    END AS reader
    FROM pg_catalog.pg_roles AS o WHERE o.oid = c.relowner
