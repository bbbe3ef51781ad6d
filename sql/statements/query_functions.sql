-- Of PostgreSQL's own functions with some names: whether all of a name depend on their arguments alone.
-- $1 text[]
SELECT
    p.proname::text AS name,
    pg_catalog.bool_and(p.provolatile = 'i' AND p.prokind = 'f' AND NOT p.proretset) AS immutable
FROM pg_catalog.pg_proc AS p
WHERE p.proname = ANY ($1::text[]::name[]) AND p.pronamespace = 'pg_catalog'::regnamespace AND p.oid < 16384
GROUP BY p.proname
