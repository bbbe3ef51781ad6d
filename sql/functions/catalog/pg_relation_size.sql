-- The size of a relation, for those who may read it.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_relation_size(relation regclass, fork text DEFAULT 'main')
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_relation_size(relation, fork)
    WHERE pg_catalog.has_table_privilege(relation, 'SELECT');
END;
ALTER FUNCTION kanon_catalog.pg_relation_size OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon_catalog.pg_relation_size FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_relation_size TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_relation_size IS
'Stands for pg_catalog.pg_relation_size where tools ask through the gateway.';
