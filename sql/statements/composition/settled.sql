-- All transactions before this one have ended: later statements of this transaction see what they wrote. And where the
-- rows of a table lie, whose columns have which places, and how often they have changed.
-- $1 bigint
WITH RECURSIVE base (oid) AS (SELECT $1::bigint::oid),

{% include "composition/layout.sql" %}

SELECT
    pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())::text::bigint AS before,
    (SELECT pg_catalog.jsonb_object_agg(layout.oid::text, layout.columns) FROM layout)::text AS layout,
    kanon.base_changes($1::bigint::oid::regclass) AS changes
