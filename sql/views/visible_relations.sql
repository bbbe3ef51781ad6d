-- The relations that whoever asks may know of: those that the role may read, and those that answer queries.
CREATE OR REPLACE VIEW kanon.visible_relations WITH (security_barrier) AS
WITH known AS (
    SELECT
        c.oid,
        pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE') AND CASE c.relkind
            WHEN 'c' THEN true
            WHEN 'S' THEN pg_catalog.has_sequence_privilege(c.oid, 'USAGE, SELECT')
            ELSE pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
        END AS readable,
        EXISTS (SELECT FROM kanon.protection AS p WHERE p.relation::oid = c.oid) AS askable
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'c')
        AND n.nspname NOT IN ('kanon', 'kanon_catalog', 'pg_toast')
)
SELECT k.oid, k.readable FROM known AS k WHERE k.readable OR k.askable
UNION ALL
SELECT i.indexrelid, k.readable
FROM known AS k JOIN pg_catalog.pg_index AS i ON i.indrelid = k.oid
WHERE k.readable OR (k.askable AND i.indpred IS NULL AND i.indexprs IS NULL);
ALTER VIEW kanon.visible_relations OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.visible_relations FROM PUBLIC;
GRANT SELECT ON TABLE kanon.visible_relations TO kanon_owner;
COMMENT ON VIEW kanon.visible_relations IS 'What the views of kanon_catalog show: relations that the role may read or ask about.';
COMMENT ON COLUMN kanon.visible_relations.oid IS 'The relation, or an index of it.';
COMMENT ON COLUMN kanon.visible_relations.readable IS 'Whether the role may read it, and not only ask about it.';
