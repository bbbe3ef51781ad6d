-- Releases with their parameters, certificate and staleness.
CREATE OR REPLACE VIEW kanon.releases AS
SELECT
    r.name AS release,
    pg_catalog.to_regclass(pg_catalog.format('safe.%I', r.name)) AS view,
    CASE WHEN c.oid IS NOT NULL THEN r.relation END AS base,
    r.storage,
    r.parameters,
    r.quasi_identifiers,
    r.sensitive,
    r.insensitive,
    r.entity,
    r.k,
    r.rows,
    r.people,
    r.row_types,
    r.classes,
    r.smallest_class,
    r.average_class,
    r.largest_class,
    r.suppressed_cells,
    r.suppressed_share,
    r.weighted_cost,
    r.lower_bound,
    r.gap,
    r.optimal,
    r.method,
    r.bound_method,
    r.usefulness,
    r.elapsed,
    -- Counters that went down were reset (crash, restore): how much changed is not known.
    CASE WHEN now_.changes >= r.base_changes_at_publish THEN now_.changes - r.base_changes_at_publish END
        AS changes_since,
    r.published_by,
    r.published_at,
{% for one in model_parameters %}
    (r.parameters ->> {{ one.key }})::{{ one.type }} AS {{ one.column }},
{% endfor %}
    r.generalized,
    r.certainty_penalty,
    r.generalization_height,
    r.entropy_loss,
    r.marginal_divergence,
    r.refreshed_at,
    r.termination,
    coalesce(s.version, m.newest) AS version,
    s.pending_people,
    s.longest_wait,
    s.withheld_rows,
    s.retained_rows,
    m.versions AS remembered_versions,
    m.bytes AS remembered_bytes
