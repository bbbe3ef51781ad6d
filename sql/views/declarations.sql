-- Declarations of tables that still exist.
CREATE OR REPLACE VIEW kanon.declarations AS
SELECT
    d.relation,
    d.identifiers,
    d.quasi_identifiers,
    d.sensitive,
    d.insensitive,
    d.entity,
    d.weights,
    pg_catalog.to_regclass('kanon.' || pg_catalog.quote_ident(d.row_types_view)) AS row_types,
    d.declared_by,
    d.declared_at
FROM kanon.declaration AS d
JOIN pg_catalog.pg_class AS c ON c.oid = d.relation::oid;
ALTER VIEW kanon.declarations OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.declarations FROM PUBLIC;
GRANT SELECT ON TABLE kanon.declarations TO kanon_owner;
COMMENT ON VIEW kanon.declarations IS 'The roles that columns play, per declared table.';
COMMENT ON COLUMN kanon.declarations.relation IS 'The table or view.';
COMMENT ON COLUMN kanon.declarations.identifiers IS 'Columns that name a person; never published.';
COMMENT ON COLUMN kanon.declarations.quasi_identifiers IS 'Columns that can be linked with other sources.';
COMMENT ON COLUMN kanon.declarations.sensitive IS 'Columns that must not be learned about a person; published unchanged.';
COMMENT ON COLUMN kanon.declarations.insensitive IS 'Columns published unchanged that tell nothing about a person.';
COMMENT ON COLUMN kanon.declarations.entity IS 'Column that identifies a person who may have several rows.';
COMMENT ON COLUMN kanon.declarations.weights IS 'Cost of a suppressed cell per column; 1 where not mentioned.';
COMMENT ON COLUMN kanon.declarations.row_types IS 'View that counts the row types.';
COMMENT ON COLUMN kanon.declarations.declared_by IS 'Who declared it.';
COMMENT ON COLUMN kanon.declarations.declared_at IS 'When it was declared.';
GRANT SELECT ON TABLE kanon.declarations TO kanon_curator;
