-- Lets the owner role and the reading role read a relation, if the caller may allow it.
-- $1 bigint
SELECT kanon.grant_read_to(w.oid, 'kanon_owner')::text || kanon.grant_read_to(w.oid, 'kanon_reader')::text AS granted
FROM (SELECT $1::bigint::oid::regclass AS oid) AS w
