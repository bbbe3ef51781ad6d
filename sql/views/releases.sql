-- Releases with their parameters, certificate and staleness.
CREATE OR REPLACE VIEW kanon.releases (
    release, -- Name of the release.
    view, -- The view that analysts read.
    base, -- The base table; NULL if it was dropped.
    storage, -- The materialized view behind it, of the same name after each publication; REFRESH MATERIALIZED VIEW brings it up to date.
    parameters, -- All arguments of the call that made the release; of hierarchies built for it the name of the builder.
    quasi_identifiers, -- Columns in which cells may be suppressed.
    sensitive, -- Sensitive columns, published unchanged.
    insensitive, -- Insensitive columns, published unchanged.
    entity, -- Column that identifies a person; NULL: each row is a person.
    k, -- See kanon.release_report.
    rows, -- See kanon.release_report; counted anew by kanon_refresh.
    people, -- See kanon.release_report; counted anew by kanon_refresh.
    row_types, -- See kanon.release_report; when it was published.
    classes, -- See kanon.release_report; counted anew by kanon_refresh.
    smallest_class, -- See kanon.release_report; counted anew by kanon_refresh.
    average_class, -- See kanon.release_report; counted anew by kanon_refresh.
    largest_class, -- See kanon.release_report; counted anew by kanon_refresh.
    suppressed_cells, -- See kanon.release_report; counted anew by kanon_refresh.
    suppressed_share, -- See kanon.release_report; counted anew by kanon_refresh.
    weighted_cost, -- See kanon.release_report; when it was published.
    lower_bound, -- See kanon.release_report; when it was published.
    gap, -- See kanon.release_report; when it was published.
    optimal, -- See kanon.release_report; when it was published.
    method, -- See kanon.release_report.
    bound_method, -- See kanon.release_report.
    usefulness, -- See kanon.release_report; when it was published.
    elapsed, -- See kanon.release_report.
    changes_since, -- Rows inserted, updated and deleted in the base table since publishing, and perhaps by others in the ten seconds before (TRUNCATE is not counted); NULL if unknown.
    published_by, -- Who published it.
    published_at, -- When it was published.
{% for one in model_parameters %}
    {{ one.column }}, -- {{ one.comment }}
{% endfor %}
    generalized, -- Quasi-identifiers that are published by a hierarchy, as ranges or texts; parameters says by which.
    certainty_penalty, -- See kanon.measures; when it was published.
    generalization_height, -- See kanon.measures; when it was published.
    entropy_loss, -- See kanon.measures; when it was published.
    marginal_divergence, -- See kanon.measures; when it was published.
    refreshed_at, -- When kanon_refresh last counted rows, people, classes and suppressed cells; NULL if not since it was published.
    termination, -- See kanon.release_report.
    version, -- Number of the version that readers see, if it is a release over time or its versions are remembered; else NULL.
    pending_people, -- People of a release over time whose rows wait for a later version.
    longest_wait, -- Versions for which the rows that wait longest have waited, this one included; 0 if none wait.
    withheld_rows, -- Rows of the table that a release over time showed and withholds until enough others have left their cohort.
    retained_rows, -- Rows that left the table and are shown by a release over time until k people of their cohort can leave together.
    remembered_versions, -- Versions of which kanon_composition knows which row was in which class; the oldest is forgotten when there would be more than 'remember' in parameters.
    remembered_bytes -- Space that these versions take.
) AS
SELECT r.name AS release, pg_catalog.to_regclass(pg_catalog.format('safe.%I', r.name)) AS view,
    CASE WHEN c.oid IS NOT NULL THEN r.relation END AS base, r.storage, r.parameters, r.quasi_identifiers, r.sensitive,
    r.insensitive, r.entity, r.k, r.rows, r.people, r.row_types, r.classes, r.smallest_class, r.average_class, r.largest_class,
    r.suppressed_cells, r.suppressed_share, r.weighted_cost, r.lower_bound, r.gap, r.optimal, r.method, r.bound_method,
    r.usefulness, r.elapsed,
    -- Counters that went down were reset (crash, restore): how much changed is not known.
    CASE WHEN now_.changes >= r.base_changes_at_publish THEN now_.changes - r.base_changes_at_publish END
        AS changes_since,
    r.published_by, r.published_at,
    {% for one in model_parameters %}(r.parameters ->> {{ one.key }})::{{ one.type }} AS {{ one.column }}, {% endfor %}
    r.generalized, r.certainty_penalty, r.generalization_height, r.entropy_loss, r.marginal_divergence, r.refreshed_at,
    r.termination, coalesce(s.version, m.newest) AS version, s.pending_people, s.longest_wait, s.withheld_rows, s.retained_rows,
    m.versions AS remembered_versions, m.bytes AS remembered_bytes
FROM kanon.release AS r
LEFT JOIN kanon.series AS s ON s.release = r.name
LEFT JOIN pg_catalog.pg_class AS c ON c.oid = r.relation::oid
CROSS JOIN LATERAL (
    SELECT count(*) AS versions, max(v.version) AS newest,
        coalesce(sum(pg_catalog.pg_total_relation_size(v.classes)), 0)::bigint AS bytes
    FROM kanon.remembered AS v WHERE v.release = r.name
) AS m
CROSS JOIN LATERAL (
    SELECT kanon.base_changes(r.relation) + CASE WHEN count(*) = count(of_.changes) THEN coalesce(sum(of_.changes), 0) END AS changes
    FROM kanon.release_table AS t CROSS JOIN LATERAL (SELECT kanon.base_changes(t.relation) AS changes) AS of_
    WHERE t.release = r.name
) AS now_;
COMMENT ON VIEW kanon.releases IS 'The published releases: where from, with which parameters, what is proven, how stale.';
GRANT SELECT ON TABLE kanon.releases TO kanon_owner, kanon_curator;
