-- Fixes for this transaction how values look as text, so that a file does not depend on session settings.
SELECT
    pg_catalog.set_config('datestyle', 'ISO, YMD', true) AS datestyle,
    pg_catalog.set_config('intervalstyle', 'iso_8601', true) AS intervalstyle,
    pg_catalog.set_config('timezone', 'UTC', true) AS timezone,
    pg_catalog.set_config('extra_float_digits', '1', true) AS extra_float_digits,
    pg_catalog.set_config('bytea_output', 'hex', true) AS bytea_output
