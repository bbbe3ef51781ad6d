-- The partitions of a table of which at least one lies on another server, if the current role may read all of them.
-- $1 text
WITH leaf AS (
    SELECT c.oid, c.relname, c.relkind, c.relnamespace
    FROM pg_catalog.pg_partition_tree(pg_catalog.to_regclass($1)) AS t
    INNER JOIN pg_catalog.pg_class AS c ON c.oid = t.relid
    WHERE t.isleaf AND t.level > 0
)

SELECT n.nspname::text AS schema, leaf.relname::text AS name
FROM leaf
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = leaf.relnamespace
WHERE EXISTS (SELECT FROM leaf AS l WHERE l.relkind = 'f')
    AND NOT EXISTS (
        SELECT FROM leaf AS l
        WHERE NOT pg_catalog.has_table_privilege(l.oid, 'SELECT')
            OR NOT pg_catalog.has_schema_privilege(l.relnamespace, 'USAGE')
    )
ORDER BY schema, name
