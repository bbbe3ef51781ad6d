-- Records a version that is remembered.
-- $1 text
-- $2 bigint
-- $3 text
-- $4 text[]
-- $5 integer
-- $6 text
INSERT INTO kanon.remembered (release, version, classes, key_columns, k, entity)
VALUES ($1::text, $2::bigint, $3::text::regclass, $4::text[]::name[], $5::integer, $6::text::name)
