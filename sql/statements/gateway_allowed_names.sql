-- What the server has of catalogs, views that stand for them, and functions without effect; and whether the
-- gateway's role may read which tables are protected.
SELECT
    ARRAY(
        SELECT c.relname::text
        FROM pg_catalog.pg_class AS c
        WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v') ORDER BY c.relname
    ) AS catalogs,
    ARRAY(
        SELECT c.relname::text
        FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'kanon_catalog' AND c.relkind = 'v' ORDER BY c.relname
    ) AS views,
    ARRAY(
        SELECT DISTINCT p.proname::text
        FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
        WHERE n.nspname = 'kanon_catalog' ORDER BY 1
    ) AS view_functions,
    ARRAY(
        SELECT p.proname::text
        FROM pg_catalog.pg_proc AS p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace
        GROUP BY p.proname
        HAVING pg_catalog.bool_and(p.provolatile = 'i') ORDER BY 1
    ) AS functions,
    (
        SELECT n.nspname::text
        FROM pg_catalog.pg_proc AS p
        JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
        JOIN pg_catalog.pg_roles AS o ON o.oid = p.proowner
        WHERE p.proname = 'kanon_query_record' AND p.oid IN (
{% include "called_functions.sql" %}

)
    ) AS api_schema,
    (
        SELECT
            pg_catalog.bool_and(
                pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
            )
        FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'kanon' AND c.relname IN ('declaration', 'protection', 'release')
    ) AS permitted,
    current_user::text AS role
