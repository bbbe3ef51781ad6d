-- Runs with the caller's rights, after a link or a release has gone: readers no longer read what kanon let them read for it, as far as
-- the caller may revoke that. Where another session uses a reader, which may be to publish, it is left to the next call.
CREATE OR REPLACE FUNCTION kanon.revoke_read_along() RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT u.reader, u.relation, r.rolname, n.nspname, c.relname
        FROM kanon.unneeded_along() AS u
        INNER JOIN pg_class AS c ON c.oid = u.relation::oid
        INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace
        INNER JOIN pg_roles AS r ON r.rolname = format('kanon_base_%s', u.reader)
        CROSS JOIN LATERAL aclexplode(c.relacl) AS a
        WHERE a.grantee = r.oid AND a.privilege_type = 'SELECT' AND pg_has_role(a.grantor, 'USAGE')
    LOOP
        CONTINUE WHEN NOT pg_try_advisory_xact_lock({{ readers_lock }}, one.reader)
            -- published or linked before the lock was there
            OR NOT EXISTS (SELECT FROM kanon.unneeded_along() AS u WHERE (u.reader, u.relation) = (one.reader, one.relation));
        BEGIN
            EXECUTE format('REVOKE SELECT ON %I.%I FROM %I', one.nspname, one.relname, one.rolname);
            PERFORM kanon.note_along(one.reader, one.relation, false);
        EXCEPTION
            -- "tuple concurrently updated": another session changes rights on it
            WHEN internal_error THEN NULL;
        END;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION kanon.revoke_read_along IS 'Revokes what kanon.grant_read_along granted and nothing needs any more, as far as the caller may.';
GRANT EXECUTE ON FUNCTION kanon.revoke_read_along TO kanon_analyst;
