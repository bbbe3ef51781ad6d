-- information_schema.tables, and the relations that answer queries alone.
CREATE OR REPLACE VIEW kanon_catalog.tables WITH (security_barrier) AS
SELECT t.* FROM information_schema.tables AS t WHERE t.table_schema NOT IN ('kanon', 'kanon_catalog')
UNION ALL
SELECT
    pg_catalog.current_database()::information_schema.sql_identifier,
    n.nspname::information_schema.sql_identifier,
    c.relname::information_schema.sql_identifier,
    CASE WHEN c.relkind = 'v' THEN 'VIEW' ELSE 'BASE TABLE' END::information_schema.character_data,
    NULL::information_schema.sql_identifier,
    NULL::information_schema.character_data,
    NULL::information_schema.sql_identifier,
    NULL::information_schema.sql_identifier,
    NULL::information_schema.sql_identifier,
    'NO'::information_schema.yes_or_no,
    'NO'::information_schema.yes_or_no,
    NULL::information_schema.character_data
FROM kanon.visible_relations AS v
JOIN pg_catalog.pg_class AS c ON c.oid = v.oid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE NOT v.readable AND c.relkind IN ('r', 'p', 'v');
ALTER VIEW kanon_catalog.tables OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon_catalog.tables FROM PUBLIC;
GRANT SELECT ON TABLE kanon_catalog.tables TO kanon_analyst;
COMMENT ON VIEW kanon_catalog.tables IS 'Stands for information_schema.tables where tools ask through the gateway.';
