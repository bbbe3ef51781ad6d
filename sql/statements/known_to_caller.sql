-- Whose rights count, and whether that role may read what kanon knows about relations.
SELECT
    CURRENT_USER::text AS role,
    coalesce(pg_catalog.bool_or(c.relname = 'declarations'), FALSE) AS declarations,
    coalesce(pg_catalog.bool_or(c.relname = 'releases'), FALSE) AS releases,
    coalesce(pg_catalog.bool_or(c.relname = 'published_roles'), FALSE) AS published_roles
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'kanon' AND c.relname IN ('declarations', 'releases', 'published_roles')
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
