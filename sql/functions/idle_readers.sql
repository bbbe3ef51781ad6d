-- The readers that no declaration or release, or no protection, of a relation needs any more.
CREATE OR REPLACE FUNCTION kanon.idle_readers(relation regclass) RETURNS name[]
LANGUAGE sql STABLE PARALLEL UNSAFE SECURITY DEFINER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT ARRAY(
        SELECT pg_catalog.format('kanon_base_%s', b.reader)::name FROM kanon.base AS b
        WHERE (
            b.relation = idle_readers.relation
            AND NOT EXISTS (SELECT FROM kanon.declaration AS d WHERE d.relation = idle_readers.relation)
            AND NOT EXISTS (SELECT FROM kanon.release AS r WHERE r.relation = idle_readers.relation)
            AND NOT EXISTS (SELECT FROM kanon.link AS l WHERE l.child = idle_readers.relation)
        ) OR (
            b.answers_for = (SELECT c.relowner FROM pg_catalog.pg_class AS c WHERE c.oid = idle_readers.relation)
            AND NOT EXISTS (SELECT FROM kanon.protection AS p WHERE p.relation = idle_readers.relation)
        )
        UNION ALL
        -- where the nodes of Citus store releases
        SELECT 'kanon_owner'
        WHERE NOT EXISTS (SELECT FROM kanon.declaration AS d WHERE d.relation = idle_readers.relation)
            AND NOT EXISTS (SELECT FROM kanon.release AS r WHERE r.relation = idle_readers.relation)
        UNION ALL
        SELECT 'kanon_reader'
        WHERE NOT EXISTS (SELECT FROM kanon.protection AS p WHERE p.relation = idle_readers.relation)
    );
END;
COMMENT ON FUNCTION kanon.idle_readers IS 'Roles that read a relation for nothing any more; called by kanon.revoke_read.';
GRANT EXECUTE ON FUNCTION kanon.idle_readers TO kanon_analyst;
