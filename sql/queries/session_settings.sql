-- What the session asked for.
SELECT
    lower(coalesce(pg_catalog.current_setting('kanon.progress', true), '')) AS progress,
    coalesce(pg_catalog.current_setting('kanon.memory_budget', true), '') AS memory_budget
