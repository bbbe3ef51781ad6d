-- Declares the roles of columns through the server's own function.
-- $1 bigint
-- $2 text[]
-- $3 text[]
-- $4 text[]
-- $5 text[]
-- $6 text
-- $7 text
SELECT
    kanon_declare(
        relation => $1::bigint::oid::regclass,
        identifiers => $2::text[]::name[],
        quasi_identifiers => $3::text[]::name[],
        sensitive => $4::text[]::name[],
        insensitive => $5::text[]::name[],
        entity => $6::text::name,
        weights => $7::text::jsonb
    )::text AS done
