-- name: install_facts(text): What the installer must know about the server, the database and the role it works as.
SELECT
    pg_catalog.current_setting('server_version_num')::integer AS server_version, pg_catalog.current_database()::text AS database,
    me.rolname::text AS role, me.rolsuper AS superuser, me.rolcreaterole AS createrole,
    pg_catalog.has_database_privilege(d.oid, 'CREATE') AS create_in_database,
    EXISTS (SELECT FROM pg_catalog.pg_available_extensions AS x WHERE x.name = 'plpython3u') AS plpython_available,
    EXISTS (SELECT FROM pg_catalog.pg_extension AS x WHERE x.extname = 'plpython3u') AS plpython_created,
    (
        SELECT pg_catalog.pg_get_userbyid(n.nspowner)::text FROM pg_catalog.pg_namespace AS n WHERE n.nspname = 'kanon'
    ) AS kanon_schema_owner,
    EXISTS (
        SELECT FROM pg_catalog.pg_namespace AS n
        WHERE n.nspname = 'kanon' AND (
            pg_catalog.pg_get_userbyid(n.nspowner) = 'kanon_owner' OR EXISTS (
                SELECT FROM pg_catalog.pg_class AS c
                WHERE c.relnamespace = n.oid AND pg_catalog.pg_get_userbyid(c.relowner) = 'kanon_owner'
            )
        )
    ) AS kanon_is_ours,
    -- whoever owns a schema exchanges what is in it
    ARRAY(
        SELECT ARRAY[n.nspname::text, pg_catalog.pg_get_userbyid(n.nspowner)::text] FROM pg_catalog.pg_namespace AS n
        WHERE n.nspname IN ('safe', 'kanon_bases', 'kanon_shown') AND pg_catalog.pg_get_userbyid(n.nspowner) <> 'kanon_owner'
        ORDER BY n.nspname
    ) AS taken_schemas,
    ARRAY(
        SELECT DISTINCT f.code FROM (
{% include "code_on_tables" %}
        ) AS f
        ORDER BY f.code
    ) AS foreign_code,
    -- not to_regclass(), which raises for roles that may not use the schema
    ARRAY(
        SELECT c.relname::text FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'kanon' AND c.relkind = 'r' ORDER BY c.relname
    ) AS tables,
    (SELECT x.extversion FROM pg_catalog.pg_extension AS x WHERE x.extname = 'kanon_pg') AS extension,
    (
        SELECT min(n.nspname::text)
        FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
        WHERE p.oid IN (
{% include "called_functions" %}
)
    ) AS functions_schema,
    EXISTS (SELECT FROM pg_catalog.pg_namespace AS n WHERE n.nspname = $1) AS api_schema_exists,
    ARRAY(
        SELECT r.rolname::text FROM pg_catalog.pg_roles AS r
        WHERE r.rolname IN ('kanon_owner', 'kanon_reader', 'kanon_curator', 'kanon_analyst') ORDER BY r.rolname
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

-- name: installed_version(): What the installation in this database recorded of itself: at most one row, with the columns that
-- its version had.
SELECT pg_catalog.to_jsonb(v)::text AS recorded FROM kanon.version AS v

-- name: create_api_schema(): The schema of the functions for users.
CREATE SCHEMA {{ api }} AUTHORIZATION kanon_owner

-- name: called_functions(): The functions that users call, in whichever schema. Whoever installed may have own functions of these
-- names, without an example.
    SELECT f.oid FROM pg_catalog.pg_proc AS f
    WHERE
        -- where the schema is gone, whoever removes the rest must own it
        f.proowner = coalesce(
            (SELECT n.nspowner FROM pg_catalog.pg_namespace AS n WHERE n.nspname = 'kanon'),
            (SELECT u.oid FROM pg_catalog.pg_roles AS u WHERE u.rolname = CURRENT_USER)
        )
        AND pg_catalog.obj_description(f.oid, 'pg_proc') LIKE E'%\nExample: %'
        AND f.proname IN (
            'kanon_anonymize', 'kanon_audit', 'kanon_certificate', 'kanon_check_query',
            'kanon_composition', 'kanon_curve', 'kanon_declare', 'kanon_drop', 'kanon_erase',
            'kanon_groups', 'kanon_help', 'kanon_hierarchy_build', 'kanon_hierarchy_define',
            'kanon_hierarchy_drop', 'kanon_hierarchy_load', 'kanon_hierarchy_missing', 'kanon_hierarchy_show',
            'kanon_hierarchy_values', 'kanon_identify', 'kanon_install_check', 'kanon_intervals',
            'kanon_is_anonymous', 'kanon_link', 'kanon_measure', 'kanon_protect', 'kanon_query',
            'kanon_query_record', 'kanon_rectangles', 'kanon_refresh', 'kanon_regions', 'kanon_release_report',
            'kanon_risk', 'kanon_suggest', 'kanon_undeclare', 'kanon_unlink', 'kanon_unprotect', 'kanon_version'
        )

-- name: own_functions(): The functions of an installation that come and go with PL/Python, in whichever schema, those that use
-- others first. (The other functions are used by views; they are replaced in place.)
SELECT p.oid::regprocedure::text AS function, (n.nspname = 'kanon') AS inner, (l.lanname = 'plpython3u') AS last
FROM pg_catalog.pg_proc AS p
JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
WHERE p.oid IN (
{% include "called_functions" %}
    )
    OR (n.nspname = 'kanon' AND (
        l.lanname = 'plpython3u'
        -- what PL/pgSQL calls is nowhere recorded
        OR p.proname IN ('query_log', 'restart_record', 'forget_answer', 'answer_blocks')
        OR EXISTS (
            SELECT FROM pg_catalog.pg_depend AS d
            JOIN pg_catalog.pg_proc AS used ON used.oid = d.refobjid
            JOIN pg_catalog.pg_language AS ul ON ul.oid = used.prolang
            WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid
                AND d.refclassid = 'pg_catalog.pg_proc'::regclass AND ul.lanname = 'plpython3u'
        )
    ))
ORDER BY 2, 3, 1

-- name: function_users(text): Objects of others that use a function, as the server describes them.
SELECT DISTINCT
    pg_catalog.pg_describe_object(
        CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_catalog.pg_class'::regclass END, coalesce(r.ev_class, d.objid), 0
    ) AS description
FROM pg_catalog.pg_depend AS d
LEFT JOIN pg_catalog.pg_rewrite AS r ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND r.oid = d.objid
LEFT JOIN pg_catalog.pg_proc AS p ON d.classid = 'pg_catalog.pg_proc'::regclass AND p.oid = d.objid
WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass
    AND d.refobjid = $1::regprocedure AND d.deptype = 'n'
    AND (p.oid IS NULL OR (pg_catalog.pg_get_userbyid(p.proowner) <> 'kanon_owner' AND p.pronamespace <> 'kanon'::regnamespace AND p.oid NOT IN (
{% include "called_functions" %}
)))
ORDER BY description

-- name: code_on_tables(): What of kanon's own relations would run code of others: whoever writes there runs it with their own rights.
        SELECT pg_catalog.pg_describe_object(d.classid, d.objid, 0) AS code
        FROM pg_catalog.pg_depend AS d
        INNER JOIN pg_catalog.pg_class AS c ON c.oid = CASE d.classid
            WHEN 'pg_catalog.pg_trigger'::regclass
                THEN (SELECT t.tgrelid FROM pg_catalog.pg_trigger AS t WHERE t.oid = d.objid AND NOT t.tgisinternal)
            WHEN 'pg_catalog.pg_rewrite'::regclass
                THEN (SELECT w.ev_class FROM pg_catalog.pg_rewrite AS w WHERE w.oid = d.objid)
            WHEN 'pg_catalog.pg_policy'::regclass
                THEN (SELECT p.polrelid FROM pg_catalog.pg_policy AS p WHERE p.oid = d.objid)
            WHEN 'pg_catalog.pg_attrdef'::regclass
                THEN (SELECT a.adrelid FROM pg_catalog.pg_attrdef AS a WHERE a.oid = d.objid)
            WHEN 'pg_catalog.pg_constraint'::regclass
                THEN (SELECT o.conrelid FROM pg_catalog.pg_constraint AS o WHERE o.oid = d.objid AND o.contype = 'c')
            WHEN 'pg_catalog.pg_class'::regclass
                THEN (SELECT i.indrelid FROM pg_catalog.pg_index AS i WHERE i.indexrelid = d.objid)
        END
        WHERE c.relnamespace = pg_catalog.to_regnamespace('kanon') AND c.relkind IN ('r', 'p') AND (
            d.classid IN ('pg_catalog.pg_trigger'::regclass, 'pg_catalog.pg_rewrite'::regclass, 'pg_catalog.pg_policy'::regclass)
            -- PostgreSQL's own functions are in no dependencies
            OR d.refclassid IN ('pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass)
        )

-- name: public_rights(text): What every role may do in this database that would let an analyst bring own code near the data.
SELECT 'database' AS kind, d.datname::text AS name, a.privilege_type AS privilege,
    pg_catalog.pg_has_role(d.datdba, 'USAGE') AS revocable
FROM pg_catalog.pg_database AS d, pg_catalog.aclexplode(coalesce(d.datacl, pg_catalog.acldefault('d', d.datdba))) AS a
WHERE d.datname = pg_catalog.current_database() AND a.grantee = 0 AND a.privilege_type IN ('TEMPORARY', 'CREATE')
UNION ALL
SELECT 'schema', n.nspname::text, a.privilege_type, pg_catalog.pg_has_role(n.nspowner, 'USAGE')
FROM pg_catalog.pg_namespace AS n, pg_catalog.aclexplode(coalesce(n.nspacl, pg_catalog.acldefault('n', n.nspowner))) AS a
WHERE n.nspname IN ('public', $1) AND a.grantee = 0 AND a.privilege_type = 'CREATE' ORDER BY kind, name, privilege

-- name: grant_public(): Gives a right on the database or a schema back to PUBLIC.
GRANT {{ privilege }} ON {{ kind }} {{ name }} TO PUBLIC

-- name: create_probe(): A function of this session alone that tells what the server's Python can see.
CREATE FUNCTION pg_temp.kanon_probe(arguments text) RETURNS text LANGUAGE plpython3u AS {{ body }}

-- name: run_probe(text): Asks what the server's Python can see.
SELECT pg_temp.kanon_probe($1) AS answer

-- name: drop_probe(): Ends the probe; what it created must not outlive the installation.
DROP FUNCTION pg_temp.kanon_probe(text)
