{# Foreign keys, with what a link asks of them: one row of the parent for each row of the child, at every moment. #}
    SELECT
        c.conrelid AS child,
        c.confrelid AS parent,
        c.conname AS name,
        k.columns,
        k.parent_columns,
        coalesce(k.nullable, '{}') AS nullable,
        c.convalidated
        -- of PostgreSQL 18: refers to the rows of a span of time
        AND NOT coalesce((pg_catalog.to_jsonb(c) ->> 'conperiod')::boolean, false)
        AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_trigger AS t WHERE t.tgconstraint = c.oid AND t.tgenabled <> 'O'
        ) AS validated,
        -- a foreign key says nothing about rows of inheritance children
        EXISTS (
            SELECT
            FROM pg_catalog.pg_class AS r INNER JOIN pg_catalog.pg_inherits AS i ON i.inhparent = r.oid
            WHERE r.oid IN (c.conrelid, c.confrelid) AND r.relkind = 'r'
        ) AS inherited
    FROM pg_catalog.pg_constraint AS c
    CROSS JOIN LATERAL (
        SELECT
            pg_catalog.array_agg(a.attname ORDER BY a.attname) AS columns,
            pg_catalog.array_agg(p.attname ORDER BY a.attname) AS parent_columns,
            pg_catalog.array_agg(a.attname ORDER BY a.attname) FILTER (
                WHERE NOT a.attnotnull OR EXISTS (
                    -- of PostgreSQL 18: NOT NULL that was not validated
                    SELECT
                    FROM pg_catalog.pg_constraint AS n
                    WHERE n.conrelid = a.attrelid AND n.contype = 'n' AND n.conkey = ARRAY[a.attnum] AND NOT n.convalidated
                )
            ) AS nullable
        FROM ROWS FROM (pg_catalog.unnest(c.conkey), pg_catalog.unnest(c.confkey)) AS u (number, parent_number)
        INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = u.number
        INNER JOIN pg_catalog.pg_attribute AS p ON p.attrelid = c.confrelid AND p.attnum = u.parent_number
    ) AS k
    WHERE c.contype = 'f'
