-- Revokes rights to read what a link led to that is no more, if the caller may.
-- $1 bigint
-- $2 bigint[]
SELECT kanon.revoke_read_along($1::bigint::oid::regclass, $2::bigint[]::oid[]::regclass[])::text AS revoked
