-- What reading a relation would run or read with the reader's rights although somebody else than a superuser
-- wrote it: functions of views, indexes, constraints, policies, statistics, partition keys, types and casts
-- (the planner evaluates expressions that look constant), and views with the rights of whoever reads them.
-- Functions of trusted owners are not looked into.
-- $1 bigint
WITH RECURSIVE reached (class, object) AS (
    SELECT 'pg_catalog.pg_class'::regclass::oid, $1::bigint::oid
    UNION
    SELECT step.class, step.object
    FROM reached AS r
    CROSS JOIN LATERAL (
        SELECT d.refclassid AS class, d.refobjid AS object
        FROM pg_catalog.pg_depend AS d
        WHERE d.classid = r.class AND d.objid = r.object AND r.class <> 'pg_catalog.pg_proc'::regclass
            AND (
                d.refclassid IN (
                    'pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_type'::regclass, 'pg_catalog.pg_operator'::regclass,
                    'pg_catalog.pg_opclass'::regclass
                )
                OR (d.refclassid = 'pg_catalog.pg_class'::regclass AND r.class = 'pg_catalog.pg_rewrite'::regclass)
            )
        UNION ALL
        SELECT 'pg_catalog.pg_rewrite'::regclass, w.oid
        FROM pg_catalog.pg_rewrite AS w
        JOIN pg_catalog.pg_class AS c ON c.oid = w.ev_class AND c.relkind = 'v'
        WHERE r.class = 'pg_catalog.pg_class'::regclass AND w.ev_class = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_class'::regclass, i.indexrelid
        FROM pg_catalog.pg_index AS i
        WHERE r.class = 'pg_catalog.pg_class'::regclass AND i.indrelid = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_class'::regclass, i.inhrelid
        FROM pg_catalog.pg_inherits AS i
        WHERE r.class = 'pg_catalog.pg_class'::regclass AND i.inhparent = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_constraint'::regclass, o.oid
        FROM pg_catalog.pg_constraint AS o
        WHERE o.contype = 'c' AND (
            (r.class = 'pg_catalog.pg_class'::regclass AND o.conrelid = r.object)
            OR (r.class = 'pg_catalog.pg_type'::regclass AND o.contypid = r.object)
        )
        UNION ALL
        SELECT 'pg_catalog.pg_policy'::regclass, p.oid
        FROM pg_catalog.pg_policy AS p
        WHERE r.class = 'pg_catalog.pg_class'::regclass AND p.polrelid = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_statistic_ext'::regclass, s.oid
        FROM pg_catalog.pg_statistic_ext AS s
        WHERE r.class = 'pg_catalog.pg_class'::regclass AND s.stxrelid = r.object
        UNION ALL
        SELECT 'pg_catalog.pg_class'::regclass, t.typrelid
        FROM pg_catalog.pg_type AS t
        WHERE r.class = 'pg_catalog.pg_type'::regclass AND t.oid = r.object AND t.typrelid <> 0
        UNION ALL
        SELECT 'pg_catalog.pg_proc'::regclass, k.castfunc
        FROM pg_catalog.pg_cast AS k
        WHERE r.class = 'pg_catalog.pg_type'::regclass AND r.object IN (k.castsource, k.casttarget) AND k.castfunc <> 0
    ) AS step
)

SELECT 'function' AS kind, p.oid::regprocedure::text AS name
FROM reached AS r
JOIN pg_catalog.pg_proc AS p ON r.class = 'pg_catalog.pg_proc'::regclass AND p.oid = r.object
JOIN pg_catalog.pg_roles AS o ON o.oid = p.proowner
WHERE NOT o.rolsuper AND o.rolname <> 'kanon_owner'
UNION ALL
SELECT 'view', c.oid::regclass::text
FROM reached AS r
JOIN pg_catalog.pg_class AS c ON r.class = 'pg_catalog.pg_class'::regclass AND c.oid = r.object
WHERE c.relkind = 'v' AND EXISTS (
    SELECT FROM pg_catalog.pg_options_to_table(c.reloptions) AS q
    WHERE q.option_name = 'security_invoker' AND q.option_value::boolean
)
ORDER BY kind, name
LIMIT 1
