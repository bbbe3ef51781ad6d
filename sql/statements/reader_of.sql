-- Number of the reader of a relation, NULL if it has none that may read it.
-- $1 bigint
SELECT kanon.reader_of($1::bigint::oid::regclass, false) AS reader
