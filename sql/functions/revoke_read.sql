-- Runs with the caller's rights: revokes what was granted, as far as the caller may. The owner role keeps what
-- a declaration or a release of the table needs; a schema stays open to a role that may read something else in it.
CREATE OR REPLACE FUNCTION kanon.revoke_read(relation regclass)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
RETURNS NULL ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    base record;
    holder name;
BEGIN
    FOR base IN
        SELECT c.oid, c.relname, n.nspname, n.oid AS schema, n.nspacl AS rights
        FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.oid = revoke_read.relation OR c.oid IN (SELECT s.oid FROM kanon.shards(revoke_read.relation) AS s (oid))
    LOOP
        FOR holder IN
            SELECT 'kanon_reader'
            WHERE base.oid = revoke_read.relation
            UNION ALL
            SELECT 'kanon_owner'
            WHERE NOT EXISTS (
                    SELECT FROM kanon.declarations AS d WHERE d.relation IN (revoke_read.relation, base.oid)
                )
                AND NOT EXISTS (SELECT FROM kanon.releases AS r WHERE r.base IN (revoke_read.relation, base.oid))
        LOOP
            IF EXISTS (
                SELECT
                FROM pg_catalog.pg_class AS c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
                WHERE c.oid = base.oid AND a.grantee = holder::regrole AND a.privilege_type = 'SELECT'
                    AND pg_catalog.pg_has_role(a.grantor, 'USAGE')
            ) THEN
                EXECUTE pg_catalog.format('REVOKE SELECT ON %I.%I FROM %I', base.nspname, base.relname, holder);
            END IF;
            IF EXISTS (
                SELECT
                FROM pg_catalog.aclexplode(base.rights) AS a
                WHERE a.grantee = holder::regrole AND a.privilege_type = 'USAGE'
                    AND pg_catalog.pg_has_role(a.grantor, 'USAGE')
            ) AND NOT EXISTS (
                SELECT
                FROM pg_catalog.pg_class AS c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
                WHERE c.relnamespace = base.schema AND a.grantee = holder::regrole
            ) THEN
                EXECUTE pg_catalog.format('REVOKE USAGE ON SCHEMA %I FROM %I', base.nspname, holder);
            END IF;
        END LOOP;
    END LOOP;
END
$function$;
ALTER FUNCTION kanon.revoke_read OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.revoke_read FROM PUBLIC;
COMMENT ON FUNCTION kanon.revoke_read IS
'Revokes rights to read a table that nothing of kanon_pg needs any more, as far as the caller may revoke them.';
GRANT EXECUTE ON FUNCTION kanon.revoke_read TO kanon_curator;
