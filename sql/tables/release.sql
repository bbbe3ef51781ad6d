-- The published releases with their parameters and reports.
CREATE TABLE IF NOT EXISTS kanon.release (
    name text PRIMARY KEY,
    relation regclass NOT NULL,
    storage regclass NOT NULL,
    mapping regclass,
    parts regclass,
    parameters jsonb NOT NULL,
    quasi_identifiers name[] NOT NULL,
    sensitive name[] NOT NULL,
    insensitive name[] NOT NULL,
    entity name,
    k integer NOT NULL CHECK (k >= 2),
    rows bigint NOT NULL,
    people bigint NOT NULL,
    row_types bigint NOT NULL,
    classes bigint NOT NULL,
    smallest_class bigint NOT NULL,
    average_class double precision NOT NULL,
    largest_class bigint NOT NULL,
    suppressed_cells bigint NOT NULL,
    suppressed_share double precision NOT NULL,
    weighted_cost double precision NOT NULL,
    lower_bound double precision,
    gap double precision,
    optimal boolean NOT NULL,
    method text NOT NULL,
    bound_method text,
    usefulness double precision,
    elapsed interval NOT NULL,
    base_changes_at_publish bigint,
    published_by name NOT NULL,
    published_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    generalized name[] NOT NULL DEFAULT '{}',
    nodes regclass[] NOT NULL DEFAULT '{}',
    unknown regclass,
    certainty_penalty double precision,
    generalization_height double precision,
    entropy_loss double precision,
    marginal_divergence double precision,
    refreshed_at timestamptz,
    termination text,
    source regclass
);
ALTER TABLE kanon.release OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.release FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.release TO kanon_owner;
COMMENT ON TABLE kanon.release IS 'The published releases, one row each; read kanon.releases instead.';
COMMENT ON COLUMN kanon.release.name IS 'Name of the view in schema safe.';
COMMENT ON COLUMN kanon.release.relation IS 'The base table.';
COMMENT ON COLUMN kanon.release.storage IS 'The materialized view behind the view in safe.';
COMMENT ON COLUMN kanon.release.source IS 'What the materialized view reads of the base table, with the rights of the table''s reader; NULL for a release over time.';
COMMENT ON COLUMN kanon.release.mapping IS 'Table that says which columns to suppress for which row type, and at which price; NULL for a release over time.';
COMMENT ON COLUMN kanon.release.parts IS
'Table that says which rows of divided row types have which pattern; NULL if none is divided.';
COMMENT ON COLUMN kanon.release.parameters IS 'All arguments of the call that made the release; of hierarchies built for it the name of the builder.';
COMMENT ON COLUMN kanon.release.quasi_identifiers IS 'Columns in which cells may be suppressed.';
COMMENT ON COLUMN kanon.release.sensitive IS 'Sensitive columns, published unchanged.';
COMMENT ON COLUMN kanon.release.insensitive IS 'Insensitive columns, published unchanged.';
COMMENT ON COLUMN kanon.release.entity IS 'Column that identifies a person; NULL: each row is a person.';
COMMENT ON COLUMN kanon.release.k IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.rows IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.people IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.row_types IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.classes IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.smallest_class IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.average_class IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.largest_class IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.suppressed_cells IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.suppressed_share IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.weighted_cost IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.lower_bound IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.gap IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.optimal IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.method IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.bound_method IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.usefulness IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.elapsed IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.release.base_changes_at_publish IS 'kanon.base_changes of the base table when the release was published.';
COMMENT ON COLUMN kanon.release.published_by IS 'Who published it.';
COMMENT ON COLUMN kanon.release.published_at IS 'When it was published.';
COMMENT ON COLUMN kanon.release.generalized IS 'Quasi-identifiers that are published by a hierarchy.';
COMMENT ON COLUMN kanon.release.nodes IS 'Per generalized column the table of what is published of its values.';
COMMENT ON COLUMN kanon.release.unknown IS
'View that counts rows whose values the hierarchies do not know; NULL without hierarchies.';
COMMENT ON COLUMN kanon.release.certainty_penalty IS 'See kanon.measures.';
COMMENT ON COLUMN kanon.release.generalization_height IS 'See kanon.measures.';
COMMENT ON COLUMN kanon.release.entropy_loss IS 'See kanon.measures.';
COMMENT ON COLUMN kanon.release.marginal_divergence IS 'See kanon.measures.';
COMMENT ON COLUMN kanon.release.refreshed_at IS 'When kanon_refresh counted it last; NULL if not since it was published.';
COMMENT ON COLUMN kanon.release.termination IS 'See kanon.release_report.';
GRANT SELECT ON TABLE kanon.release TO kanon_reader;
