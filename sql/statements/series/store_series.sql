-- Records a release over time that starts.
-- $1 text
-- $2 text
-- $3 text
-- $4 text[]
-- $5 text
-- $6 text
-- $7 text
-- $8 text
-- $9 text
-- $10 text
INSERT INTO kanon.series (
    release, version, request, weights, key_columns, current_rows, members, cohorts, departed, pending, cohorts_ever,
    key_view
)
VALUES (
    $1::text, 1, $2::text::jsonb, $3::text::jsonb, $4::text[]::name[], $5::text::regclass, $6::text::regclass,
    $7::text::regclass, $8::text::regclass, $9::text::regclass, 0,
    $10::text::regclass
)
