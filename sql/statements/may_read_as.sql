-- Whether the role may have a reader run a statement.
-- $1 integer
SELECT pg_catalog.has_function_privilege(
    pg_catalog.format('kanon.read_rows_%s(text, text[])', $1::integer), 'EXECUTE'
) AS may_read
