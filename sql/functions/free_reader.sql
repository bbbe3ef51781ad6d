-- Lets go of a relation's reader once it has no rights on it. A reader through which something is still read is kept.
CREATE OR REPLACE FUNCTION kanon.free_reader(relation regclass) RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE SECURITY DEFINER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    DELETE FROM kanon.base AS b USING pg_catalog.pg_roles AS r
    WHERE b.relation = free_reader.relation
        AND r.rolname = pg_catalog.format('kanon_base_%s', b.reader)
        AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_shdepend AS s
            WHERE s.dbid = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())
                AND s.classid = 'pg_catalog.pg_class'::regclass AND s.objid = free_reader.relation
                AND s.refclassid = 'pg_catalog.pg_authid'::regclass AND s.refobjid = r.oid AND s.deptype = 'a'
        )
        AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.relowner = r.oid AND n.nspname = 'kanon_bases'
        );
END;
COMMENT ON FUNCTION kanon.free_reader IS 'Lets go of the reader of a relation that it may not read any more; called by kanon.revoke_read.';
GRANT EXECUTE ON FUNCTION kanon.free_reader TO kanon_analyst;
