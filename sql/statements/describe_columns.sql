-- The columns of a relation: type, base type below domains, collation, own unique index, right to read; and all types
-- that the base type is made of, unless it is a plain one of pg_catalog.
-- $1 bigint
-- $2 text
WITH RECURSIVE base AS (
    SELECT
        a.attnum,
        a.atttypid AS type_oid,
        a.atttypmod AS typmod
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT
        b.attnum,
        t.typbasetype,
        CASE WHEN t.typtypmod >= 0 THEN t.typtypmod ELSE b.typmod END
    FROM base AS b
    INNER JOIN pg_catalog.pg_type AS t ON t.oid = b.type_oid
    WHERE t.typtype = 'd'
),

whole AS (
    SELECT b.attnum, b.type_oid
    FROM base AS b
    INNER JOIN pg_catalog.pg_type AS t ON t.oid = b.type_oid
    WHERE t.typtype <> 'd'
        AND NOT (
            t.typtype = 'b'
            AND t.typnamespace = 'pg_catalog'::regnamespace
            AND t.typoutput <> 'pg_catalog.array_out'::regproc
        )
),

made_of (attnum, type_oid) AS (
    SELECT w.attnum, w.type_oid FROM whole AS w
    UNION
    SELECT m.attnum, next.part
    FROM made_of AS m
    INNER JOIN pg_catalog.pg_type AS t ON t.oid = m.type_oid
    CROSS JOIN LATERAL (
        SELECT t.typbasetype AS part WHERE t.typtype = 'd'
        UNION ALL
        SELECT t.typelem WHERE t.typtype = 'b' AND t.typoutput = 'pg_catalog.array_out'::regproc
        UNION ALL
        SELECT r.rngsubtype FROM pg_catalog.pg_range AS r WHERE r.rngtypid = t.oid
        UNION ALL
        SELECT r.rngtypid FROM pg_catalog.pg_range AS r WHERE r.rngmultitypid = t.oid
        UNION ALL
        SELECT f.atttypid
        FROM pg_catalog.pg_attribute AS f
        WHERE t.typtype = 'c' AND f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped
    ) AS next
)

SELECT
    a.attname::text AS name,
    pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,
    CASE
        WHEN en.nspname = 'pg_catalog' THEN pg_catalog.format_type(b.type_oid, b.typmod)
        -- whatever the search path leaves out
        ELSE pg_catalog.format('%I.%I', en.nspname, e.typname)
            || coalesce(pg_catalog.substring(pg_catalog.format_type(e.oid, b.typmod), E'\\([^)]*\\)$'), '')
            || CASE WHEN e.oid <> t.oid THEN '[]' ELSE '' END
    END AS plain_type,
    CASE WHEN tn.nspname = 'pg_catalog' THEN t.typname::text ELSE tn.nspname || '.' || t.typname END AS base_type,
    t.typtype::text AS base_kind,
    a.atttypmod >= 0 AS has_own_typmod,
    b.typmod >= 0 AS has_typmod,
    coalesce(co.collisdeterministic, true) AS deterministic,
    cn.nspname::text AS collation_schema,
    co.collname::text AS collation_name,
    pg_catalog.has_column_privilege($2::text, a.attrelid, a.attnum, 'SELECT') AS selectable,
    EXISTS (
        SELECT
        FROM pg_catalog.pg_index AS i
        WHERE i.indrelid = a.attrelid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
            AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum
    ) AS is_key,
    CASE
        WHEN b.type_oid = a.atttypid THEN NULL
        WHEN en.nspname = 'pg_catalog' THEN pg_catalog.format_type(b.type_oid, -1)
        ELSE pg_catalog.format('%I.%I', en.nspname, e.typname) || CASE WHEN e.oid <> t.oid THEN '[]' ELSE '' END
    END AS below,
    (
        SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
            'oid', p.oid::bigint,
            'is_whole', p.oid = b.type_oid,
            'name', ARRAY[pn.nspname, p.typname],
            'kind', CASE WHEN p.typtype = 'b' AND p.typoutput = 'pg_catalog.array_out'::regproc THEN 'a' ELSE p.typtype END,
            'output', ARRAY[fn.nspname, f.proname],
            'is_string', p.typcategory = 'S',
            'part', coalesce(
                nullif(p.typbasetype, 0),
                CASE WHEN p.typtype = 'b' AND p.typoutput = 'pg_catalog.array_out'::regproc THEN p.typelem END,
                (SELECT r.rngsubtype FROM pg_catalog.pg_range AS r WHERE r.rngtypid = p.oid),
                (SELECT r.rngtypid FROM pg_catalog.pg_range AS r WHERE r.rngmultitypid = p.oid)
            )::bigint,
            'fields', (
                SELECT pg_catalog.json_agg(pg_catalog.json_build_array(c.attname, c.atttypid::bigint) ORDER BY c.attnum)
                FROM pg_catalog.pg_attribute AS c
                WHERE p.typtype = 'c' AND c.attrelid = p.typrelid AND c.attnum > 0 AND NOT c.attisdropped
            )
        ))::text
        FROM made_of AS m
        INNER JOIN pg_catalog.pg_type AS p ON p.oid = m.type_oid
        INNER JOIN pg_catalog.pg_namespace AS pn ON pn.oid = p.typnamespace
        INNER JOIN pg_catalog.pg_proc AS f ON f.oid = p.typoutput
        INNER JOIN pg_catalog.pg_namespace AS fn ON fn.oid = f.pronamespace
        WHERE m.attnum = a.attnum
    ) AS made_of
FROM pg_catalog.pg_attribute AS a
INNER JOIN base AS b ON b.attnum = a.attnum
INNER JOIN pg_catalog.pg_type AS t ON t.oid = b.type_oid AND t.typtype <> 'd'
INNER JOIN pg_catalog.pg_namespace AS tn ON tn.oid = t.typnamespace
INNER JOIN pg_catalog.pg_type AS e
    ON e.oid = CASE WHEN t.typcategory = 'A' AND t.typelem <> 0 THEN t.typelem ELSE t.oid END
INNER JOIN pg_catalog.pg_namespace AS en ON en.oid = e.typnamespace
LEFT JOIN pg_catalog.pg_collation AS co ON co.oid = a.attcollation
LEFT JOIN pg_catalog.pg_namespace AS cn ON cn.oid = co.collnamespace
WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
