-- The columns of extended statistics, for those who may read their relation.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_statisticsobjdef_columns(object oid)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_statisticsobjdef_columns(object)
    WHERE EXISTS (SELECT FROM kanon_catalog.pg_statistic_ext AS c WHERE c.oid = object);
END;
ALTER FUNCTION kanon_catalog.pg_get_statisticsobjdef_columns OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_statisticsobjdef_columns FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_statisticsobjdef_columns TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_statisticsobjdef_columns IS
'Stands for pg_catalog.pg_get_statisticsobjdef_columns where tools ask through the gateway.';
