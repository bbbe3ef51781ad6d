-- What candidates are: protected by themselves or by what they read, or public, and who owns what they read.
-- $1 bigint[]
-- $2 text
WITH RECURSIVE known (oid) AS (
    SELECT d.relation::oid FROM kanon.declaration AS d
    UNION
    SELECT p.relation::oid FROM kanon.protection AS p
    UNION
    SELECT r.relation::oid FROM kanon.release AS r
),

-- What reading a relation reads: a view's query, partitions and children. Releases are published: nothing
-- behind them counts.
reads (root, oid) AS (
    SELECT u.oid, u.oid FROM pg_catalog.unnest($1::bigint[]::oid[]) AS u (oid)
    UNION
    SELECT r.root, step.oid
    FROM reads AS r
    CROSS JOIN LATERAL (
        SELECT d.refobjid AS oid
        FROM pg_catalog.pg_rewrite AS w
        INNER JOIN pg_catalog.pg_depend AS d
            ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
            AND d.refclassid = 'pg_catalog.pg_class'::regclass
        WHERE w.ev_class = r.oid AND w.ev_type = '1'
            AND NOT EXISTS (SELECT FROM kanon.release AS p WHERE p.storage::oid = r.oid)
        UNION ALL
        SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = r.oid
    ) AS step
),

-- A partition or child is what its parent is.
above (oid, parent, distance) AS (
    SELECT DISTINCT r.oid, r.oid, 0 FROM reads AS r
    UNION
    SELECT a.oid, i.inhparent, a.distance + 1
    FROM above AS a INNER JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = a.parent
),

trusted (oid) AS (
    SELECT o.oid
    FROM pg_catalog.pg_roles AS o
    WHERE o.rolsuper OR o.rolname IN ('kanon_owner', 'pg_database_owner')
        OR o.oid = (SELECT d.datdba FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())
        OR pg_catalog.pg_has_role(o.oid, 'kanon_curator', 'MEMBER')
    UNION
    SELECT (SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid = p.relation::oid)
    FROM kanon.protection AS p
)

SELECT
    c.oid::bigint AS oid,
    n.nspname::text AS schema,
    c.relname::text AS name,
    c.relkind::text AS kind,
    (
        SELECT p.relation::oid::bigint
        FROM above AS a INNER JOIN kanon.protection AS p ON p.relation::oid = a.parent
        WHERE a.oid = c.oid
        ORDER BY a.distance, p.k DESC LIMIT 1
    ) AS protected_by,
    (
        SELECT d.relation::oid::bigint
        FROM above AS a INNER JOIN kanon.declaration AS d ON d.relation::oid = a.parent
        WHERE a.oid = c.oid
        ORDER BY a.distance LIMIT 1
    ) AS declared_by,
    EXISTS (
        SELECT FROM above AS a INNER JOIN known AS k ON k.oid = a.parent WHERE a.oid = c.oid
    ) AS known,
    EXISTS (
        SELECT
        FROM reads AS r
        INNER JOIN above AS a ON a.oid = r.oid
        INNER JOIN known AS k ON k.oid = a.parent
        WHERE r.root = c.oid
    ) AS dependent,
    NOT EXISTS (
        SELECT
        FROM reads AS r
        INNER JOIN pg_catalog.pg_class AS b ON b.oid = r.oid
        INNER JOIN pg_catalog.pg_namespace AS s ON s.oid = b.relnamespace
        WHERE r.root = c.oid AND NOT (
            b.relowner IN (SELECT t.oid FROM trusted AS t) AND s.nspowner IN (SELECT t.oid FROM trusted AS t)
        )
    ) AS trusted,
    NOT EXISTS (
        SELECT
        FROM reads AS r
        INNER JOIN pg_catalog.pg_class AS b ON b.oid = r.oid
        WHERE r.root = c.oid AND (
            b.relkind NOT IN ('r', 'p', 'v', 'm') OR b.relpersistence = 't' OR b.relrowsecurity OR EXISTS (
                -- read with the reading role's rights, which may read more than the analyst
                SELECT
                FROM pg_catalog.pg_options_to_table(b.reloptions) AS o
                WHERE b.relkind = 'v' AND o.option_name = 'security_invoker' AND o.option_value::boolean
            ) OR EXISTS (
                SELECT
                FROM pg_catalog.pg_rewrite AS w
                INNER JOIN pg_catalog.pg_depend AS d
                    ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
                    AND d.refclassid IN ('pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass)
                WHERE w.ev_class = b.oid AND b.relkind IN ('v', 'm')
                    AND NOT EXISTS (SELECT FROM kanon.release AS p WHERE p.storage::oid = b.oid)
            )
        )
    ) AS plain,
    -- Two readings of it by one query could find different rows. Functions of others are in the dependencies
    -- above; PostgreSQL's own are in the view's tree alone.
    (
        SELECT pg_catalog.min(v.name)
        FROM reads AS r
        INNER JOIN pg_catalog.pg_class AS b ON b.oid = r.oid AND b.relkind = 'v'
        INNER JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = b.oid
        CROSS JOIN LATERAL (
            SELECT p.proname::text AS name
            FROM pg_catalog.regexp_matches(w.ev_action::text, ':(?:funcid|opfuncid) ([0-9]+)', 'g') AS m (found)
            INNER JOIN pg_catalog.pg_proc AS p ON p.oid = m.found[1]::oid AND p.oid < 16384 AND p.provolatile = 'v'
            UNION ALL
            SELECT 'TABLESAMPLE' WHERE w.ev_action::text LIKE '%{TABLESAMPLECLAUSE %'
        ) AS v
        WHERE r.root = c.oid
    ) AS volatile,
    c.relkind = 'r' AND EXISTS (
        SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = c.oid
    ) AS has_children,
    coalesce(
        pg_catalog.has_schema_privilege(r.reader, n.oid, 'USAGE')
        AND pg_catalog.has_schema_privilege('kanon_reader', n.oid, 'USAGE')
        AND pg_catalog.has_any_column_privilege(r.reader, c.oid, 'SELECT'), false
    ) AS readable,
    r.reader::text AS reader,
    pg_catalog.has_schema_privilege($2::text::name, n.oid, 'USAGE')
    AND pg_catalog.has_any_column_privilege($2::text::name, c.oid, 'SELECT') AS selectable
FROM pg_catalog.unnest($1::bigint[]::oid[]) AS u (oid)
INNER JOIN pg_catalog.pg_class AS c ON c.oid = u.oid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
{% include "query_reader_of.sql" %}

) AS r
ORDER BY c.oid
