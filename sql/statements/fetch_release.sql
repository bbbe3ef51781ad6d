-- What is recorded of a release, with the schemas and names of the relations behind it.
-- $1 text
WITH relation (oid, names) AS NOT MATERIALIZED (
    SELECT c.oid, ARRAY[n.nspname::text, c.relname::text]
    FROM pg_catalog.pg_class AS c
    INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
)

SELECT
    r.name,
    r.relation::oid::bigint AS base,
    EXISTS (SELECT FROM pg_catalog.pg_class AS b WHERE b.oid = r.relation) AS has_base,
    (SELECT one.names FROM relation AS one WHERE one.oid = r.storage) AS storage,
    (SELECT one.names FROM relation AS one WHERE one.oid = r.mapping) AS mapping,
    (SELECT one.names FROM relation AS one WHERE one.oid = r.parts) AS parts,
    (SELECT one.names FROM relation AS one WHERE one.oid = r.source) AS source,
    (SELECT one.names FROM relation AS one WHERE one.oid = r.unknown) AS unknown,
    ARRAY(
        SELECT n.relname::text
        FROM pg_catalog.unnest(r.nodes) WITH ORDINALITY AS t (relation, place)
        INNER JOIN pg_catalog.pg_class AS n ON n.oid = t.relation
        ORDER BY t.place
    ) AS nodes,
    r.generalized::text[] AS generalized,
    r.quasi_identifiers::text[] AS quasi_identifiers,
    r.sensitive::text[] AS sensitive,
    r.insensitive::text[] AS insensitive,
    r.k,
    r.entity::text AS entity,
    (r.parameters ->> 'remember')::integer AS remember
FROM kanon.release AS r
WHERE r.name = $1::text
