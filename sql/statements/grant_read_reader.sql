-- Gives a relation a reader and lets queries about it be answered, if the caller may allow it.
-- $1 bigint
SELECT kanon.grant_read(w.oid)::text || kanon.grant_read(w.oid, true)::text AS granted
FROM (SELECT $1::bigint::oid::regclass AS oid) AS w
