-- What the installer must know about the server, the database and the role it works as.
-- $1 text
SELECT
    pg_catalog.current_setting('server_version_num')::integer AS server_version,
    pg_catalog.current_database()::text AS database,
    me.rolname::text AS role,
    me.rolsuper AS superuser,
    me.rolcreaterole AS createrole,
    pg_catalog.has_database_privilege(d.oid, 'CREATE') AS create_in_database,
    EXISTS (
        SELECT FROM pg_catalog.pg_available_extensions AS x WHERE x.name = 'plpython3u'
    ) AS plpython_available,
    EXISTS (SELECT FROM pg_catalog.pg_extension AS x WHERE x.extname = 'plpython3u') AS plpython_created,
    (
        SELECT pg_catalog.pg_get_userbyid(n.nspowner)::text
        FROM pg_catalog.pg_namespace AS n WHERE n.nspname = 'kanon'
    ) AS kanon_schema_owner,
    EXISTS (
        SELECT
        FROM pg_catalog.pg_namespace AS n
        WHERE n.nspname = 'kanon' AND (
            pg_catalog.pg_get_userbyid(n.nspowner) = 'kanon_owner' OR EXISTS (
                SELECT FROM pg_catalog.pg_class AS c
                WHERE c.relnamespace = n.oid AND pg_catalog.pg_get_userbyid(c.relowner) = 'kanon_owner'
            )
        )
    ) AS kanon_is_ours,
    -- whoever owns a schema exchanges what is in it
    ARRAY(
        SELECT ARRAY[n.nspname::text, pg_catalog.pg_get_userbyid(n.nspowner)::text]
        FROM pg_catalog.pg_namespace AS n
        WHERE n.nspname IN ('safe', 'kanon_bases', 'kanon_shown')
            AND pg_catalog.pg_get_userbyid(n.nspowner) <> 'kanon_owner'
        ORDER BY n.nspname
    ) AS taken_schemas,
    ARRAY(
        SELECT DISTINCT f.code
        FROM (
{% include "code_on_tables.sql" %}

        ) AS f
        ORDER BY f.code
    ) AS foreign_code,
    -- not to_regclass(), which raises for roles that may not use the schema
    ARRAY(
        SELECT c.relname::text
        FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'kanon' AND c.relkind = 'r'
        ORDER BY c.relname
    ) AS tables,
    (SELECT x.extversion FROM pg_catalog.pg_extension AS x WHERE x.extname = 'kanon_pg') AS extension,
    (
        SELECT min(n.nspname::text)
        FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
        WHERE p.oid IN (
{% include "called_functions.sql" %}

)
    ) AS functions_schema,
    EXISTS (SELECT FROM pg_catalog.pg_namespace AS n WHERE n.nspname = $1) AS api_schema_exists,
    ARRAY(
        SELECT r.rolname::text FROM pg_catalog.pg_roles AS r
        WHERE r.rolname IN ('kanon_owner', 'kanon_reader', 'kanon_curator', 'kanon_analyst')
        ORDER BY r.rolname
    ) AS roles,
    ARRAY(
        SELECT r.rolname::text FROM pg_catalog.pg_roles AS r
        WHERE r.rolname IN ('kanon_owner', 'kanon_reader', 'kanon_curator', 'kanon_analyst')
            AND (r.rolsuper OR r.rolcreaterole OR (r.rolcanlogin AND r.rolname IN ({% if not holds_shards %}'kanon_owner', {% endif %}'kanon_reader')))
        ORDER BY r.rolname
    ) AS unsafe_roles,
    -- CASE: pg_has_role raises if there is no such role.
    CASE
        WHEN EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolname = 'kanon_owner')
            THEN pg_catalog.pg_has_role((SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = 'kanon_owner'), 'MEMBER')
        ELSE false
    END AS owner_member
FROM pg_catalog.pg_roles AS me, pg_catalog.pg_database AS d
WHERE me.rolname = current_user AND d.datname = pg_catalog.current_database()
