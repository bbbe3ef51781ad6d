-- Schemas that the role may use, or in which there is something to ask about.
SELECT kanon.mirror_catalog(
    'pg_namespace',
    $shown$
        WHERE c.nspname NOT IN ('kanon', 'kanon_catalog', 'pg_toast') AND
        (pg_catalog.has_schema_privilege(c.oid, 'USAGE') OR EXISTS (SELECT FROM kanon.visible_relations AS v
        JOIN pg_catalog.pg_class AS r ON r.oid = v.oid WHERE r.relnamespace = c.oid))
    $shown$
);
