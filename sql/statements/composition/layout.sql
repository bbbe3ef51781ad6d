{# The tables in which the rows of a base table lie, it and its partitions and children, with the place of each column.
   RENAME exchanges columns and ATTACH PARTITION brings rows, and PostgreSQL writes no row anew for either. So does RENAME
   VALUE with labels, by which the rules know the values of an enumeration: these stand under the name that no column has,
   however deep in the column's type the enumeration is: below domains, in arrays, composite types, ranges. #}
    tree (oid) AS (
        SELECT base.oid FROM base
        UNION
        SELECT i.inhrelid
        FROM pg_catalog.pg_inherits AS i
        INNER JOIN tree ON tree.oid = i.inhparent
        WHERE NOT i.inhdetachpending
    ),

    made_of (type, part) AS (
        SELECT a.atttypid, a.atttypid
        FROM tree
        INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = tree.oid AND a.attnum > 0 AND NOT a.attisdropped
        UNION
        SELECT made_of.type, next.part
        FROM made_of
        INNER JOIN pg_catalog.pg_type AS t ON t.oid = made_of.part
        CROSS JOIN LATERAL (
            SELECT t.typbasetype AS part
            UNION ALL
            SELECT t.typelem
            UNION ALL
            SELECT a.atttypid
            FROM pg_catalog.pg_attribute AS a
            WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
            UNION ALL
            SELECT r.rngsubtype FROM pg_catalog.pg_range AS r WHERE t.oid IN (r.rngtypid, r.rngmultitypid)
        ) AS next
        WHERE next.part <> 0
    ),

    layout AS (
        SELECT
            tree.oid,
            pg_catalog.jsonb_object_agg(a.attname, a.attnum) || pg_catalog.jsonb_build_object('', (
                SELECT coalesce(pg_catalog.jsonb_object_agg(l.oid, l.enumlabel), '{}')
                FROM pg_catalog.pg_attribute AS e
                INNER JOIN made_of ON made_of.type = e.atttypid
                INNER JOIN pg_catalog.pg_enum AS l ON l.enumtypid = made_of.part
                WHERE e.attrelid = tree.oid AND e.attnum > 0 AND NOT e.attisdropped
            )) AS columns
        FROM tree
        INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = tree.oid AND a.attnum > 0 AND NOT a.attisdropped
        GROUP BY tree.oid
    )
