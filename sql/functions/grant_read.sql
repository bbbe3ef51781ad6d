-- Runs with the caller's rights: gives a base relation a reader, and the reader what it needs. With true, the reader that
-- answers queries about what the relation's owner protects.
CREATE OR REPLACE FUNCTION kanon.grant_read(relation regclass, for_queries boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    reader name;
    -- the people of a linked table are found there
    above CONSTANT regclass[] := ARRAY(SELECT t.oid FROM kanon.linked_above(grant_read.relation) AS t (oid));
BEGIN
    IF NOT for_queries AND kanon.nodes_store(grant_read.relation) THEN
        PERFORM kanon.grant_read_to(grant_read.relation, 'kanon_owner'::name);
    END IF;
    IF kanon.reader_of(grant_read.relation, for_queries) IS NOT NULL THEN
        PERFORM kanon.grant_read_along(grant_read.relation, above, for_queries);
        RETURN;
    END IF;
    IF NOT EXISTS (
        SELECT FROM pg_class AS c
        WHERE c.oid = grant_read.relation AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
            AND pg_get_userbyid(c.relowner) <> 'kanon_owner'
    ) THEN
        RETURN;  -- what cannot be read is refused later, with a sentence of its own
    END IF;
    IF for_queries AND (
        SELECT r.rolsuper FROM pg_class AS c INNER JOIN pg_roles AS r ON r.oid = c.relowner WHERE c.oid = grant_read.relation
    ) THEN
        -- nothing is out of reach of a superuser's code anyway
        PERFORM kanon.grant_read_to(grant_read.relation, 'kanon_reader'::name);
        PERFORM kanon.grant_read_along(grant_read.relation, above, for_queries);
        RETURN;
    END IF;
    reader := kanon.claim_reader(grant_read.relation, for_queries);
    PERFORM kanon.grant_read_to(grant_read.relation, reader);
    -- Partitions on other servers are counted one by one.
    PERFORM kanon.grant_read_to(t.relid, reader) FROM kanon.shards(grant_read.relation) AS t (relid);
    PERFORM kanon.grant_read_along(grant_read.relation, above, for_queries);
END
$function$;
COMMENT ON FUNCTION kanon.grant_read IS 'Gives a relation a reader of its own, with SELECT on it and USAGE on its schema, if the caller may grant them.';
GRANT EXECUTE ON FUNCTION kanon.grant_read TO kanon_analyst;
