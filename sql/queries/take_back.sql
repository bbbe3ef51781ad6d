-- Takes back the rights that protecting a relation lent, if the caller may.
-- $1 bigint
SELECT kanon.take_back($1::bigint::oid::regclass)::text AS taken
