-- Revokes the rights that protecting a relation needed, if the caller may.
-- $1 bigint
SELECT kanon.revoke_read($1::bigint::oid::regclass)::text AS revoked
