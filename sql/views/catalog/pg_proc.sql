-- Functions that the role may call, without their bodies.
SELECT kanon.mirror_catalog(
    'pg_proc',
    $shown$
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.pronamespace WHERE n.nspname NOT IN ('kanon',
        'kanon_catalog') AND pg_catalog.has_function_privilege(c.oid, 'EXECUTE') AND
        pg_catalog.has_schema_privilege(n.oid, 'USAGE')
    $shown$,
    $masks${
        "prosrc": "CASE WHEN n.nspname = 'pg_catalog' THEN c.prosrc ELSE '' END",
        "prosqlbody": "NULL::pg_catalog.pg_node_tree"
    }$masks$
);
