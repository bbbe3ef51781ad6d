-- Types as SQL writes them, in the order of their numbers.
-- $1 bigint[]
SELECT pg_catalog.format_type(u.oid, -1) AS name
FROM pg_catalog.unnest($1::bigint[]::oid[]) WITH ORDINALITY AS u (oid, place)
ORDER BY u.place
