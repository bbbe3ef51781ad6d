-- About how many rows a table has, by its statistics; by its size if there are none yet, then rather too many.
-- $1 text
SELECT
    coalesce(sum(CASE
        WHEN c.reltuples >= 0 THEN c.reltuples
        ELSE pg_catalog.pg_relation_size(c.oid) / 28
    END), 0)::bigint AS rows
FROM (
    SELECT pg_catalog.to_regclass($1::text)::oid AS oid
    UNION
    SELECT tree.relid::oid
    FROM pg_catalog.pg_partition_tree(pg_catalog.to_regclass($1::text)) AS tree
    WHERE tree.isleaf
) AS part
INNER JOIN pg_catalog.pg_class AS c ON c.oid = part.oid
WHERE c.relkind IN ('r', 'm')
