-- name: reader_of(bigint): Number of the reader of a relation, NULL if it has none that may read it.
SELECT kanon.reader_of($1::bigint::oid::regclass, false) AS reader

-- name: define_base(text, text, text, bigint, boolean): Creates what is read of a base relation, with the rights of its reader.
SELECT kanon.define_{{ reader }}($1::text::name, $2::text::name, $3::text, $4::bigint, $5::boolean)::text AS defined

-- name: drop_base(): Removes the view that read a base relation, and the one of its rows' type, after the function.
DROP VIEW IF EXISTS {{ base }}, {{ row_type }}

-- name: drop_base_function(): Removes the function that read a base relation, or showed its rows.
DROP FUNCTION IF EXISTS {{ function }}

-- name: left_base(text): Whether a base of this name, or what shows it, is there.
SELECT 1 AS found FROM pg_catalog.pg_class AS c
WHERE c.relname = $1::text AND c.relnamespace IN ('kanon'::regnamespace, 'kanon_bases'::regnamespace)

-- name: grant_read(bigint): Gives a relation a reader, if the caller may allow it.
SELECT kanon.grant_read($1::bigint::oid::regclass)::text AS granted

-- name: grant_read_along(bigint, bigint): Lets readers of a table, and of those linked to it, read what its new link leads to, if
-- the caller may allow it.
SELECT kanon.grant_read_along(
    t.relation,
    $2::bigint::oid::regclass
    || ARRAY(SELECT a.relation FROM kanon.linked_above($2::bigint::oid::regclass) AS a (relation)), false
)::text AS granted
FROM (
    SELECT $1::bigint::oid::regclass AS relation
    UNION ALL
    SELECT b.relation FROM kanon.linked_below($1::bigint::oid::regclass) AS b (relation)
) AS t

-- name: grant_read_reader(bigint): Gives a relation a reader and lets queries about it be answered, if the caller may allow it.
SELECT kanon.grant_read(w.oid)::text || kanon.grant_read(w.oid, true)::text AS granted
FROM (SELECT $1::bigint::oid::regclass AS oid) AS w

-- name: revoke_read(bigint): Revokes the rights that protecting a relation needed, if the caller may.
SELECT kanon.revoke_read($1::bigint::oid::regclass)::text AS revoked

-- name: revoke_read_along(bigint, bigint[]): Revokes rights to read what a link led to that is no more, if the caller may.
SELECT kanon.revoke_read_along($1::bigint::oid::regclass, $2::bigint[]::oid[]::regclass[])::text AS revoked

-- name: code_in_statistics(text): Columns whose statistics would run the code of others: those of ranges compute lengths by a
-- function of the type.
SELECT a.attname::text AS name FROM pg_catalog.pg_attribute AS a INNER JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped
    AND coalesce(a.attstattarget, -1) <> 0
    -- made here, not by PostgreSQL
    AND t.oid >= 16384
    AND t.typanalyze IN (
        'pg_catalog.range_typanalyze(internal)'::regprocedure, 'pg_catalog.multirange_typanalyze(internal)'::regprocedure
    )
ORDER BY a.attnum

-- name: reads_as_invoker(bigint): Whether a relation is a view that reads with the rights of whoever reads it.
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class AS c CROSS JOIN LATERAL pg_catalog.pg_options_to_table(c.reloptions) AS o
    WHERE c.oid = $1::bigint::oid AND c.relkind = 'v' AND o.option_name = 'security_invoker' AND o.option_value::boolean
) AS is_so

-- name: unmapped_servers(bigint, text): Servers of postgres_fdw below a relation for which a role has no user mapping, so that it
-- cannot read the relation.
WITH RECURSIVE parts AS (
    SELECT $1::bigint::oid AS oid
    UNION
    SELECT i.inhrelid FROM parts INNER JOIN pg_catalog.pg_inherits AS i ON i.inhparent = parts.oid
)
SELECT DISTINCT s.srvname::text AS server FROM parts
INNER JOIN pg_catalog.pg_foreign_table AS t ON t.ftrelid = parts.oid
INNER JOIN pg_catalog.pg_foreign_server AS s ON s.oid = t.ftserver
INNER JOIN pg_catalog.pg_foreign_data_wrapper AS w ON w.oid = s.srvfdw
INNER JOIN pg_catalog.pg_proc AS h ON h.oid = w.fdwhandler AND h.proname = 'postgres_fdw_handler'
WHERE NOT EXISTS (
    SELECT FROM pg_catalog.pg_user_mappings AS m
    WHERE m.srvid = s.oid AND m.umuser IN (0, (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = $2::text))
)
ORDER BY server

-- name: grant_read_tables(bigint, bigint[]): Lets the reader of a relation read other tables, if the caller may allow it.
SELECT kanon.grant_read_along($1::bigint::oid::regclass, $2::bigint[]::oid[]::regclass[], false)::text AS granted
