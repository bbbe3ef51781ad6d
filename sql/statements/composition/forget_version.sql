-- Removes the record of a version that was remembered.
-- $1 text
-- $2 bigint
DELETE FROM kanon.remembered WHERE release = $1::text AND version = $2::bigint
