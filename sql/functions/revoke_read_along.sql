-- Runs with the caller's rights, after a table was unlinked: its reader, and those of tables linked to it, no longer read what the links led to.
CREATE OR REPLACE FUNCTION kanon.revoke_read_along(relation regclass, above regclass[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT n.nspname, c.relname, r.rolname
        FROM (
            SELECT revoke_read_along.relation AS oid
            UNION ALL
            SELECT t.oid FROM kanon.linked_below(revoke_read_along.relation) AS t (oid)
        ) AS below
        INNER JOIN kanon.base AS b ON b.relation = below.oid
        INNER JOIN pg_roles AS r ON r.rolname = format('kanon_base_%s', b.reader)
        CROSS JOIN unnest(above) AS u (oid)
        INNER JOIN pg_class AS c ON c.oid = u.oid::oid
        INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace
        CROSS JOIN LATERAL aclexplode(c.relacl) AS a
        WHERE a.grantee = r.oid AND a.privilege_type = 'SELECT' AND pg_has_role(a.grantor, 'USAGE')
            AND u.oid NOT IN (SELECT t.oid FROM kanon.linked_above(below.oid) AS t (oid))
    LOOP
        EXECUTE format('REVOKE SELECT ON %I.%I FROM %I', one.nspname, one.relname, one.rolname);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION kanon.revoke_read_along IS 'Revokes what kanon.grant_read_along granted, after a table was unlinked, as far as the caller may.';
GRANT EXECUTE ON FUNCTION kanon.revoke_read_along TO kanon_curator;
