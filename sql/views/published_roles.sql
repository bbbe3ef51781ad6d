-- What the columns of a release are, for whoever may read the release: they see the columns anyway, and can assess
-- the release themselves. Nothing of it is a figure of the base table.
CREATE OR REPLACE VIEW kanon.published_roles WITH (security_barrier) AS
SELECT
    r.name AS release,
    v.oid::regclass AS view,
    r.quasi_identifiers,
    r.sensitive,
    r.insensitive,
    r.entity IS NOT NULL AS counts_people
FROM kanon.release AS r
INNER JOIN pg_catalog.pg_class AS v ON v.relname = r.name::name AND v.relnamespace = 'safe'::regnamespace
WHERE pg_catalog.has_table_privilege(v.oid, 'SELECT');
ALTER VIEW kanon.published_roles OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.published_roles FROM PUBLIC;
GRANT SELECT ON TABLE kanon.published_roles TO kanon_owner;
COMMENT ON VIEW kanon.published_roles IS 'The roles of the columns of each release that you may read.';
COMMENT ON COLUMN kanon.published_roles.release IS 'Name of the release.';
COMMENT ON COLUMN kanon.published_roles.view IS 'The view to read.';
COMMENT ON COLUMN kanon.published_roles.quasi_identifiers IS 'Columns in which cells may be suppressed.';
COMMENT ON COLUMN kanon.published_roles.sensitive IS 'Sensitive columns, published unchanged.';
COMMENT ON COLUMN kanon.published_roles.insensitive IS 'Insensitive columns, published unchanged.';
COMMENT ON COLUMN kanon.published_roles.counts_people IS
'Whether a person may have several rows, and classes have k people; else they have k rows.';
GRANT SELECT ON TABLE kanon.published_roles TO kanon_analyst;
