-- What Grafana's data source sends: its catalog queries, its query builder, and its macros as they are expanded.

-- catalog: connection
SELECT 1;

-- catalog: version
SELECT current_setting('server_version_num')::int/100 as version;

-- catalog: extension
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb';

-- catalog: tables
SELECT CASE WHEN quote_ident(table_schema) IN (
        SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
        FROM generate_series(1, array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
            string_to_array(current_setting('search_path'), ',') AS s
    ) THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog') ORDER BY 1;

-- catalog: columns
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns
WHERE CASE WHEN array_length(parse_ident('patients'), 1) = 2
    THEN quote_ident(table_schema) = (parse_ident('patients'))[1]
    ELSE quote_ident(table_name) = 'patients' END;

-- data: $__timeFilter(birth_date)
SELECT ward, count(*) FROM patients
WHERE birth_date BETWEEN '1900-01-01T00:00:00Z' AND '2026-01-01T00:00:00Z' GROUP BY ward;

-- data: $__timeFrom(), $__timeTo()
SELECT count(*) FROM patients WHERE birth_date >= '1950-01-01T00:00:00Z' AND birth_date <= '2026-01-01T00:00:00Z';

-- data: $__timeFilter(birth_date), by year
SELECT date_trunc('year', birth_date) AS "time", count(*) AS n FROM patients
WHERE birth_date BETWEEN '1900-01-01T00:00:00Z' AND '2026-01-01T00:00:00Z' GROUP BY 1 ORDER BY 1;

-- data: $__unixEpochFilter(extract(epoch from birth_date))
SELECT count(*) FROM patients
WHERE extract(epoch from birth_date) >= 0 AND extract(epoch from birth_date) <= 1700000000;

-- data: the query builder
SELECT count(patient_id) AS "n", ward FROM public.patients WHERE sex = 'F' GROUP BY ward ORDER BY ward ASC LIMIT 50;
