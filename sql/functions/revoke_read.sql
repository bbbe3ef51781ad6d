-- Runs with the caller's rights: revokes what was granted, as far as the caller may. A reader keeps what a declaration, a release
-- or queries about the table need; a schema stays open to a role that may read something else in it.
CREATE OR REPLACE FUNCTION kanon.revoke_read(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    base record;
    holder name;
BEGIN
    FOR attempt IN 1..64 LOOP
        BEGIN
            FOR base IN
                SELECT c.oid, c.relname, n.nspname, n.oid AS schema, n.nspacl AS rights
                FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                WHERE c.oid = revoke_read.relation OR c.oid IN (SELECT s.oid FROM kanon.shards(revoke_read.relation) AS s (oid))
            LOOP
                FOREACH holder IN ARRAY kanon.idle_readers(revoke_read.relation) LOOP
                    IF EXISTS (
                        SELECT FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a
                        WHERE c.oid = base.oid AND a.grantee = holder::regrole AND a.privilege_type = 'SELECT'
                            AND pg_has_role(a.grantor, 'USAGE')
                    ) THEN
                        EXECUTE format('REVOKE SELECT ON %I.%I FROM %I', base.nspname, base.relname, holder);
                    END IF;
                    -- who builds releases has to name other tables of the schema, too
                    IF holder <> 'kanon_owner' AND EXISTS (
                        SELECT FROM aclexplode(base.rights) AS a
                        WHERE a.grantee = holder::regrole AND a.privilege_type = 'USAGE' AND pg_has_role(a.grantor, 'USAGE')
                    ) AND NOT EXISTS (
                        SELECT FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a
                        WHERE c.relnamespace = base.schema AND a.grantee = holder::regrole
                    ) THEN
                        EXECUTE format('REVOKE USAGE ON SCHEMA %I FROM %I', base.nspname, holder);
                    END IF;
                END LOOP;
            END LOOP;
            EXIT;
        EXCEPTION
            -- "tuple concurrently updated", as in kanon.grant_read_to
            WHEN internal_error THEN
                IF attempt = 64 THEN
                    RAISE;
                END IF;
        END;
    END LOOP;
    BEGIN
        PERFORM kanon.free_reader(revoke_read.relation);
    EXCEPTION
        -- another session has freed it, or has given it to another relation, since the transaction began
        WHEN serialization_failure THEN NULL;
    END;
END
$function$;
COMMENT ON FUNCTION kanon.revoke_read IS 'Revokes rights to read a table that nothing of kanon_pg needs any more, as far as the caller may revoke them.';
GRANT EXECUTE ON FUNCTION kanon.revoke_read TO kanon_analyst;
