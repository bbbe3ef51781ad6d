-- Runs with the caller's rights: gives the owner role what it needs to read a base table.
CREATE OR REPLACE FUNCTION kanon.grant_read(relation regclass)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
RETURNS NULL ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM kanon.grant_read_to(grant_read.relation, 'kanon_owner');
    -- Partitions on other servers are counted one by one.
    PERFORM kanon.grant_read_to(t.relid, 'kanon_owner')
    FROM kanon.shards(grant_read.relation) AS t (relid);
END
$function$;
ALTER FUNCTION kanon.grant_read OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.grant_read FROM PUBLIC;
COMMENT ON FUNCTION kanon.grant_read IS
'Grants the owner role SELECT on a base table and USAGE on its schema, if the caller may grant them.';
GRANT EXECUTE ON FUNCTION kanon.grant_read TO kanon_curator;
