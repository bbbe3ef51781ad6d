-- Creates what is read of a base relation, with the rights of its reader.
-- $1 text
-- $2 text
-- $3 text
-- $4 bigint
-- $5 boolean
SELECT kanon.define_{{ reader }}($1::text::name, $2::text::name, $3::text, $4::bigint, $5::boolean)::text AS defined
