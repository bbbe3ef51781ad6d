{# The tables in which the rows of a base table lie, it and its partitions and children, with the place of each column.
   RENAME exchanges columns and ATTACH PARTITION brings rows, and PostgreSQL writes no row anew for either. #}
    tree (oid) AS (
        SELECT base.oid FROM base
        UNION
        SELECT i.inhrelid
        FROM pg_catalog.pg_inherits AS i
        INNER JOIN tree ON tree.oid = i.inhparent
        WHERE NOT i.inhdetachpending
    ),

    layout AS (
        SELECT tree.oid, pg_catalog.jsonb_object_agg(a.attname, a.attnum) AS columns
        FROM tree
        INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = tree.oid AND a.attnum > 0 AND NOT a.attisdropped
        GROUP BY tree.oid
    )
