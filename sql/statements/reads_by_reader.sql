-- Whether a release reads its base table as this version does, or stores its rows on the nodes of Citus.
-- $1 text
SELECT coalesce(sn.nspname = 'kanon_shards', false) OR EXISTS (
    SELECT
    FROM pg_catalog.pg_class AS c
    LEFT JOIN kanon.series AS s ON s.release = r.name
    WHERE c.oid = coalesce(r.source, s.current_rows) AND c.relnamespace = 'kanon_bases'::regnamespace
) OR (
    -- nothing can be read any more, which others say
    NOT EXISTS (SELECT FROM pg_catalog.pg_class AS b WHERE b.oid = r.relation)
) OR (
    -- the table is one of kanon's own
    SELECT b.relnamespace = 'safe'::regnamespace FROM pg_catalog.pg_class AS b WHERE b.oid = r.relation
) AS is_so
FROM kanon.release AS r
LEFT JOIN pg_catalog.pg_class AS st ON st.oid = r.storage
LEFT JOIN pg_catalog.pg_namespace AS sn ON sn.oid = st.relnamespace
WHERE r.name = $1::text
