-- Have relations read as a whole, once, and sorted in memory, until the transaction ends; returns the settings of before.
-- Nested loops that store nothing would read one side again for each row of the other. Rows that are sorted for one
-- aggregate would be added up in that order by others, too, and sums of floats tell the order.
WITH before AS MATERIALIZED (
    SELECT s.name, s.value, pg_catalog.current_setting(s.name, true) AS was
    FROM (
        VALUES
        ('enable_seqscan', 'on'),
        ('enable_indexscan', 'off'),
        ('enable_indexonlyscan', 'off'),
        ('enable_bitmapscan', 'off'),
        ('enable_tidscan', 'off'),
        ('enable_nestloop', 'off'),
        ('enable_hashjoin', 'on'),
        ('enable_mergejoin', 'on'),
        ('enable_material', 'on'),
        ('enable_memoize', 'off'),
        ('enable_hashagg', 'on'),
        ('enable_sort', 'on'),
        -- from PostgreSQL 16 on
        ('enable_presorted_aggregate', 'off'),
        ('max_parallel_workers_per_gather', '0'),
        -- the second from PostgreSQL 16 on
        ('force_parallel_mode', 'off'),
        ('debug_parallel_query', 'off'),
        ('synchronize_seqscans', 'off'),
        ('seq_page_cost', '1'),
        ('cpu_tuple_cost', '0.01'),
        ('cpu_operator_cost', '0.0025'),
        ('hash_mem_multiplier', '2'),
        ('work_mem', '64MB')
    ) AS s (name, value)
)

SELECT
    pg_catalog.array_agg(b.name) AS names,
    pg_catalog.array_agg(b.was) AS was,
    pg_catalog.count(pg_catalog.set_config(b.name, b.value, true)) AS changed
FROM before AS b
WHERE b.was IS NOT NULL
