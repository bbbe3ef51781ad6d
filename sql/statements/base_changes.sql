-- How often the rows of a base relation have changed.
-- $1 bigint
SELECT kanon.base_changes($1::bigint::oid::regclass) AS changes
