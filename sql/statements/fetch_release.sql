-- A published release.
-- $1 text
SELECT
    r.name,
    r.relation::oid::bigint AS base,
    b.oid IS NOT NULL AS has_base,
    sn.nspname::text AS storage_schema,
    s.relname::text AS storage_name,
    mn.nspname::text AS mapping_schema,
    m.relname::text AS mapping_name,
    pn.nspname::text AS parts_schema,
    p.relname::text AS parts_name,
    so.relname::text AS source_name,
    un.nspname::text AS unknown_schema,
    u.relname::text AS unknown_name,
    r.generalized::text[] AS generalized,
    ARRAY(
        SELECT n.relname::text
        FROM pg_catalog.unnest(r.nodes) WITH ORDINALITY AS t (relation, place)
        INNER JOIN pg_catalog.pg_class AS n ON n.oid = t.relation
        ORDER BY t.place
    ) AS nodes,
    r.k,
    r.quasi_identifiers::text[] AS quasi_identifiers,
    r.sensitive::text[] AS sensitive,
    r.insensitive::text[] AS insensitive,
    r.entity::text AS entity,
    r.entity IS NOT NULL AS has_entity,
    (r.parameters ->> 'remember')::integer AS remember
FROM kanon.release AS r
LEFT JOIN pg_catalog.pg_class AS b ON b.oid = r.relation
LEFT JOIN pg_catalog.pg_class AS s ON s.oid = r.storage
LEFT JOIN pg_catalog.pg_namespace AS sn ON sn.oid = s.relnamespace
LEFT JOIN pg_catalog.pg_class AS m ON m.oid = r.mapping
LEFT JOIN pg_catalog.pg_namespace AS mn ON mn.oid = m.relnamespace
LEFT JOIN pg_catalog.pg_class AS p ON p.oid = r.parts
LEFT JOIN pg_catalog.pg_namespace AS pn ON pn.oid = p.relnamespace
LEFT JOIN pg_catalog.pg_class AS so ON so.oid = r.source
LEFT JOIN pg_catalog.pg_class AS u ON u.oid = r.unknown
LEFT JOIN pg_catalog.pg_namespace AS un ON un.oid = u.relnamespace
WHERE r.name = $1::text
