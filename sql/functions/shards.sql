-- The leaf partitions of a table of which at least one lies on another server; none of any other table.
CREATE OR REPLACE FUNCTION kanon.shards(relation regclass) RETURNS SETOF regclass
LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH leaf AS (
        SELECT c.oid, c.relkind
        FROM pg_catalog.pg_partition_tree(shards.relation) AS t JOIN pg_catalog.pg_class AS c ON c.oid = t.relid
        WHERE t.isleaf AND t.level > 0
    )
    SELECT leaf.oid::regclass FROM leaf
    WHERE EXISTS (SELECT FROM leaf AS l WHERE l.relkind = 'f');
END;
COMMENT ON FUNCTION kanon.shards IS 'Leaf partitions of a partitioned table of which at least one is a foreign table; none of other tables.';
GRANT EXECUTE ON FUNCTION kanon.shards TO kanon_analyst;
