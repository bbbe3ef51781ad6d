-- information_schema.columns, and the columns of relations that can only be queried through kanon_query: their names and types.
DO $columns$
DECLARE
    known CONSTANT jsonb = '{
        "table_catalog": "pg_catalog.current_database()",
        "table_schema": "n.nspname",
        "table_name": "r.relname",
        "column_name": "c.attname",
        "ordinal_position": "c.attnum",
        "is_nullable": "CASE WHEN c.attnotnull THEN ''NO'' ELSE ''YES'' END",
        "data_type": "pg_catalog.format_type(c.atttypid, NULL)",
        "udt_catalog": "pg_catalog.current_database()",
        "udt_schema": "s.nspname",
        "udt_name": "t.typname",
        "dtd_identifier": "c.attnum",
        "is_self_referencing": "''NO''",
        "is_identity": "''NO''",
        "is_generated": "''NEVER''",
        "is_updatable": "''NO''"
    }';
    columns text;
BEGIN
    SELECT pg_catalog.string_agg(
        pg_catalog.format('CAST(%s AS %s)', coalesce(known ->> a.attname::text, 'NULL'), a.atttypid::regtype),
        ', ' ORDER BY a.attnum
    ) INTO columns
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = 'information_schema.columns'::regclass AND a.attnum > 0;
    EXECUTE 'DROP VIEW IF EXISTS kanon_catalog.columns';
    EXECUTE pg_catalog.format(
        $view$
            CREATE VIEW kanon_catalog.columns WITH (security_barrier) AS
            SELECT i.* FROM information_schema.columns AS i WHERE i.table_schema NOT IN ('kanon', 'kanon_catalog')
            UNION ALL
            SELECT %s
            FROM kanon.visible_relations AS v
            JOIN pg_catalog.pg_class AS r ON r.oid = v.oid
            JOIN pg_catalog.pg_namespace AS n ON n.oid = r.relnamespace
            JOIN pg_catalog.pg_attribute AS c ON c.attrelid = r.oid AND c.attnum > 0 AND NOT c.attisdropped
            JOIN pg_catalog.pg_type AS t ON t.oid = c.atttypid
            JOIN pg_catalog.pg_namespace AS s ON s.oid = t.typnamespace
            WHERE NOT v.readable AND r.relkind IN ('r', 'p', 'v')
        $view$,
        columns
    );
END
$columns$;
ALTER VIEW kanon_catalog.columns OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon_catalog.columns FROM PUBLIC;
GRANT SELECT ON TABLE kanon_catalog.columns TO kanon_analyst;
COMMENT ON VIEW kanon_catalog.columns IS 'Stands for information_schema.columns where tools ask through the gateway.';
