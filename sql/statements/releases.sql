-- name: fetch_release(text): A published release.
SELECT r.name, r.relation::oid::bigint AS base, b.oid IS NOT NULL AS has_base, sn.nspname::text AS storage_schema,
    s.relname::text AS storage_name, mn.nspname::text AS mapping_schema, m.relname::text AS mapping_name,
    pn.nspname::text AS parts_schema, p.relname::text AS parts_name, so.relname::text AS source_name,
    un.nspname::text AS unknown_schema, u.relname::text AS unknown_name, r.generalized::text[] AS generalized,
    ARRAY(
        SELECT n.relname::text
        FROM pg_catalog.unnest(r.nodes) WITH ORDINALITY AS t (relation, place)
        INNER JOIN pg_catalog.pg_class AS n ON n.oid = t.relation
        ORDER BY t.place
    ) AS nodes,
    r.k, r.quasi_identifiers::text[] AS quasi_identifiers, r.sensitive::text[] AS sensitive, r.insensitive::text[] AS insensitive,
    r.entity::text AS entity, r.entity IS NOT NULL AS has_entity, (r.parameters ->> 'remember')::integer AS remember
FROM kanon.release AS r
LEFT JOIN pg_catalog.pg_class AS b ON b.oid = r.relation
LEFT JOIN pg_catalog.pg_class AS s ON s.oid = r.storage
LEFT JOIN pg_catalog.pg_namespace AS sn ON sn.oid = s.relnamespace
LEFT JOIN pg_catalog.pg_class AS m ON m.oid = r.mapping
LEFT JOIN pg_catalog.pg_namespace AS mn ON mn.oid = m.relnamespace
LEFT JOIN pg_catalog.pg_class AS p ON p.oid = r.parts
LEFT JOIN pg_catalog.pg_namespace AS pn ON pn.oid = p.relnamespace
LEFT JOIN pg_catalog.pg_class AS so ON so.oid = r.source
LEFT JOIN pg_catalog.pg_class AS u ON u.oid = r.unknown
LEFT JOIN pg_catalog.pg_namespace AS un ON un.oid = u.relnamespace
WHERE r.name = $1::text

-- name: find_release(text, bigint): Whether a name in schema safe belongs to something else than a release of this base relation,
-- and whether it is published now. A record whose base relation was dropped (its view went with it) is free.
SELECT
    (c.oid IS NOT NULL AND (c.relkind <> 'v' OR c.relowner <> 'kanon_owner'::regrole OR r.name IS NULL))
    OR coalesce(b.oid <> $2::bigint::oid, false) AS taken, c.oid IS NOT NULL AS published
FROM (SELECT $1::text AS name) AS asked
LEFT JOIN kanon.release AS r ON r.name = asked.name
LEFT JOIN pg_catalog.pg_class AS b ON b.oid = r.relation
LEFT JOIN pg_catalog.pg_class AS c ON c.relname = asked.name::name AND c.relnamespace = 'safe'::regnamespace

-- name: store_release(text, bigint, text, text, bigint, text, text[], text[], text[], text, text, text, text, text[], text[], text, double precision, double precision, double precision, double precision, bigint, text, text):
-- Records a release with its parameters and report.
INSERT INTO kanon.release (
    name, relation, storage, mapping, parts, hash_seed, parameters, quasi_identifiers, sensitive, insensitive, entity,
    k, rows, people, row_types, classes, smallest_class, average_class, largest_class, suppressed_cells,
    suppressed_share, weighted_cost, lower_bound, gap, optimal, method, bound_method, usefulness, elapsed,
    base_changes_at_publish, published_by, generalized, nodes, unknown,
    certainty_penalty, generalization_height, entropy_loss, marginal_divergence, termination,
    settled_before, settled_layout, settled_on, source
)
SELECT
    $1::text, $2::bigint::oid::regclass, $3::text::regclass, $4::text::regclass, $13::text::regclass, $5::bigint, $6::text::jsonb,
    $7::text[]::name[], $8::text[]::name[], $9::text[]::name[], $10::text::name,
    r.k, r.rows, r.people, r.row_types, r.classes, r.smallest_class, r.average_class, r.largest_class,
    r.suppressed_cells, r.suppressed_share, r.weighted_cost, r.lower_bound, r.gap, r.optimal, r.method,
    r.bound_method, r.usefulness, pg_catalog.make_interval(secs => r.elapsed),
    coalesce(r.changes, kanon.base_changes($2::bigint::oid::regclass)), $12::text::name,
    $14::text[]::name[], $15::text[]::regclass[], $16::text::regclass,
    $17::double precision, $18::double precision, $19::double precision, $20::double precision, r.termination,
    $21::bigint, $22::text::jsonb, (SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c), $23::text::regclass
FROM pg_catalog.jsonb_to_record($11::text::jsonb) AS r (
    k integer, rows bigint, people bigint, row_types bigint, classes bigint, smallest_class bigint,
    average_class double precision, largest_class bigint, suppressed_cells bigint,
    suppressed_share double precision, weighted_cost double precision, lower_bound double precision,
    gap double precision, optimal boolean, method text, bound_method text, usefulness double precision,
    elapsed double precision, termination text, changes bigint
)

-- name: record_refresh(text, bigint, bigint, bigint, bigint, double precision, bigint, bigint, bigint, text):
-- Records what a release has after a refresh. It reads columns by their places: if names are elsewhere by now, nobody can tell
-- later by names what it read, until they are back.
UPDATE kanon.release SET
    rows = $2::bigint, people = $3::bigint, classes = $4::bigint, smallest_class = $5::bigint,
    average_class = $6::double precision, largest_class = $7::bigint, suppressed_cells = $8::bigint,
    suppressed_share = $8::bigint / greatest(1, $2::bigint * pg_catalog.cardinality(quasi_identifiers))::double precision,
    settled_before = $9::bigint,
    settled_layout = CASE
        WHEN NOT EXISTS (
            SELECT FROM pg_catalog.unnest(quasi_identifiers || sensitive || insensitive || entity) AS read (name)
            WHERE settled_layout -> relation::oid::text -> read.name::text
                IS DISTINCT FROM $10::text::jsonb -> relation::oid::text -> read.name::text
        ) THEN $10::text::jsonb
        ELSE pg_catalog.jsonb_build_object(relation::oid::text, settled_layout -> relation::oid::text)
    END,
    settled_on = (SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c), refreshed_at = pg_catalog.now()
WHERE name = $1::text

-- name: forget_release(text): Removes the record of a release.
DELETE FROM kanon.release WHERE name = $1::text

-- name: list_releases(): All releases with their certificates.
SELECT release, base::text AS base, k, rows, people, classes, smallest_class, suppressed_share, lower_bound, gap,
    optimal, method, changes_since, published_by::text AS published_by, published_at::text AS published_at,
    refreshed_at::text AS refreshed_at, termination
FROM kanon.releases ORDER BY release

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
