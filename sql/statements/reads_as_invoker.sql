-- Whether a relation is a view that reads with the rights of whoever reads it.
-- $1 bigint
SELECT EXISTS (
    SELECT
    FROM pg_catalog.pg_class AS c
    CROSS JOIN LATERAL pg_catalog.pg_options_to_table(c.reloptions) AS o
    WHERE c.oid = $1::bigint::oid AND c.relkind = 'v' AND o.option_name = 'security_invoker' AND o.option_value::boolean
) AS is_so
