-- What PUBLIC loses, and what the installation records of itself; what an earlier one created or revoked stays recorded.
DO $settle$
DECLARE
    -- the name that PostgreSQL puts into the script of an extension is quoted for SQL, not for a text
    api CONSTANT text := {% if schema %}{{ schema }}{% else %}(
        SELECT n.nspname FROM pg_catalog.pg_extension AS x INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = x.extnamespace
        WHERE x.extname = 'kanon_pg'
    ){% endif %};
    revoked text[] := '{}';
    schemas name[] := '{}';
    one record;
BEGIN
    FOR one IN EXECUTE $rights$
{% include "public_rights" %}
    $rights$ USING api LOOP
        IF NOT one.revocable THEN
            RAISE WARNING 'kanon: PUBLIC keeps % on % %, because the installing role does not own the %: every role can %. Let the owner run: REVOKE % ON % % FROM PUBLIC;',
                one.privilege, one.kind, one.name, one.kind,
                CASE one.privilege WHEN 'TEMPORARY' THEN 'create temporary functions and tables'
                    ELSE 'create objects that other users'' queries may find first' END,
                one.privilege, pg_catalog.upper(one.kind), pg_catalog.quote_ident(one.name);
            CONTINUE;
        END IF;
        EXECUTE pg_catalog.format('REVOKE %s ON %s %I FROM PUBLIC', one.privilege, one.kind, one.name);
        RAISE WARNING 'kanon: Revoked % on % % from PUBLIC; grant it to the roles that need it.', one.privilege, one.kind, one.name;
        revoked := revoked || (one.kind || ' ' || one.privilege);
        IF one.kind = 'schema' THEN
            schemas := schemas || one.name::name;
        END IF;
    END LOOP;
    INSERT INTO kanon.version AS v (
        version, api_schema, plpython, created_extension, created_api_schema, revoked_temporary, revoked_create_database,
        revoked_create_schemas
    )
    VALUES (
        {{ version }}, api::name, {{ in_server }}::boolean, {{ created_extension }}::boolean, {{ created_schema }}::boolean,
        'database TEMPORARY' = ANY (revoked), 'database CREATE' = ANY (revoked), schemas
    )
    ON CONFLICT (only_row) DO UPDATE SET
        version = excluded.version, api_schema = excluded.api_schema, plpython = excluded.plpython,
        created_extension = v.created_extension OR excluded.created_extension,
        created_api_schema = v.created_api_schema OR excluded.created_api_schema,
        revoked_temporary = v.revoked_temporary OR excluded.revoked_temporary,
        revoked_create_database = v.revoked_create_database OR excluded.revoked_create_database,
        revoked_create_schemas = v.revoked_create_schemas || excluded.revoked_create_schemas, updated_at = pg_catalog.now();
END
$settle$
