-- What `kanon install` does in Python: which tables pg_dump carries, what PUBLIC loses, what is recorded, and whether
-- the server finds the package. The version is not dumped: restoring runs this script, which records its own.
{% for table in dumped %}
SELECT pg_catalog.pg_extension_config_dump({{ table }}, '');
{% endfor %}

DO $settle$
DECLARE
    api CONSTANT text := (
        SELECT n.nspname FROM pg_catalog.pg_extension AS x JOIN pg_catalog.pg_namespace AS n ON n.oid = x.extnamespace
        WHERE x.extname = 'kanon_pg'
    );
    one record;
    revoked text[] := '{}';
    schemas text[] := '{}';
BEGIN
    FOR one IN EXECUTE $rights$
{% include "public_rights" %}
    $rights$ USING api LOOP
        EXECUTE pg_catalog.format('REVOKE %s ON %s %I FROM PUBLIC', one.privilege, one.kind, one.name);
        RAISE WARNING 'kanon: Revoked % on % % from PUBLIC; grant it to the roles that need it.', one.privilege, one.kind, one.name;
        revoked := revoked || (one.kind || ' ' || one.privilege);
        IF one.kind = 'schema' THEN
            schemas := schemas || one.name;
        END IF;
    END LOOP;
    EXECUTE $record$
{% include "record_version" %}
    $record$ USING {{ version }}, api, true, false, false,
        'database TEMPORARY' = ANY(revoked), 'database CREATE' = ANY(revoked), schemas;
END
$settle$;

SELECT kanon.versions()
