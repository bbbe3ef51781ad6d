-- Runs with the caller's rights: gives a role of kanon_pg what it needs to read a table.
CREATE OR REPLACE FUNCTION kanon.grant_read_to(relation regclass, grantee name) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    base record;
    holder name;
    types record;
BEGIN
    SELECT c.oid, c.relname, c.relnamespace, n.nspname INTO base
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.oid = grant_read_to.relation AND c.relkind IN ('r', 'p', 'v', 'm', 'f');
    IF NOT FOUND THEN
        RETURN;  -- refused later, with a sentence of its own
    END IF;
    FOR attempt IN 1..64 LOOP
        BEGIN
            -- who builds releases has to name the table, too
            FOREACH holder IN ARRAY ARRAY[grant_read_to.grantee, 'kanon_owner', 'kanon_reader']::name[] LOOP
                IF NOT pg_catalog.has_schema_privilege(holder, base.relnamespace, 'USAGE')
                    AND pg_catalog.has_schema_privilege(base.relnamespace, 'USAGE WITH GRANT OPTION') THEN
                    EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', base.nspname, holder);
                END IF;
            END LOOP;
            -- operators of its columns' types are named with their schemas
            FOR types IN
                SELECT DISTINCT n.oid, n.nspname FROM pg_catalog.pg_attribute AS a
                INNER JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
                INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
                WHERE a.attrelid = base.oid AND a.attnum > 0 AND NOT a.attisdropped
                    AND NOT pg_catalog.has_schema_privilege(grant_read_to.grantee, n.oid, 'USAGE')
                    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE WITH GRANT OPTION')
            LOOP
                EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', types.nspname, grant_read_to.grantee);
            END LOOP;
            -- also where PUBLIC may read it, so that the reader is known to be in use
            IF NOT EXISTS (
                SELECT FROM pg_catalog.pg_class AS c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
                WHERE c.oid = base.oid AND a.grantee = grant_read_to.grantee::regrole AND a.privilege_type = 'SELECT'
            )
                AND pg_catalog.has_table_privilege(base.oid, 'SELECT WITH GRANT OPTION') THEN
                EXECUTE pg_catalog.format('GRANT SELECT ON %I.%I TO %I', base.nspname, base.relname,
                    grant_read_to.grantee);
            END IF;
            RETURN;
        EXCEPTION
            -- "tuple concurrently updated": another session grants at the same time, and has committed now.
            WHEN internal_error THEN
                IF attempt = 64 THEN
                    RAISE;
                END IF;
        END;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION kanon.grant_read_to IS 'Grants a role SELECT on a table and USAGE on its schema, if the caller may grant them.';
GRANT EXECUTE ON FUNCTION kanon.grant_read_to TO kanon_analyst;
