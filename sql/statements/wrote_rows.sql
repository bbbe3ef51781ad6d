-- Whether the transaction wrote or removed rows of a relation or of what it consists of, be it in a savepoint that was
-- rolled back since. Counts of what the session wrote just before may still be in it: true rather too often, and always
-- where the server does not count.
-- $1 bigint
WITH RECURSIVE below (oid) AS (
    SELECT $1::bigint::oid
    UNION
    SELECT i.inhrelid FROM below JOIN pg_catalog.pg_inherits AS i ON i.inhparent = below.oid
)

SELECT
    pg_catalog.current_setting('track_counts') <> 'on' OR pg_catalog.bool_or(
        pg_catalog.pg_stat_get_xact_tuples_inserted(below.oid)
        + pg_catalog.pg_stat_get_xact_tuples_updated(below.oid)
        + pg_catalog.pg_stat_get_xact_tuples_deleted(below.oid) > 0
    ) AS wrote
FROM below
