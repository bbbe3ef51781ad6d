-- What the columns of a release are, for whoever may read the release: they see the columns anyway, and can assess
-- the release themselves. Nothing of it is a figure of the base table.
CREATE OR REPLACE VIEW kanon.published_roles (
    release, -- Name of the release.
    view, -- The view to read; of linked tables each has one.
    quasi_identifiers, -- Columns in which cells may be suppressed.
    sensitive, -- Sensitive columns, published unchanged.
    insensitive, -- Insensitive columns, published unchanged.
    counts_people, -- Whether a person may have several rows, and classes have k people; else they have k rows.
    k, -- Fewest people of a class.
    published_at, -- When it was published.
    refreshed_at, -- When kanon_refresh brought it up to date last; NULL if not since it was published.
    subsets -- Of how many quasi-identifiers each combination has k people; NULL if classes do, by all of them.
) WITH (security_barrier) AS
SELECT r.release, v.oid::regclass AS view, r.quasi_identifiers, r.sensitive, r.insensitive, r.counts_people, r.k, r.published_at,
    r.refreshed_at, r.subsets
FROM (
    SELECT f.name AS release, f.name, f.quasi_identifiers, f.sensitive, f.insensitive, f.entity IS NOT NULL AS counts_people, f.k,
        f.published_at, f.refreshed_at, (f.parameters ->> 'subsets')::integer AS subsets
    FROM kanon.release AS f
    UNION ALL
    SELECT t.release, t.name, '{}', t.sensitive, t.insensitive, true, f.k, f.published_at, f.refreshed_at, NULL
    FROM kanon.release_table AS t INNER JOIN kanon.release AS f ON f.name = t.release
) AS r
INNER JOIN pg_catalog.pg_class AS v ON v.relname = r.name::name AND v.relnamespace = 'safe'::regnamespace
WHERE pg_catalog.has_table_privilege(v.oid, 'SELECT');
COMMENT ON VIEW kanon.published_roles IS 'The roles of the columns of each release that you may read.';
GRANT SELECT ON TABLE kanon.published_roles TO kanon_owner, kanon_analyst;
