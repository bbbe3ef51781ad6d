-- Runs with the caller's rights: takes back what was lent, as far as the caller may. The owner role keeps what
-- a declaration or a release of the table needs; a schema stays open to a role that may read something else in it.
CREATE OR REPLACE FUNCTION kanon.take_back(relation regclass)
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
    borrower name;
BEGIN
    FOR base IN
        SELECT c.oid, c.relname, n.nspname, n.oid AS schema, n.nspacl AS rights
        FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.oid = take_back.relation OR c.oid IN (SELECT s.oid FROM kanon.shards(take_back.relation) AS s (oid))
    LOOP
        FOR borrower IN
            SELECT 'kanon_reader'
            WHERE base.oid = take_back.relation
            UNION ALL
            SELECT 'kanon_owner'
            WHERE NOT EXISTS (
                    SELECT FROM kanon.declarations AS d WHERE d.relation IN (take_back.relation, base.oid)
                )
                AND NOT EXISTS (SELECT FROM kanon.releases AS r WHERE r.base IN (take_back.relation, base.oid))
        LOOP
            IF EXISTS (
                SELECT
                FROM pg_catalog.pg_class AS c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
                WHERE c.oid = base.oid AND a.grantee = borrower::regrole AND a.privilege_type = 'SELECT'
                    AND pg_catalog.pg_has_role(a.grantor, 'USAGE')
            ) THEN
                EXECUTE pg_catalog.format('REVOKE SELECT ON %I.%I FROM %I', base.nspname, base.relname, borrower);
            END IF;
            IF EXISTS (
                SELECT
                FROM pg_catalog.aclexplode(base.rights) AS a
                WHERE a.grantee = borrower::regrole AND a.privilege_type = 'USAGE'
                    AND pg_catalog.pg_has_role(a.grantor, 'USAGE')
            ) AND NOT EXISTS (
                SELECT
                FROM pg_catalog.pg_class AS c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
                WHERE c.relnamespace = base.schema AND a.grantee = borrower::regrole
            ) THEN
                EXECUTE pg_catalog.format('REVOKE USAGE ON SCHEMA %I FROM %I', base.nspname, borrower);
            END IF;
        END LOOP;
    END LOOP;
END
$function$;
ALTER FUNCTION kanon.take_back OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.take_back FROM PUBLIC;
COMMENT ON FUNCTION kanon.take_back IS
'Revokes lent rights to read a table that nothing of kanon_pg needs any more, as far as the caller may revoke them.';
