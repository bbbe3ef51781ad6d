{# What the base relations of releases read: themselves, what they are partitions and children of, and what views are made of.
   Releases whose base relations read one table are taken to be about the same people. #}
reads (relation, oid) AS (
    SELECT DISTINCT r.relation::oid, r.relation::oid FROM kanon.release AS r
    UNION
    SELECT reads.relation, next.oid
    FROM reads
    CROSS JOIN LATERAL (
        SELECT i.inhparent AS oid FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = reads.oid
        UNION ALL
        SELECT d.refobjid
        FROM pg_catalog.pg_rewrite AS w
        INNER JOIN pg_catalog.pg_depend AS d
            ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
            AND d.objid = w.oid
            AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        WHERE w.ev_class = reads.oid AND d.refobjid <> reads.oid
    ) AS next
)
