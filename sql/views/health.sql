-- What monitoring asks: how each release and each table that answers queries is, counted whenever the view is read.
CREATE OR REPLACE VIEW kanon.health (
    kind, -- release: a view that kanon published; of linked tables each has one. queries: a table that answers queries.
    object, -- The view in schema safe, or the table.
    base, -- The table; NULL if it was dropped.
    k, -- Fewest people of a class, or behind every part of an answer.
    age, -- Time since it was published or last brought up to date by kanon_refresh, or protected.
    changes_since, -- Rows inserted, updated and deleted in the table since then; NULL if unknown. Of TRUNCATE nothing is known.
    rows, -- Rows that the release shows now; NULL if they cannot be counted.
    missing_rows, -- Rows of the table now less these: withheld, waiting, or newer than the release. Below 0 if it shows more rows, which are gone from the table. NULL of a linked table, of which rules leave rows out (kanon.release_tables).
    guard, -- holds: the release is shown, and every class has k people. violated: a class has not. Else what is the matter. Of a linked table only whether it is shown, and whether what it hangs on was refreshed after it (waits), or it cannot be read (not filled).
    pending_people, -- See kanon.releases.
    longest_wait, -- See kanon.releases.
    withheld_rows, -- See kanon.releases.
    retained_rows, -- See kanon.releases.
    ledger, -- usable: the record of answers about these people is. Else why every answer is withheld.
    epsilon_left, -- What noisy answers to all logins together may still reveal; NULL without noise.
    share_left, -- What is left of the account, from 1 to 0.
    advice -- What needs doing, in a sentence; NULL if nothing does.
) AS
SELECT 'release', pg_catalog.format('safe.%I', r.name), CASE WHEN c.oid IS NOT NULL THEN r.relation END, r.k,
    pg_catalog.now() - coalesce(r.refreshed_at, r.published_at), since.changes, counted.shown, counted.missing, guard.state,
    s.pending_people, s.longest_wait, s.withheld_rows, s.retained_rows, NULL, NULL::double precision, NULL::double precision,
    CASE
        WHEN c.oid IS NULL THEN pg_catalog.format('Its table is gone. Remove what is left: SELECT kanon_drop(%L);', r.name)
        WHEN guard.state = 'violated' THEN pg_catalog.format(
            'It shows a class of fewer than %s people, which kanon never publishes. Take it back: SELECT kanon_drop(%L); and report it.',
            r.k, r.name
        )
        WHEN guard.state = 'not shown' THEN pg_catalog.format(
            'Its view was dropped. Publish it anew with kanon_anonymize, or remove what is left: SELECT kanon_drop(%L);', r.name
        )
        WHEN guard.state <> 'holds' THEN pg_catalog.format(
            'It cannot be counted. Publish it anew with kanon_anonymize, or remove it: SELECT kanon_drop(%L);', r.name
        )
        WHEN since.changes > 0 THEN pg_catalog.format('Its table has changed. Bring it up to date: SELECT kanon_refresh(%L);', r.name)
        WHEN counted.missing > 0 AND s.release IS NULL
            -- statistics of other sessions' changes come late
            THEN pg_catalog.format(
                'Rows of its table are withheld, as too few people share their values, or are new. Bring it up to date: SELECT kanon_refresh(%L); and publish it anew with kanon_anonymize if they stay away.',
                r.name
            )
    END
FROM kanon.release AS r
LEFT JOIN kanon.series AS s ON s.release = r.name
LEFT JOIN pg_catalog.pg_class AS c ON c.oid = r.relation::oid
LEFT JOIN LATERAL (
    SELECT (e.details ->> 'base_changes')::bigint AS changes FROM kanon.event AS e
    WHERE e.object = pg_catalog.format('safe.%I', r.name) AND e.operation IN ('anonymize', 'refresh')
    ORDER BY e.happened_at DESC LIMIT 1
) AS last_read ON true
CROSS JOIN LATERAL (
    SELECT kanon.base_changes(r.relation) + CASE WHEN count(*) = count(of_.changes) THEN coalesce(sum(of_.changes), 0) END AS now_
    FROM kanon.release_table AS t CROSS JOIN LATERAL (SELECT kanon.base_changes(t.relation) AS changes) AS of_
    WHERE t.release = r.name
) AS changed
-- Counters that went down were reset (crash, restore): how much changed is not known.
CROSS JOIN LATERAL (
    SELECT CASE WHEN changed.now_ >= last_read.changes THEN changed.now_ - last_read.changes END AS changes
) AS since
CROSS JOIN LATERAL kanon_bases.missing_rows(r.relation, r.storage) AS counted
CROSS JOIN LATERAL kanon.small_release_classes(r.name) AS small
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN small.problem IS NOT NULL THEN small.problem
        WHEN small.classes_at_risk > 0 THEN 'violated'
        WHEN pg_catalog.to_regclass(pg_catalog.format('safe.%I', r.name)) IS NULL THEN 'not shown'
        ELSE 'holds'
    END AS state
) AS guard
UNION ALL
SELECT 'release', pg_catalog.format('safe.%I', t.name), CASE WHEN c.oid IS NOT NULL THEN t.relation END, r.k,
    pg_catalog.now() - coalesce(r.refreshed_at, r.published_at), NULL::bigint, counted.shown, counted.missing, guard.state,
    NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL, NULL::double precision, NULL::double precision,
    CASE guard.state
        WHEN 'not shown' THEN pg_catalog.format('Its view was dropped. Publish it anew, with all tables of %I, by kanon_anonymize.', r.name)
        WHEN 'not filled' THEN pg_catalog.format('It, or what it hangs on, was never filled: SELECT kanon_refresh(%L);', r.name)
        WHEN 'waits' THEN pg_catalog.format('It shows no row, as what it hangs on was refreshed after it: SELECT kanon_refresh(%L);', r.name)
    END
FROM kanon.release_table AS t INNER JOIN kanon.release AS r ON r.name = t.release
LEFT JOIN pg_catalog.pg_class AS c ON c.oid = t.relation::oid
CROSS JOIN LATERAL (SELECT pg_catalog.to_regclass(pg_catalog.format('safe.%I', t.name)) AS oid) AS view
CROSS JOIN LATERAL kanon_bases.missing_rows(NULL, view.oid) AS counted
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN view.oid IS NULL THEN 'not shown'
        WHEN counted.shown IS NULL THEN 'not filled'
        WHEN counted.shown = 0 AND (SELECT s.shown FROM kanon_bases.missing_rows(NULL, t.storage) AS s) > 0 THEN 'waits'
        ELSE 'holds'
    END AS state
) AS guard
UNION ALL
SELECT 'queries', pg_catalog.format('%I.%I', n.nspname, c.relname), p.relation, p.k, pg_catalog.now() - p.protected_at,
    NULL::bigint, NULL::bigint, NULL::bigint, NULL, NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint,
    CASE WHEN t.relation IS NOT NULL THEN coalesce(t.problem, 'usable') END, t.epsilon_left, t.share_left,
    CASE
        WHEN t.problem IS NOT NULL THEN 'No query is answered. ' || t.remedy
        WHEN t.share_left <= 0 THEN 'The account of noise is empty, so that strangers get no new answer.'
    END
FROM kanon.protection AS p
INNER JOIN pg_catalog.pg_class AS c ON c.oid = p.relation::oid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN kanon.ledger_states() AS t ON t.relation = p.relation;
COMMENT ON VIEW kanon.health IS 'How each release and each table that answers queries is, counted whenever it is read, and what needs doing.';
GRANT SELECT ON TABLE kanon.health TO kanon_owner, kanon_curator;
