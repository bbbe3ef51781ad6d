-- The size of a table, for those who may read it.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_table_size(relation regclass)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_table_size(relation)
    WHERE pg_catalog.has_table_privilege(relation, 'SELECT');
END;
ALTER FUNCTION kanon_catalog.pg_table_size OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon_catalog.pg_table_size FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_table_size TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_table_size IS
'Stands for pg_catalog.pg_table_size where tools ask through the gateway.';
