-- The foreign keys that lead from one table to another.
-- $1 bigint
-- $2 bigint
SELECT
    f.name::text AS name,
    f.columns::text[] AS columns,
    f.parent_columns::text[] AS parent_columns,
    f.nullable::text[] AS nullable,
    f.validated,
    f.inherited
FROM (
{% include "foreign_keys.sql" %}

) AS f
WHERE f.child = $1::bigint::oid AND f.parent = $2::bigint::oid
ORDER BY f.name
