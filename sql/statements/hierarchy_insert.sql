-- Records a version of a hierarchy.
-- $1 text
-- $2 integer
-- $3 text
-- $4 text
-- $5 text
-- $6 text
-- $7 integer
-- $8 integer[]
-- $9 boolean
-- $10 text
INSERT INTO kanon.hierarchy (
    name, version, description, kind, spec, output, height, nodes, shared, created_by
)
VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10::name)
