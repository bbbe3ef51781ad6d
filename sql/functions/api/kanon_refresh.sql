-- Brings a release up to date.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_refresh(release name)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT kanon.refresh(release);
END;
ALTER FUNCTION {{ api }}.kanon_refresh(name) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_refresh(name) FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_refresh(name) IS
'Brings a release up to date with its base table, under the same rules and guarantees.
Example: SELECT kanon_refresh(''patients'');';
