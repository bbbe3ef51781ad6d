-- name: record_event(text, text[], text, text, text[]): Adds to the history what a role did to a table or hierarchy, and the table
-- that it was linked to, if it was. Names come in parts.
INSERT INTO kanon.event (operation, object, role, details)
SELECT $1::text, named.object, $3::text::name,
    pg_catalog.jsonb_strip_nulls($4::text::jsonb || pg_catalog.jsonb_build_object('parent', named.parent))
FROM (
    SELECT
        pg_catalog.string_agg(pg_catalog.quote_ident(u.object), '.' ORDER BY u.place) AS object,
        pg_catalog.string_agg(pg_catalog.quote_ident(u.parent), '.' ORDER BY u.place) AS parent
    FROM ROWS FROM (pg_catalog.unnest($2::text[]), pg_catalog.unnest($5::text[])) WITH ORDINALITY AS u (object, parent, place)
) AS named

-- name: record_release_event(text, text, text, bigint): Adds to the history what a role did to a release that is recorded, and how
-- often the rows of its table had changed before they were read.
INSERT INTO kanon.event (operation, object, role, details)
SELECT $1::text, pg_catalog.format('safe.%I', r.name), $3::text::name, pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'table', CASE WHEN c.oid IS NOT NULL THEN pg_catalog.format('%I.%I', n.nspname, c.relname) END, 'k', r.k,
    'tables', (SELECT pg_catalog.jsonb_agg(pg_catalog.format('safe.%I', t.name) ORDER BY t.place) FROM kanon.release_table AS t WHERE t.release = r.name),
    'people', r.people, 'base_changes', $4::bigint, 'version', coalesce(s.version, (SELECT max(m.version) FROM kanon.remembered AS m WHERE m.release = r.name))
))
FROM kanon.release AS r
LEFT JOIN kanon.series AS s ON s.release = r.name
LEFT JOIN pg_catalog.pg_class AS c ON c.oid = r.relation::oid
LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE r.name = $2::text

-- name: list_health(): How releases and tables that answer queries are.
SELECT h.kind, h.object, h.k, extract(EPOCH FROM h.age)::double precision AS age, h.changes_since, h.rows, h.missing_rows, h.guard,
    h.pending_people, h.longest_wait, h.withheld_rows, h.retained_rows, h.ledger, h.epsilon_left, h.share_left, h.advice
FROM kanon.health AS h ORDER BY h.kind DESC, h.object

-- name: list_history(integer): Who did what when, the last of it; NULL for all.
SELECT e.happened_at, e.operation, e.object, e.role, e.login, e.details
FROM (
    SELECT pg_catalog.to_char(h.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || 'Z' AS happened_at, h.operation,
        h.object, h.role::text AS role, h.login::text AS login, h.details::text AS details
    FROM kanon.history AS h ORDER BY h.happened_at DESC LIMIT $1::integer
) AS e ORDER BY e.happened_at
