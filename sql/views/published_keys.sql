-- How releases that you may read join: for who hands them on.
CREATE OR REPLACE VIEW kanon.published_keys (
    view, -- The view to read.
    key_columns, -- Columns that tell its rows apart, all pseudonyms.
    foreign_keys, -- Columns that refer to others: objects with columns, view and refers_to.
    has_rows -- Of a linked table, whether it showed rows when all of them were last published or refreshed by kanon_refresh.
) WITH (security_barrier) AS
SELECT v.oid::regclass AS view, keyed.key_columns, keyed.foreign_keys, keyed.has_rows
FROM (
    SELECT r.name, CASE
        WHEN r.people_view IS NULL THEN ARRAY(SELECT p.name::name FROM pg_catalog.jsonb_array_elements_text(r.parameters -> 'pseudonyms') AS p (name))
        ELSE ARRAY(
            SELECT c.name::name FROM kanon.release_table AS t
            CROSS JOIN LATERAL pg_catalog.jsonb_array_elements_text(t.foreign_keys -> 0 -> 'refers_to') AS c (name)
            WHERE t.release = r.name AND t.place = 1
        )
    END AS key_columns, '[]'::jsonb AS foreign_keys, NULL::boolean AS has_rows
    FROM kanon.release AS r WHERE r.secret IS NOT NULL
    UNION ALL
    SELECT t.name, t.key_columns, t.foreign_keys, t.rows > 0 FROM kanon.release_table AS t
) AS keyed
INNER JOIN pg_catalog.pg_class AS v ON v.relname = keyed.name::name AND v.relnamespace = 'safe'::regnamespace
WHERE pg_catalog.has_table_privilege(v.oid, 'SELECT');
COMMENT ON VIEW kanon.published_keys IS 'The keys of each release with pseudonyms that you may read.';
GRANT SELECT ON TABLE kanon.published_keys TO kanon_owner, kanon_analyst;
