-- Relations that a query may read, and those that links lead to from there, whose definitions have to hold meanwhile. Only
-- those whose names the current role may use, and that the analyst may know.
-- $1 text[]
-- $2 text[]
-- $3 text
WITH RECURSIVE named (oid) AS (
    SELECT c.oid
    FROM pg_catalog.pg_class AS c
    INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relname = ANY ($1::text[]::name[]) AND c.relkind IN ('r', 'p', 'v', 'm') AND c.relpersistence <> 't'
        AND (n.nspname = ANY ($1::text[]::name[]) OR n.nspname = ANY ($2::text[]::name[]))
        AND (
            pg_catalog.has_any_column_privilege($3::text::name, c.oid, 'SELECT')
            OR EXISTS (SELECT FROM kanon.protection AS p WHERE p.relation::oid = c.oid)
            OR EXISTS (SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = c.oid)
        )
    UNION
    SELECT step.oid
    FROM named AS r
    CROSS JOIN LATERAL (
        SELECT l.parent::oid FROM kanon.link AS l WHERE l.child::oid = r.oid
        UNION ALL
        SELECT i.inhparent FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = r.oid
    ) AS step (oid)
)

SELECT c.oid::bigint AS oid, n.nspname::text AS schema, c.relname::text AS name
FROM named AS r
INNER JOIN pg_catalog.pg_class AS c ON c.oid = r.oid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE pg_catalog.has_schema_privilege(n.oid, 'USAGE')
ORDER BY c.oid
