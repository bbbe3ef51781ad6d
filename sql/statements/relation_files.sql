-- What the rows of a relation and of everything that it consists of are stored in and read as. Files change when rows
-- are moved without being written (VACUUM FULL, CLUSTER) or all at once (TRUNCATE, ALTER TABLE). Columns that exchange
-- their names, or give theirs to a new column with a default, change neither files nor rows: their places tell.
-- $1 bigint
WITH RECURSIVE below (oid) AS (
    SELECT $1::bigint::oid
    UNION
    SELECT i.inhrelid FROM below JOIN pg_catalog.pg_inherits AS i ON i.inhparent = below.oid
)

SELECT pg_catalog.string_agg(
    pg_catalog.format('%s:%s:%s', below.oid, pg_catalog.pg_relation_filenode(below.oid), columns.hash),
    ',' ORDER BY below.oid
) AS files
FROM below
CROSS JOIN LATERAL (
    SELECT pg_catalog.hashtextextended(
        pg_catalog.string_agg(
            pg_catalog.format(
                '%L:%s:%s:%s:%s:%s:%s',
                a.attname, a.attnum, a.atttypid, a.attcollation, a.atthasmissing,
                -- what a generated column is computed from need not be stored
                CASE WHEN a.attgenerated <> '' THEN e.oid END,
                labels.hash
            ),
            ',' ORDER BY a.attnum
        ),
        0
    ) AS hash
    FROM pg_catalog.pg_attribute AS a
    LEFT JOIN pg_catalog.pg_attrdef AS e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
    CROSS JOIN LATERAL (
        -- of an enum: rows hold numbers, which stay the same when a label gets another name
        SELECT pg_catalog.hashtextextended(
            pg_catalog.string_agg(pg_catalog.format('%s:%L', l.oid, l.enumlabel), ',' ORDER BY l.oid), 0
        ) AS hash
        FROM pg_catalog.pg_enum AS l
        WHERE l.enumtypid = a.atttypid
    ) AS labels
    WHERE a.attrelid = below.oid AND a.attnum > 0 AND NOT a.attisdropped
) AS columns
