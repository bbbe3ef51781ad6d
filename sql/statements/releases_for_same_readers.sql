-- Other releases of the same base relation, or of one that reads a table which this one reads, that somebody may read who
-- may read a release, but not the base relation; those of the same first, the latest first.
-- $1 text
WITH RECURSIVE {% include "composition/reads.sql" %}

SELECT
    o.name AS release,
    o.relation = r.relation AS is_same,
    o.rows,
    r.rows AS own_rows,
    pg_catalog.array_agg(reader.rolname::text ORDER BY reader.rolname) AS readers
FROM kanon.release AS r
INNER JOIN kanon.release AS o
    ON o.name <> r.name
    AND EXISTS (
        SELECT
        FROM reads AS one
        INNER JOIN reads AS other ON other.oid = one.oid
        WHERE one.relation = r.relation::oid AND other.relation = o.relation::oid
    )
INNER JOIN pg_catalog.pg_class AS v ON v.relname = r.name::name AND v.relnamespace = 'safe'::regnamespace
INNER JOIN pg_catalog.pg_class AS w ON w.relname = o.name::name AND w.relnamespace = 'safe'::regnamespace
INNER JOIN pg_catalog.pg_class AS b ON b.oid = r.relation
INNER JOIN pg_catalog.pg_roles AS reader
    -- nobody is one of kanon's own
    ON reader.rolname !~ '^(pg_|kanon_(owner|reader|base_[0-9]+)$)'
    AND NOT pg_catalog.has_table_privilege(reader.oid, b.oid, 'SELECT')
    AND pg_catalog.has_schema_privilege(reader.oid, v.relnamespace, 'USAGE')
    AND pg_catalog.has_table_privilege(reader.oid, v.oid, 'SELECT')
    AND pg_catalog.has_table_privilege(reader.oid, w.oid, 'SELECT')
WHERE r.name = $1::text
GROUP BY o.name, o.relation, o.rows, r.relation, r.rows, o.published_at
ORDER BY o.relation <> r.relation, o.published_at DESC, o.name
