-- Which relations names mean now, whatever the transaction's snapshot; NULL for none.
-- $1 text[]
SELECT pg_catalog.to_regclass(u.name)::oid::bigint AS oid
FROM pg_catalog.unnest($1::text[]) AS u (name)
