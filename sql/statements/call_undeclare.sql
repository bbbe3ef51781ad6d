-- Forgets the roles of columns through the server's own function.
-- $1 bigint
SELECT kanon_undeclare($1::bigint::oid::regclass)::text AS done
