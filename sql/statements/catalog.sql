-- name: parse_name(text): The parts of a name as SQL writes it: unquoted parts in lower case, quoted parts as they are.
SELECT pg_catalog.parse_ident($1::text) AS parts

-- name: resolve_relation(text): The relation that a name or regclass text stands for, NULL if there is none.
SELECT pg_catalog.to_regclass($1::text)::oid::bigint AS oid

-- name: find_relation(text): The relation of a qualified name, also in a schema that the role may not use; NULL if there is none.
SELECT max(c.oid::bigint) AS oid FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE ARRAY[n.nspname, c.relname]::text[] = pg_catalog.parse_ident($1::text)

-- name: describe_relation(bigint, text): What kind of relation it is and whether the caller may read it.
SELECT n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS kind, c.relpersistence::text AS persistence,
    c.relrowsecurity AS row_security, pg_catalog.pg_get_userbyid(c.relowner) = 'kanon_owner' AS is_own,
    pg_catalog.has_schema_privilege($2::text, n.oid, 'USAGE') AS schema_usable,
    pg_catalog.has_table_privilege($2::text, c.oid, 'SELECT') AS selectable
FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = $1::bigint::oid

-- name: describe_columns(bigint, text): The columns of a relation: type, base type below domains, collation, own unique index,
-- right to read; and all types that the base type is made of, unless it is a plain one of pg_catalog.
WITH RECURSIVE base AS (
    SELECT a.attnum, a.atttypid AS type_oid, a.atttypmod AS typmod FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT b.attnum, t.typbasetype, CASE WHEN t.typtypmod >= 0 THEN t.typtypmod ELSE b.typmod END
    FROM base AS b INNER JOIN pg_catalog.pg_type AS t ON t.oid = b.type_oid
    WHERE t.typtype = 'd'
),
whole AS (
    SELECT b.attnum, b.type_oid FROM base AS b INNER JOIN pg_catalog.pg_type AS t ON t.oid = b.type_oid
    WHERE t.typtype <> 'd'
        AND NOT (
            t.typtype = 'b' AND t.typnamespace = 'pg_catalog'::regnamespace AND t.typoutput <> 'pg_catalog.array_out'::regproc
        )
),
made_of (attnum, type_oid) AS (
    SELECT w.attnum, w.type_oid FROM whole AS w
    UNION
    SELECT m.attnum, next.part FROM made_of AS m
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
        SELECT f.atttypid FROM pg_catalog.pg_attribute AS f
        WHERE t.typtype = 'c' AND f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped
    ) AS next
)
SELECT a.attname::text AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,
    CASE
        WHEN en.nspname = 'pg_catalog' THEN pg_catalog.format_type(b.type_oid, b.typmod)
        -- whatever the search path leaves out
        ELSE pg_catalog.format('%I.%I', en.nspname, e.typname)
            || coalesce(pg_catalog.substring(pg_catalog.format_type(e.oid, b.typmod), E'\\([^)]*\\)$'), '')
            || CASE WHEN e.oid <> t.oid THEN '[]' ELSE '' END
    END AS plain_type,
    CASE WHEN tn.nspname = 'pg_catalog' THEN t.typname::text ELSE tn.nspname || '.' || t.typname END AS base_type,
    t.typtype::text AS base_kind, a.atttypmod >= 0 AS has_own_typmod, b.typmod >= 0 AS has_typmod,
    coalesce(co.collisdeterministic, true) AS deterministic, cn.nspname::text AS collation_schema,
    co.collname::text AS collation_name, pg_catalog.has_column_privilege($2::text, a.attrelid, a.attnum, 'SELECT') AS selectable,
    EXISTS (
        SELECT FROM pg_catalog.pg_index AS i
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
INNER JOIN pg_catalog.pg_type AS e ON e.oid = CASE WHEN t.typcategory = 'A' AND t.typelem <> 0 THEN t.typelem ELSE t.oid END
INNER JOIN pg_catalog.pg_namespace AS en ON en.oid = e.typnamespace
LEFT JOIN pg_catalog.pg_collation AS co ON co.oid = a.attcollation
LEFT JOIN pg_catalog.pg_namespace AS cn ON cn.oid = co.collnamespace
WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

-- name: measure_equality(bigint, text): The operator by which GROUP BY compares a column, if its type brings one of its own (no
-- row: pg_catalog's =).
WITH RECURSIVE base AS (
    SELECT a.atttypid AS type_oid FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = $1::bigint::oid AND a.attname = $2::name
    UNION ALL
    SELECT t.typbasetype FROM base AS b INNER JOIN pg_catalog.pg_type AS t ON t.oid = b.type_oid
    WHERE t.typtype = 'd'
)
SELECT n.nspname::text AS schema, o.oprname::text AS name FROM base AS b
INNER JOIN pg_catalog.pg_opclass AS c ON c.opcintype = b.type_oid AND c.opcdefault
INNER JOIN pg_catalog.pg_am AS a ON a.oid = c.opcmethod AND a.amname = 'btree'
INNER JOIN pg_catalog.pg_amop AS m
    ON m.amopfamily = c.opcfamily AND m.amopstrategy = 3 AND m.amoplefttype = b.type_oid AND m.amoprighttype = b.type_oid
INNER JOIN pg_catalog.pg_operator AS o ON o.oid = m.amopopr
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = o.oprnamespace

-- name: probe_grouping(): Plans, without reading a relation, what releases do with columns: fails if a type has no equality or no
-- order. What plans a relation would run the code of its indexes.
SELECT pg_catalog.count(*) OVER (PARTITION BY {% for type in types %}c{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %})
FROM (
    SELECT {% for type in types %}c{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}
    FROM (SELECT {% for type in types %}NULL::{{ type }} AS c{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}) AS columns
    WHERE false GROUP BY {% for type in types %}c{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}
) AS types
LIMIT 0

-- name: type_names(bigint[]): Types as SQL writes them, in the order of their numbers.
SELECT pg_catalog.format_type(u.oid, -1) AS name
FROM pg_catalog.unnest($1::bigint[]::oid[]) WITH ORDINALITY AS u (oid, place) ORDER BY u.place

-- name: estimate_rows(text): About how many rows a table has, by its statistics; by its size if there are none yet, then rather
-- too many.
SELECT
    coalesce(sum(CASE WHEN c.reltuples >= 0 THEN c.reltuples ELSE pg_catalog.pg_relation_size(c.oid) / 28 END), 0)::bigint AS rows
FROM (
    SELECT pg_catalog.to_regclass($1::text)::oid AS oid
    UNION
    SELECT tree.relid::oid FROM pg_catalog.pg_partition_tree(pg_catalog.to_regclass($1::text)) AS tree WHERE tree.isleaf
) AS part
INNER JOIN pg_catalog.pg_class AS c ON c.oid = part.oid
WHERE c.relkind IN ('r', 'm')

-- name: sees_changes(): Whether later statements of this transaction see what others commit meanwhile.
SELECT pg_catalog.current_setting('transaction_isolation') IN ('read committed', 'read uncommitted') AS sees_changes

-- name: dependents_of_view(text): What depends on a view or the type of its rows, as the server describes it.
SELECT DISTINCT pg_catalog.pg_describe_object(
    CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_catalog.pg_class'::regclass END, coalesce(r.ev_class, d.objid), 0
) AS description
FROM pg_catalog.pg_depend AS d
LEFT JOIN pg_catalog.pg_rewrite AS r ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND r.oid = d.objid
INNER JOIN pg_catalog.pg_class AS v
    ON (d.refclassid, d.refobjid) IN (('pg_catalog.pg_class'::regclass, v.oid), ('pg_catalog.pg_type'::regclass, v.reltype))
WHERE v.oid = $1::regclass AND d.deptype = 'n' AND r.ev_class IS DISTINCT FROM v.oid ORDER BY 1

-- name: analyze(): Fresh statistics for the planner.
ANALYZE {{ relation }}

-- name: without_statistics(): Leaves a column out of statistics for good: who gathers them, autovacuum, too, has the rights of
-- the table's owner.
ALTER TABLE {{ relation }} ALTER COLUMN {{ column }} SET STATISTICS 0
