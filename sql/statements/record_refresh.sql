-- Records what a release has after a refresh. It reads columns by their places: if names are elsewhere by now, nobody can
-- tell later by names what it read, until they are back.
-- $1 text
-- $2 bigint
-- $3 bigint
-- $4 bigint
-- $5 bigint
-- $6 double precision
-- $7 bigint
-- $8 bigint
-- $9 bigint
-- $10 text
UPDATE kanon.release SET
    rows = $2::bigint,
    people = $3::bigint,
    classes = $4::bigint,
    smallest_class = $5::bigint,
    average_class = $6::double precision,
    largest_class = $7::bigint,
    suppressed_cells = $8::bigint,
    suppressed_share = $8::bigint / greatest(1, $2::bigint * pg_catalog.cardinality(quasi_identifiers))::double precision,
    settled_before = $9::bigint,
    settled_layout = CASE
        WHEN NOT EXISTS (
            SELECT
            FROM pg_catalog.unnest(quasi_identifiers || sensitive || insensitive || entity) AS read (name)
            WHERE settled_layout -> relation::oid::text -> read.name::text
                IS DISTINCT FROM $10::text::jsonb -> relation::oid::text -> read.name::text
        )
            THEN $10::text::jsonb
        ELSE pg_catalog.jsonb_build_object(relation::oid::text, settled_layout -> relation::oid::text)
    END,
    settled_on = (SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c),
    refreshed_at = pg_catalog.now()
WHERE name = $1::text
