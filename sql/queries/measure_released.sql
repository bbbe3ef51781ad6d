-- The roles of a release's columns; who a row belongs to is not published.
-- $1 bigint
SELECT
    quasi_identifiers::text[] AS quasi_identifiers,
    sensitive::text[] AS sensitive,
    NULL::text AS entity
FROM kanon.releases
WHERE view = $1::bigint::oid::regclass
