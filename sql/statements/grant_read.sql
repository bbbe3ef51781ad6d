-- Gives a relation a reader, if the caller may allow it.
-- $1 bigint
SELECT kanon.grant_read($1::bigint::oid::regclass)::text AS granted
