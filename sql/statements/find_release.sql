-- Whether a name in schema safe belongs to something else than a release of this base relation, and
-- whether it is published now. A record whose base relation was dropped (its view went with it) is free.
-- $1 text
-- $2 bigint
SELECT
    (c.oid IS NOT NULL AND (c.relkind <> 'v' OR c.relowner <> 'kanon_owner'::regrole OR r.name IS NULL))
    OR coalesce(b.oid <> $2::bigint::oid, false) AS taken,
    c.oid IS NOT NULL AS published
FROM (SELECT $1::text AS name) AS asked
LEFT JOIN kanon.release AS r ON r.name = asked.name
LEFT JOIN pg_catalog.pg_class AS b ON b.oid = r.relation
LEFT JOIN pg_catalog.pg_class AS c
    ON c.relname = asked.name::name AND c.relnamespace = 'safe'::regnamespace
