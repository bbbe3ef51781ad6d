-- Objects of others that would be lost with the installation: what they are, as the server describes them.
-- $1 text[]
WITH schemas AS (
    SELECT n.oid FROM pg_catalog.pg_namespace AS n WHERE n.nspname IN ('kanon', 'kanon_bases', 'kanon_shown', 'safe')
),
ours (classid, objid) AS (
    SELECT 'pg_catalog.pg_class'::regclass, c.oid FROM pg_catalog.pg_class AS c
    WHERE c.relnamespace IN (SELECT s.oid FROM schemas AS s)
    UNION ALL
    SELECT 'pg_catalog.pg_type'::regclass, t.oid FROM pg_catalog.pg_type AS t
    WHERE t.typnamespace IN (SELECT s.oid FROM schemas AS s)
    UNION ALL
    SELECT 'pg_catalog.pg_proc'::regclass, p.oid
    FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname IN ('kanon', 'kanon_bases', 'kanon_shown', 'safe')
        OR p.oid IN (
{% include "called_functions.sql" %}

)
),
dependents AS (
    SELECT
        CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_catalog.pg_class'::regclass END AS classid,
        coalesce(r.ev_class, d.objid) AS objid
    FROM pg_catalog.pg_depend AS d
    JOIN ours ON ours.classid = d.refclassid AND ours.objid = d.refobjid
    LEFT JOIN pg_catalog.pg_rewrite AS r ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND r.oid = d.objid
    WHERE d.deptype = 'n'
    EXCEPT
    SELECT ours.classid, ours.objid FROM ours
),
guests AS (
    SELECT 'pg_catalog.pg_class'::regclass AS classid, c.oid AS objid FROM pg_catalog.pg_class AS c
    WHERE c.relnamespace IN (SELECT s.oid FROM schemas AS s)
        AND c.relkind NOT IN ('i', 'I', 't', 'c') AND pg_catalog.pg_get_userbyid(c.relowner) !~ '^kanon_(owner|base_[0-9]+)$'
        -- what the scripts make belongs to whoever installed
        AND NOT EXISTS (
            SELECT
            FROM pg_catalog.pg_namespace AS n
            WHERE n.oid = c.relnamespace AND n.nspname = 'kanon' AND n.nspowner = c.relowner
                AND c.relname = ANY ($1::text[]::name[])
        )
)
SELECT pg_catalog.pg_describe_object(classid, objid, 0) AS description
FROM (SELECT * FROM dependents UNION SELECT * FROM guests) AS found
-- Default privileges and the like have no life of their own.
WHERE classid NOT IN ('pg_catalog.pg_default_acl'::regclass, 'pg_catalog.pg_constraint'::regclass,
    'pg_catalog.pg_attrdef'::regclass, 'pg_catalog.pg_trigger'::regclass)
ORDER BY 1
