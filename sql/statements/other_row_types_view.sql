-- Whether a view of row types of this name belongs to another relation that still exists.
-- $1 text
-- $2 bigint
SELECT 1 AS taken
FROM kanon.declaration
WHERE row_types_view = $1::text::name AND relation <> $2::bigint::oid::regclass
    AND EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.oid = relation)
