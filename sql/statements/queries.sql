-- name: serve_query(): Has the query of the current call served with the rights of the reading role, read-only: the setting comes
-- before the call, and ends with the subtransaction that the server's interface runs every statement in. A function's own SET
-- clause cannot do this since PostgreSQL 16.
SELECT kanon.serve_query()::text AS done FROM pg_catalog.set_config('transaction_read_only', 'on', true)

-- name: hold_relations(): Locks the relations that the query of the current call may name.
SELECT kanon.hold_relations()::text AS done

-- name: current_names(text[]): Which relations names mean now, whatever the transaction's snapshot; NULL for none.
SELECT pg_catalog.to_regclass(u.name)::oid::bigint AS oid FROM pg_catalog.unnest($1::text[]) AS u (name)

-- name: analyst(): Who calls, and whether the call sees the present state of the catalog.
SELECT CURRENT_USER::text AS role, SESSION_USER::text AS login,
    pg_catalog.current_setting('transaction_isolation') = 'read committed' AS sees_present

-- name: query_locks(text[], text[], text): Relations that a query may read, and those that links lead to from there, whose
-- definitions have to hold meanwhile. Only those whose names the current role may use, and that the analyst may know.
WITH RECURSIVE named (oid) AS (
    SELECT c.oid FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relname = ANY ($1::text[]::name[]) AND c.relkind IN ('r', 'p', 'v', 'm') AND c.relpersistence <> 't'
        AND (n.nspname = ANY ($1::text[]::name[]) OR n.nspname = ANY ($2::text[]::name[]))
        AND (
            pg_catalog.has_any_column_privilege($3::text::name, c.oid, 'SELECT')
            OR EXISTS (SELECT FROM kanon.protection AS p WHERE p.relation::oid = c.oid)
            OR EXISTS (SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = c.oid)
        )
    UNION
    SELECT step.oid FROM named AS r
    CROSS JOIN LATERAL (
        SELECT l.parent::oid FROM kanon.link AS l WHERE l.child::oid = r.oid
        UNION ALL
        SELECT i.inhparent FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = r.oid
    ) AS step (oid)
)
SELECT c.oid::bigint AS oid, n.nspname::text AS schema, c.relname::text AS name
FROM named AS r
INNER JOIN pg_catalog.pg_class AS c ON c.oid = r.oid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE pg_catalog.has_schema_privilege(n.oid, 'USAGE') ORDER BY c.oid

-- name: query_reader(bigint[]): Of the relations that a query reads: which owners there are besides superusers, and whose reader
-- reads them all.
SELECT
    ARRAY(
        SELECT DISTINCT o.rolname::text
        FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_roles AS o ON o.oid = c.relowner
        WHERE c.oid = ANY ($1::bigint[]::oid[]) AND NOT o.rolsuper AND o.rolname <> 'kanon_owner'
    ) AS owners,
    (
        SELECT kanon.reader_of(c.oid::regclass, true)
        FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_roles AS o ON o.oid = c.relowner
        WHERE c.oid = ANY ($1::bigint[]::oid[]) AND NOT o.rolsuper AND o.rolname <> 'kanon_owner' ORDER BY c.oid LIMIT 1
    ) AS reader

-- name: pin_planner(): Have relations read as a whole, once, and sorted in memory, until the transaction ends; returns the
-- settings of before. Nested loops that store nothing would read one side again for each row of the other. Rows that are sorted
-- for one aggregate would be added up in that order by others, too, and sums of floats tell the order.
WITH before AS MATERIALIZED (
    SELECT s.name, s.value, pg_catalog.current_setting(s.name, true) AS was
    FROM (
        VALUES
        ('enable_seqscan', 'on'), ('enable_indexscan', 'off'), ('enable_indexonlyscan', 'off'), ('enable_bitmapscan', 'off'),
        ('enable_tidscan', 'off'), ('enable_nestloop', 'off'), ('enable_hashjoin', 'on'), ('enable_mergejoin', 'on'),
        ('enable_material', 'on'), ('enable_memoize', 'off'), ('enable_hashagg', 'on'), ('enable_sort', 'on'),
        -- from PostgreSQL 16 on
        ('enable_presorted_aggregate', 'off'), ('max_parallel_workers_per_gather', '0'),
        -- the second from PostgreSQL 16 on
        ('force_parallel_mode', 'off'), ('debug_parallel_query', 'off'), ('synchronize_seqscans', 'off'), ('seq_page_cost', '1'),
        ('cpu_tuple_cost', '0.01'), ('cpu_operator_cost', '0.0025'), ('hash_mem_multiplier', '2'), ('work_mem', '64MB')
    ) AS s (name, value)
)
SELECT pg_catalog.array_agg(b.name) AS names, pg_catalog.array_agg(b.was) AS was,
    pg_catalog.count(pg_catalog.set_config(b.name, b.value, true)) AS changed
FROM before AS b WHERE b.was IS NOT NULL

-- name: unpin_planner(text[], text[]): Gives settings the values that they had.
SELECT pg_catalog.count(pg_catalog.set_config(s.name, s.value, true)) AS changed
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS s (name, value)

-- name: pin_query_settings(): For the client's interface: what kanon.serve_query sets for itself, until the end of the transaction.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true) AS search_path,
    pg_catalog.set_config('transaction_read_only', 'on', true) AS transaction_read_only,
    pg_catalog.set_config('datestyle', 'ISO, YMD', true) AS datestyle,
    pg_catalog.set_config('intervalstyle', 'postgres', true) AS intervalstyle,
    pg_catalog.set_config('extra_float_digits', '1', true) AS extra_float_digits,
    pg_catalog.set_config('bytea_output', 'hex', true) AS bytea_output,
    pg_catalog.set_config('array_nulls', 'on', true) AS array_nulls,
    pg_catalog.set_config('lc_monetary', 'C', true) AS lc_monetary, pg_catalog.set_config('lc_numeric', 'C', true) AS lc_numeric,
    pg_catalog.set_config('lc_time', 'C', true) AS lc_time,
    pg_catalog.set_config('gin_fuzzy_search_limit', '0', true) AS gin_fuzzy_search_limit,
    pg_catalog.set_config('jit', 'off', true) AS jit

-- name: closed_to_reader(bigint[], text): Relations that a reader may not read.
SELECT n.nspname::text AS schema, c.relname::text AS name
FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = ANY ($1::bigint[]::oid[]) AND NOT (
    pg_catalog.has_schema_privilege($2::text::name, n.oid, 'USAGE')
    AND pg_catalog.has_any_column_privilege($2::text::name, c.oid, 'SELECT')
)
ORDER BY c.oid

-- name: begin_reading(): Fails while the code of a relation could fetch from a cursor that is open.
SELECT kanon.begin_reading() AS known

-- name: cannot_write(): Whether the current transaction is read-only. A parallel worker, as debug_parallel_query would have one,
-- does not know; of the schema of temporary tables none may ask.
SELECT pg_catalog.current_setting('transaction_read_only') = 'on' AND pg_catalog.pg_my_temp_schema() IS NOT NULL AS read_only
