-- Whether the nodes of Citus can store releases of a table: they read it as kanon_owner, as which only code of superusers runs,
-- so that the table, its partitions and the types of its columns must be theirs.
CREATE OR REPLACE FUNCTION kanon.nodes_store(relation regclass) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF to_regclass('pg_catalog.pg_dist_partition') IS NULL THEN
        RETURN false;
    END IF;
    RETURN EXISTS (
        SELECT FROM pg_catalog.pg_dist_partition AS p WHERE p.logicalrelid = nodes_store.relation AND p.partmethod = 'h'
    ) AND NOT EXISTS (
        SELECT
        FROM (
            -- a table without partitions is no tree
            SELECT c.relowner AS oid FROM pg_catalog.pg_class AS c
            WHERE c.oid = nodes_store.relation
                OR c.oid IN (SELECT t.relid FROM pg_catalog.pg_partition_tree(nodes_store.relation) AS t)
            UNION ALL
            SELECT y.typowner FROM pg_catalog.pg_attribute AS a INNER JOIN pg_catalog.pg_type AS y ON y.oid = a.atttypid
            WHERE a.attrelid = nodes_store.relation AND a.attnum > 0
        ) AS owner
        INNER JOIN pg_catalog.pg_roles AS r ON r.oid = owner.oid
        WHERE NOT (r.rolsuper OR r.rolname = 'kanon_owner')
    );
END
$function$;
COMMENT ON FUNCTION kanon.nodes_store IS 'Whether a table is distributed by Citus and belongs to a superuser, so that its nodes can store releases of it.';
GRANT EXECUTE ON FUNCTION kanon.nodes_store TO kanon_owner, kanon_analyst;
