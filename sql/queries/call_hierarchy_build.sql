-- Builds a hierarchy over a column through the server's own function.
-- $1 text
-- $2 bigint
-- $3 text
-- $4 text
-- $5 text
SELECT
    kanon_hierarchy_build(
        $1::text::name, $2::bigint::oid::regclass, $3::text::name, $4::text::jsonb, $5::text::jsonb
    ) AS version
