-- Runs with the caller's rights: gives the owner role what it needs to read a base table.
CREATE OR REPLACE FUNCTION kanon.lend(relation regclass)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
RETURNS NULL ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM kanon.lend_to(lend.relation, 'kanon_owner');
    -- Partitions on other servers are counted one by one.
    PERFORM kanon.lend_to(t.relid, 'kanon_owner')
    FROM kanon.shards(lend.relation) AS t (relid);
END
$function$;
ALTER FUNCTION kanon.lend OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.lend FROM PUBLIC;
COMMENT ON FUNCTION kanon.lend IS
'Grants the owner role SELECT on a base table and USAGE on its schema, if the caller may grant them.';
