-- What the session asked for.
SELECT
    lower(coalesce(pg_catalog.current_setting('kanon.progress', true), '')) AS progress,
    coalesce(pg_catalog.current_setting('kanon.memory_budget', true), '') AS memory_budget,
    -- on Citus: whether what is created is created on all nodes
    coalesce(pg_catalog.current_setting('citus.enable_ddl_propagation', true), '') AS propagation,
    pg_catalog.getdatabaseencoding()::text AS encoding
