-- A release over time. What it is made of is NULL if it was dropped behind the record's back.
-- $1 text
SELECT
    s.version,
    s.request::text AS request,
    s.weights::text AS weights,
    s.key_columns::text[] AS keys,
    s.cohorts_ever,
    s.pending_people,
    s.longest_wait,
    s.withheld_rows,
    s.retained_rows,
    ARRAY(
        SELECT c.relname::text
        FROM pg_catalog.unnest(ARRAY[s.key_view, s.current_rows, s.members, s.cohorts, s.departed, s.pending])
            WITH ORDINALITY AS t (relation, place)
        LEFT JOIN pg_catalog.pg_class AS c ON c.oid = t.relation
        ORDER BY t.place
    ) AS relations
FROM kanon.series AS s
WHERE s.release = $1::text
