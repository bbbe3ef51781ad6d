{# What of kanon's own relations would run code of others: whoever writes there runs it with their own rights. #}
        SELECT pg_catalog.pg_describe_object(d.classid, d.objid, 0) AS code
        FROM pg_catalog.pg_depend AS d
        INNER JOIN pg_catalog.pg_class AS c ON c.oid = CASE d.classid
            WHEN 'pg_catalog.pg_trigger'::regclass
                THEN (SELECT t.tgrelid FROM pg_catalog.pg_trigger AS t WHERE t.oid = d.objid AND NOT t.tgisinternal)
            WHEN 'pg_catalog.pg_rewrite'::regclass
                THEN (SELECT w.ev_class FROM pg_catalog.pg_rewrite AS w WHERE w.oid = d.objid)
            WHEN 'pg_catalog.pg_policy'::regclass
                THEN (SELECT p.polrelid FROM pg_catalog.pg_policy AS p WHERE p.oid = d.objid)
            WHEN 'pg_catalog.pg_attrdef'::regclass
                THEN (SELECT a.adrelid FROM pg_catalog.pg_attrdef AS a WHERE a.oid = d.objid)
            WHEN 'pg_catalog.pg_constraint'::regclass
                THEN (SELECT o.conrelid FROM pg_catalog.pg_constraint AS o WHERE o.oid = d.objid AND o.contype = 'c')
            WHEN 'pg_catalog.pg_class'::regclass
                THEN (SELECT i.indrelid FROM pg_catalog.pg_index AS i WHERE i.indexrelid = d.objid)
        END
        WHERE c.relnamespace = pg_catalog.to_regnamespace('kanon') AND c.relkind IN ('r', 'p') AND (
            d.classid IN ('pg_catalog.pg_trigger'::regclass, 'pg_catalog.pg_rewrite'::regclass, 'pg_catalog.pg_policy'::regclass)
            -- PostgreSQL's own functions are in no dependencies
            OR d.refclassid IN ('pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass)
        )
