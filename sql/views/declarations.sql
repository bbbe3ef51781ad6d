-- Declarations of tables that still exist.
CREATE OR REPLACE VIEW kanon.declarations (
    relation, -- The table or view.
    identifiers, -- Columns that name a person; never published.
    quasi_identifiers, -- Columns that can be linked with other sources.
    sensitive, -- Columns that must not be learned about a person; published unchanged.
    insensitive, -- Columns published unchanged that tell nothing about a person.
    entity, -- Column that identifies a person who may have several rows.
    weights, -- Cost of a suppressed cell per column; 1 where not mentioned.
    row_types, -- View that counts the row types.
    declared_by, -- Who declared it.
    declared_at -- When it was declared.
) AS
SELECT d.relation, d.identifiers, d.quasi_identifiers, d.sensitive, d.insensitive, d.entity, d.weights,
    pg_catalog.to_regclass('kanon.' || pg_catalog.quote_ident(d.row_types_view)) AS row_types, d.declared_by, d.declared_at
FROM kanon.declaration AS d JOIN pg_catalog.pg_class AS c ON c.oid = d.relation::oid;
COMMENT ON VIEW kanon.declarations IS 'The roles that columns play, per declared table.';
GRANT SELECT ON TABLE kanon.declarations TO kanon_owner, kanon_curator;
