-- The columns by which a release over time knows rows, as they are called now, and whether an index over all or some
-- of them still tells rows apart at every moment. Without a view of them they are known by name only.
-- $1 bigint
-- $2 text
-- $3 text[]
WITH known AS (
    SELECT a.attnum, a.attname
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped
        AND CASE
            WHEN $2::text IS NULL THEN a.attname::text = ANY ($3::text[])
            ELSE EXISTS (
                SELECT
                FROM pg_catalog.pg_rewrite AS w
                INNER JOIN pg_catalog.pg_depend AS d
                    ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
                WHERE w.ev_class = pg_catalog.to_regclass($2::text)
                    AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = a.attrelid
                    AND d.refobjsubid = a.attnum
            )
        END
)

SELECT
    ARRAY(SELECT k.attname::text FROM known AS k ORDER BY k.attnum) AS columns,
    EXISTS (
        SELECT
        FROM pg_catalog.pg_index AS i
        WHERE i.indrelid = $1::bigint::oid
            AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indisready AND i.indpred IS NULL
            AND NOT EXISTS (
                SELECT
                FROM pg_catalog.generate_series(0, i.indnkeyatts - 1) AS g (place)
                LEFT JOIN pg_catalog.pg_attribute AS a
                    ON a.attrelid = i.indrelid AND a.attnum = i.indkey[g.place] AND a.attnotnull
                WHERE a.attnum IS NULL OR a.attnum NOT IN (SELECT k.attnum FROM known AS k)
            )
    ) AS holds
