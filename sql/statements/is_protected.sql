-- Whether a relation answers queries.
-- $1 bigint
SELECT EXISTS (SELECT FROM kanon.protection AS p WHERE p.relation = $1::bigint::oid::regclass) AS protected
