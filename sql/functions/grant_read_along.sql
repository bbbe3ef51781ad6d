-- Runs with the caller's rights: lets the reader of a linked table read the tables that its links lead to, as the people of its
-- rows are found there. A reader for queries of what superusers own gets nothing that others own.
CREATE OR REPLACE FUNCTION kanon.grant_read_along(relation regclass, above regclass[], for_queries boolean) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    one record;
    reader name := 'kanon_base_' || kanon.reader_of(grant_read_along.relation, for_queries);
BEGIN
    FOR one IN
        SELECT c.oid::regclass AS relation, o.rolsuper AS is_superusers
        FROM unnest(above) AS t (oid)
        INNER JOIN pg_class AS c ON c.oid = t.oid::oid
        INNER JOIN pg_roles AS o ON o.oid = c.relowner
    LOOP
        IF reader IS NOT NULL THEN
            PERFORM kanon.grant_read_to(one.relation, reader);
        ELSIF for_queries AND one.is_superusers THEN
            PERFORM kanon.grant_read_to(one.relation, 'kanon_reader'::name);
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION kanon.grant_read_along IS 'Lets the reader of a linked table read the tables that its links lead to, if the caller may grant that.';
GRANT EXECUTE ON FUNCTION kanon.grant_read_along TO kanon_analyst;
