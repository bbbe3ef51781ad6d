-- Removes a link.
-- $1 bigint
DELETE FROM kanon.link
WHERE child = $1::bigint::oid::regclass
RETURNING parent::oid::bigint AS parent
