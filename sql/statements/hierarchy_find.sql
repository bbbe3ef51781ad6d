-- The latest version of a hierarchy, or a given one, and whether a role may see and use it.
-- $1 text
-- $2 integer
-- $3 text
SELECT
    h.version,
    h.kind,
    h.output,
    h.height,
    h.nodes,
    coalesce(
        h.shared OR pg_catalog.pg_has_role($3::name, pg_catalog.to_regrole(pg_catalog.quote_ident(h.created_by)), 'USAGE'),
        (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = $3::name)
    ) AS usable,
    coalesce(
        pg_catalog.pg_has_role($3::name, pg_catalog.to_regrole(pg_catalog.quote_ident(h.created_by)), 'USAGE'),
        (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = $3::name)
    ) AS owned
FROM kanon.hierarchy AS h
WHERE h.name = $1 AND h.version = coalesce($2, h.version)
ORDER BY h.version DESC
LIMIT 1
