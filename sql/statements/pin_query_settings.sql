-- For the client's interface: what kanon.serve_query sets for itself, until the end of the transaction.
SELECT
    pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true) AS search_path,
    pg_catalog.set_config('transaction_read_only', 'on', true) AS transaction_read_only,
    pg_catalog.set_config('datestyle', 'ISO, YMD', true) AS datestyle,
    pg_catalog.set_config('intervalstyle', 'postgres', true) AS intervalstyle,
    pg_catalog.set_config('extra_float_digits', '1', true) AS extra_float_digits,
    pg_catalog.set_config('bytea_output', 'hex', true) AS bytea_output,
    pg_catalog.set_config('array_nulls', 'on', true) AS array_nulls,
    pg_catalog.set_config('lc_monetary', 'C', true) AS lc_monetary,
    pg_catalog.set_config('lc_numeric', 'C', true) AS lc_numeric,
    pg_catalog.set_config('lc_time', 'C', true) AS lc_time,
    pg_catalog.set_config('gin_fuzzy_search_limit', '0', true) AS gin_fuzzy_search_limit,
    pg_catalog.set_config('jit', 'off', true) AS jit
