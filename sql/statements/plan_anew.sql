-- Lets a statement with parameters be planned for their values; the catalog's statements keep their plans.
SELECT pg_catalog.set_config('plan_cache_mode', 'force_custom_plan', true) AS mode
