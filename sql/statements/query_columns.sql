-- The columns of relations that the reading role may read, and which of them a role may read itself.
-- $1 bigint[]
-- $2 text
SELECT
    a.attrelid::bigint AS relation,
    a.attname::text AS name,
    CASE
        -- whoever owns an enum can rename its labels at any time; no function takes a domain over one
        WHEN
            t.typtype = 'e'
            AND t.oid = a.atttypid
            AND t.typowner <> c.relowner
            AND NOT (SELECT o.rolsuper FROM pg_catalog.pg_roles AS o WHERE o.oid = t.typowner)
            THEN 'enum of others'
        WHEN t.typtype = 'e' AND t.oid = a.atttypid THEN 'enum'
        WHEN tn.nspname = 'pg_catalog' THEN t.typname::text
        ELSE tn.nspname || '.' || t.typname
    END AS type_name,
    t.oid <> a.atttypid AS is_domain,
    pg_catalog.format_type(a.atttypid, NULL) AS shown_type,
    -- a partition or child may leave out what its parent says
    NOT a.attnotnull OR EXISTS (
        WITH RECURSIVE below (oid) AS (
            SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = a.attrelid
            UNION
            SELECT i.inhrelid FROM below AS b INNER JOIN pg_catalog.pg_inherits AS i ON i.inhparent = b.oid
        )

        SELECT
        FROM below AS b
        INNER JOIN pg_catalog.pg_attribute AS d
            ON d.attrelid = b.oid AND d.attname = a.attname AND NOT d.attnotnull
    ) AS nullable,
    a.attcollation::bigint AS collation,
    coalesce(co.collisdeterministic, true) AS deterministic,
    a.atttypid = 'pg_catalog.numeric'::regtype AND a.atttypmod >= 0 AS one_scale,
    pg_catalog.has_column_privilege($2::text::name, a.attrelid, a.attnum, 'SELECT') AS selectable,
    EXISTS (
        SELECT
        FROM pg_catalog.pg_index AS i
        WHERE i.indrelid = a.attrelid AND i.indisunique AND i.indpred IS NULL AND i.indnkeyatts = 1
            AND i.indkey[0] = a.attnum
    ) AS is_key
FROM pg_catalog.pg_attribute AS a
INNER JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
CROSS JOIN LATERAL (
    -- a domain over a domain is one over the type below both
    WITH RECURSIVE below (oid) AS (
        SELECT a.atttypid
        UNION
        SELECT d.typbasetype
        FROM below AS b INNER JOIN pg_catalog.pg_type AS d ON d.oid = b.oid AND d.typtype = 'd'
    )

    SELECT u.oid, u.typname, u.typnamespace, u.typtype, u.typowner
    FROM below AS b INNER JOIN pg_catalog.pg_type AS u ON u.oid = b.oid AND u.typtype <> 'd'
) AS t
INNER JOIN pg_catalog.pg_namespace AS tn ON tn.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_collation AS co ON co.oid = a.attcollation
CROSS JOIN LATERAL (
{% include "query_reader_of.sql" %}

) AS r
WHERE a.attrelid = ANY ($1::bigint[]::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
    AND pg_catalog.has_column_privilege(r.reader, a.attrelid, a.attnum, 'SELECT')
ORDER BY a.attrelid, a.attnum
