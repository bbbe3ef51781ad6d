-- Stores the hierarchy of a table through the server's own function.
-- $1 text
-- $2 bigint
-- $3 text
SELECT kanon_hierarchy_load($1::text::name, $2::bigint::oid::regclass, $3::text::jsonb) AS version