FROM kanon.release AS r
LEFT JOIN kanon.series AS s ON s.release = r.name
LEFT JOIN pg_catalog.pg_class AS c ON c.oid = r.relation::oid
CROSS JOIN LATERAL (
    SELECT
        count(*) AS versions,
        max(v.version) AS newest,
        coalesce(sum(pg_catalog.pg_total_relation_size(v.classes)), 0)::bigint AS bytes
    FROM kanon.remembered AS v
    WHERE v.release = r.name
) AS m
CROSS JOIN LATERAL (SELECT kanon.base_changes(r.relation) AS changes) AS now_;
ALTER VIEW kanon.releases OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.releases FROM PUBLIC;
GRANT SELECT ON TABLE kanon.releases TO kanon_owner;
COMMENT ON VIEW kanon.releases IS 'The published releases: where from, with which parameters, what is proven, how stale.';
COMMENT ON COLUMN kanon.releases.release IS 'Name of the release.';
COMMENT ON COLUMN kanon.releases.view IS 'The view that analysts read.';
COMMENT ON COLUMN kanon.releases.base IS 'The base table; NULL if it was dropped.';
COMMENT ON COLUMN kanon.releases.storage IS 'The materialized view behind it, of the same name after each publication; REFRESH MATERIALIZED VIEW brings it up to date.';
COMMENT ON COLUMN kanon.releases.parameters IS 'All arguments of the call that made the release; of hierarchies built for it the name of the builder.';
COMMENT ON COLUMN kanon.releases.quasi_identifiers IS 'Columns in which cells may be suppressed.';
COMMENT ON COLUMN kanon.releases.sensitive IS 'Sensitive columns, published unchanged.';
COMMENT ON COLUMN kanon.releases.insensitive IS 'Insensitive columns, published unchanged.';
COMMENT ON COLUMN kanon.releases.entity IS 'Column that identifies a person; NULL: each row is a person.';
COMMENT ON COLUMN kanon.releases.k IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.rows IS 'See kanon.release_report; counted anew by kanon_refresh.';
COMMENT ON COLUMN kanon.releases.people IS 'See kanon.release_report; counted anew by kanon_refresh.';
COMMENT ON COLUMN kanon.releases.row_types IS 'See kanon.release_report; when it was published.';
COMMENT ON COLUMN kanon.releases.classes IS 'See kanon.release_report; counted anew by kanon_refresh.';
COMMENT ON COLUMN kanon.releases.smallest_class IS 'See kanon.release_report; counted anew by kanon_refresh.';
COMMENT ON COLUMN kanon.releases.average_class IS 'See kanon.release_report; counted anew by kanon_refresh.';
COMMENT ON COLUMN kanon.releases.largest_class IS 'See kanon.release_report; counted anew by kanon_refresh.';
COMMENT ON COLUMN kanon.releases.suppressed_cells IS 'See kanon.release_report; counted anew by kanon_refresh.';
COMMENT ON COLUMN kanon.releases.suppressed_share IS 'See kanon.release_report; counted anew by kanon_refresh.';
COMMENT ON COLUMN kanon.releases.weighted_cost IS 'See kanon.release_report; when it was published.';
COMMENT ON COLUMN kanon.releases.lower_bound IS 'See kanon.release_report; when it was published.';
COMMENT ON COLUMN kanon.releases.gap IS 'See kanon.release_report; when it was published.';
COMMENT ON COLUMN kanon.releases.optimal IS 'See kanon.release_report; when it was published.';
COMMENT ON COLUMN kanon.releases.method IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.bound_method IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.usefulness IS 'See kanon.release_report; when it was published.';
COMMENT ON COLUMN kanon.releases.elapsed IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.changes_since IS
'Rows inserted, updated and deleted in the base table since publishing, and perhaps by others in the ten seconds before (TRUNCATE is not counted); NULL if unknown.';
COMMENT ON COLUMN kanon.releases.published_by IS 'Who published it.';
COMMENT ON COLUMN kanon.releases.published_at IS 'When it was published.';
{% for one in model_parameters %}
COMMENT ON COLUMN kanon.releases.{{ one.column }} IS {{ one.comment }};
{% endfor %}
COMMENT ON COLUMN kanon.releases.generalized IS
'Quasi-identifiers that are published by a hierarchy, as ranges or texts; parameters says by which.';
COMMENT ON COLUMN kanon.releases.certainty_penalty IS 'See kanon.measures; when it was published.';
COMMENT ON COLUMN kanon.releases.generalization_height IS 'See kanon.measures; when it was published.';
COMMENT ON COLUMN kanon.releases.entropy_loss IS 'See kanon.measures; when it was published.';
COMMENT ON COLUMN kanon.releases.marginal_divergence IS 'See kanon.measures; when it was published.';
COMMENT ON COLUMN kanon.releases.refreshed_at IS
'When kanon_refresh last counted rows, people, classes and suppressed cells; NULL if not since it was published.';
COMMENT ON COLUMN kanon.releases.termination IS 'See kanon.release_report.';
COMMENT ON COLUMN kanon.releases.version IS 'Number of the version that readers see, if it is a release over time or its versions are remembered; else NULL.';
COMMENT ON COLUMN kanon.releases.pending_people IS 'People of a release over time whose rows wait for a later version.';
COMMENT ON COLUMN kanon.releases.longest_wait IS 'Versions for which the rows that wait longest have waited, this one included; 0 if none wait.';
COMMENT ON COLUMN kanon.releases.withheld_rows IS
'Rows of the table that a release over time showed and withholds until enough others have left their cohort.';
COMMENT ON COLUMN kanon.releases.retained_rows IS
'Rows that left the table and are shown by a release over time until k people of their cohort can leave together.';
COMMENT ON COLUMN kanon.releases.remembered_versions IS
'Versions of which kanon_composition knows which row was in which class; the oldest is forgotten when there would be more than ''remember'' in parameters.';
COMMENT ON COLUMN kanon.releases.remembered_bytes IS 'Space that these versions take.';
GRANT SELECT ON TABLE kanon.releases TO kanon_curator;
