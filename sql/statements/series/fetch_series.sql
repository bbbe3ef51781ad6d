-- A release over time. What it is made of is NULL if it was dropped behind the record's back.
-- $1 text
SELECT
    s.version,
    s.request::text AS request,
    s.weights::text AS weights,
    s.key_columns::text[] AS key_columns,
    s.cohorts_ever,
    s.pending_people,
    s.longest_wait,
    s.withheld_rows,
    s.retained_rows,
    ke.relname::text AS key_view,
    cu.relname::text AS current_rows,
    me.relname::text AS members,
    co.relname::text AS cohorts,
    de.relname::text AS departed,
    pe.relname::text AS pending
FROM kanon.series AS s
LEFT JOIN pg_catalog.pg_class AS ke ON ke.oid = s.key_view
LEFT JOIN pg_catalog.pg_class AS cu ON cu.oid = s.current_rows
LEFT JOIN pg_catalog.pg_class AS me ON me.oid = s.members
LEFT JOIN pg_catalog.pg_class AS co ON co.oid = s.cohorts
LEFT JOIN pg_catalog.pg_class AS de ON de.oid = s.departed
LEFT JOIN pg_catalog.pg_class AS pe ON pe.oid = s.pending
WHERE s.release = $1::text
