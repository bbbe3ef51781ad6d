-- What a release was made with, besides what fetch_release says, and whether readers may have had other versions. Rows
-- whose version was written by a transaction before settled_before were read as they are now, if they lie in one of
-- settled_tables: those that were read, and have the columns where they were. It is NULL where versions of rows say no
-- such thing: of views, of tables elsewhere, on a server that the release was restored to, and once numbers of
-- transactions begin again. A refresh ends that only where it reads the columns that were read when it was published.
-- $1 text
WITH RECURSIVE base (oid) AS (SELECT m.relation::oid FROM kanon.release AS m WHERE m.name = $1::text),

{% include "composition/layout.sql" %}

SELECT
    r.relation::oid::bigint AS base,
    r.parameters::text AS parameters,
    r.hash_seed,
    r.refreshed_at IS NOT NULL AS was_refreshed,
    kanon.base_changes(r.relation) IS NOT NULL AS is_versioned,
    NOT EXISTS (
        SELECT
        FROM pg_catalog.unnest(r.quasi_identifiers || r.sensitive || r.insensitive || r.entity) AS read (name)
        CROSS JOIN layout
        WHERE layout.oid = r.relation::oid
            AND r.settled_layout -> r.relation::oid::text -> read.name::text
            IS DISTINCT FROM layout.columns -> read.name::text
    ) AS is_read_alike,
    CASE
        WHEN kanon.base_changes(r.relation) IS NOT NULL
            AND r.settled_on = (SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c)
            AND pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint - r.settled_before < 1073741824
            THEN r.settled_before
    END AS settled_before,
    ARRAY(
        SELECT layout.oid::text
        FROM pg_catalog.jsonb_each(r.settled_layout) AS then_read (oid, columns)
        INNER JOIN layout ON layout.oid::text = then_read.oid AND then_read.columns <@ layout.columns
        INNER JOIN pg_catalog.pg_class AS c ON c.oid = layout.oid
        INNER JOIN pg_catalog.pg_am AS a ON a.oid = c.relam
        WHERE a.amname = 'heap'
        ORDER BY layout.oid
    ) AS settled_tables
FROM kanon.release AS r
WHERE r.name = $1::text
