-- Counts the rows that a release shows and those (or the people) that its table has besides, the latter with the rights of the table's reader. NULL
-- where they cannot be counted. Its schema is closed: only the view kanon.health calls it.
CREATE OR REPLACE FUNCTION kanon_bases.missing_rows(
    relation regclass, storage regclass, OUT shown bigint, OUT missing bigint
) RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    reader CONSTANT integer := kanon.reader_of(relation, false);
    named CONSTANT text := (
        SELECT format('SELECT count(*) FROM %I.%I', n.nspname, c.relname)
        FROM pg_class AS c INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.oid = coalesce(
            -- a release that has the people of its table and the rows of each: these are two views, and here people are counted
            (
                SELECT r.people_view FROM kanon.release AS r INNER JOIN kanon.release_table AS t ON t.release = r.name
                WHERE r.storage = missing_rows.storage AND t.relation = missing_rows.relation
            ),
            missing_rows.relation
        )
    );
BEGIN
    EXECUTE format('SELECT count(*) FROM %s', storage) INTO shown;
    IF reader IS NOT NULL THEN
        EXECUTE format('SELECT t.n - $2 FROM kanon.read_rows_%s($1, ''{}'') AS t (n bigint)', reader)
        INTO missing USING named, shown;
    END IF;
EXCEPTION
    -- dropped, not filled, or no longer to be read: the guard's state says so
    WHEN OTHERS THEN
        NULL;
END
$function$;
COMMENT ON FUNCTION kanon_bases.missing_rows IS 'Counts the rows of a table that a release of it does not show; called by kanon.health.';
GRANT EXECUTE ON FUNCTION kanon_bases.missing_rows TO kanon_curator;
