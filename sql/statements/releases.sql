-- name: base_changes(bigint): How often the rows of a base relation have changed.
SELECT kanon.base_changes($1::bigint::oid::regclass) AS changes

-- name: change_release(text, text): Changes the record of a release that was brought up to date; columns that the object does not
-- have stay.
UPDATE kanon.release AS r SET
    storage = n.storage, rows = n.rows, people = n.people, classes = n.classes, smallest_class = n.smallest_class,
    average_class = n.average_class, largest_class = n.largest_class, suppressed_cells = n.suppressed_cells,
    suppressed_share = n.suppressed_share, weighted_cost = n.weighted_cost, lower_bound = n.lower_bound, gap = n.gap,
    optimal = n.optimal, bound_method = n.bound_method, usefulness = n.usefulness,
    base_changes_at_publish = n.base_changes_at_publish, refreshed_at = pg_catalog.now()
FROM pg_catalog.jsonb_populate_record((SELECT o FROM kanon.release AS o WHERE o.name = $1::text), $2::text::jsonb) AS n
WHERE r.name = $1::text

-- name: fetch_release(text): What is recorded of a release, with the schemas and names of the relations behind it.
WITH relation (oid, names) AS NOT MATERIALIZED (
    SELECT c.oid, ARRAY[n.nspname::text, c.relname::text]
    FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
)
SELECT
    r.name, r.relation::oid::bigint AS base, EXISTS (SELECT FROM pg_catalog.pg_class AS b WHERE b.oid = r.relation) AS has_base,
    (SELECT one.names FROM relation AS one WHERE one.oid = r.storage) AS storage,
    (SELECT one.names FROM relation AS one WHERE one.oid = r.mapping) AS mapping,
    (SELECT one.names FROM relation AS one WHERE one.oid = r.parts) AS parts,
    (SELECT one.names FROM relation AS one WHERE one.oid = r.source) AS source,
    (SELECT one.names FROM relation AS one WHERE one.oid = r.unknown) AS unknown,
    (SELECT one.names FROM relation AS one WHERE one.oid = r.people_view) AS people_view, r.secret,
    ARRAY(
        SELECT n.relname::text
        FROM pg_catalog.unnest(r.nodes) WITH ORDINALITY AS t (relation, place)
        INNER JOIN pg_catalog.pg_class AS n ON n.oid = t.relation
        ORDER BY t.place
    ) AS nodes,
    r.generalized::text[] AS generalized, r.quasi_identifiers::text[] AS quasi_identifiers, r.sensitive::text[] AS sensitive,
    r.insensitive::text[] AS insensitive, r.k, r.entity::text AS entity, (r.parameters ->> 'remember')::integer AS remember
FROM kanon.release AS r WHERE r.name = $1::text

-- name: find_release(text, bigint): Whether a name in schema safe belongs to something else than a release of this base relation,
-- and whether it is published now. A record whose base relation was dropped (its view went with it) is free.
SELECT
    (c.oid IS NOT NULL AND (c.relkind <> 'v' OR c.relowner <> 'kanon_owner'::regrole OR r.name IS NULL))
    OR coalesce(b.oid <> $2::bigint::oid, false) AS taken, c.oid IS NOT NULL AS published
FROM (SELECT $1::text AS name) AS asked
LEFT JOIN kanon.release AS r ON r.name = asked.name
LEFT JOIN pg_catalog.pg_class AS b ON b.oid = r.relation
LEFT JOIN pg_catalog.pg_class AS c ON c.relname = asked.name::name AND c.relnamespace = 'safe'::regnamespace

-- name: store_release(text): Records a release: an object of columns of kanon.release.
INSERT INTO kanon.release
SELECT r.*
FROM pg_catalog.jsonb_populate_record(
    NULL::kanon.release, $1::text::jsonb || pg_catalog.jsonb_build_object('published_at', pg_catalog.now())
) AS r

-- name: forget_release(text): Removes the record of a release.
DELETE FROM kanon.release WHERE name = $1::text

-- name: list_releases(): All releases with their certificates, and the further views of each.
SELECT release, base::text AS base, ARRAY(
        SELECT t.view::text FROM kanon.release_tables AS t WHERE t.release = r.release AND t.view IS NOT NULL ORDER BY 1
    ) AS tables, k, rows, people, classes, smallest_class, suppressed_share, lower_bound, gap,
    optimal, method, changes_since, published_by::text AS published_by, published_at::text AS published_at,
    refreshed_at::text AS refreshed_at, termination
FROM kanon.releases AS r ORDER BY release

-- name: fetch_heights(text): Levels below the top of the hierarchies of a release, in the order of its generalized columns.
SELECT count(*) AS height FROM kanon.release AS r
CROSS JOIN LATERAL pg_catalog.unnest(r.nodes) WITH ORDINALITY AS t (relation, place)
INNER JOIN pg_catalog.pg_attribute AS a
    ON a.attrelid = t.relation AND a.attnum > 0 AND NOT a.attisdropped AND a.attname LIKE E'level\\_%'
WHERE r.name = $1::text GROUP BY t.place ORDER BY t.place

-- name: fetch_proof(text): What was said about a published release, and what was asked for that its bound depends on.
SELECT
    r.rows, r.weighted_cost, nullif(r.parameters -> 'patterns', 'null'::jsonb)::text AS patterns, r.parameters::text AS parameters
FROM kanon.release AS r WHERE r.name = $1::text

-- name: read_mapping(): The mapping behind a release, each column one buffer of 64-bit big-endian numbers; without prices if some
-- are missing.
SELECT coalesce(pg_catalog.string_agg(pg_catalog.int8send(m.row_type), ''), '') AS keys,
    coalesce(pg_catalog.string_agg(pg_catalog.int8send(m.pattern), ''), '') AS patterns,
    CASE WHEN count(m.price) = count(*) THEN coalesce(pg_catalog.string_agg(pg_catalog.int8send(m.price), ''), '') ELSE '' END
        AS prices
FROM {{ mapping }} AS m

-- name: read_parts(): The parts of divided row types behind a release, by row type and first row, each column one buffer of
-- 64-bit big-endian numbers.
SELECT coalesce(pg_catalog.string_agg(pg_catalog.int8send(p.row_type), ''), '') AS keys,
    coalesce(pg_catalog.string_agg(pg_catalog.int8send(p.first_row), ''), '') AS first_rows,
    coalesce(pg_catalog.string_agg(pg_catalog.int8send(p.pattern), ''), '') AS patterns
FROM (SELECT s.* FROM {{ parts }} AS s ORDER BY s.row_type, s.first_row) AS p

-- name: lock_release_name(text): Waits for other calls that publish under this name; returns the number of this publication.
INSERT INTO kanon.release_lock AS l (name, generation)
VALUES ($1::text, 1)
ON CONFLICT (name) DO UPDATE SET generation = l.generation + 1
RETURNING generation

-- name: forget_lock(text): Forgets the name of a release that is dropped; who waits for the name begins anew.
DELETE FROM kanon.release_lock WHERE name = $1::text
