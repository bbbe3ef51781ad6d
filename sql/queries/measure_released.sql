-- The roles of a release's columns.
-- $1 bigint
SELECT
    quasi_identifiers::text[] AS quasi_identifiers,
    sensitive::text[] AS sensitive
FROM kanon.releases
WHERE view = $1::bigint::oid::regclass
