-- Forgets a link through the server's own function.
-- $1 bigint
SELECT kanon_unlink($1::bigint::oid::regclass)::text AS done
