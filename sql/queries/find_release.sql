-- Whether a name in schema safe belongs to something else than releases of this base relation.
-- $1 text
-- $2 bigint
SELECT
    coalesce(r.relation <> $2::bigint::oid::regclass, c.oid IS NOT NULL) AS taken,
    r.name IS NOT NULL AND c.oid IS NOT NULL AS published
FROM (SELECT $1::text AS name) AS asked
LEFT JOIN kanon.release AS r ON r.name = asked.name
LEFT JOIN pg_catalog.pg_class AS c
    ON c.relname = asked.name::name AND c.relnamespace = 'safe'::regnamespace
