-- Whether kanon_pg with its functions for queries is here, and whether the role may read the names of protected relations.
SELECT
    pg_catalog.bool_or(c.relname = 'protected_names') AND EXISTS (
        SELECT
        FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS s ON s.oid = p.pronamespace
        WHERE s.nspname = 'kanon' AND p.proname = 'answer_blocks'
    ) AS is_installed,
    pg_catalog.bool_and(
        pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
    ) AS is_permitted,
    current_user::text AS role
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'kanon' AND c.relname = 'protected_names'
