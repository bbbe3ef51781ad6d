-- Objects of others that use a function, as the server describes them.
-- $1 text
SELECT DISTINCT
    pg_catalog.pg_describe_object(
        CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_catalog.pg_class'::regclass END,
        coalesce(r.ev_class, d.objid),
        0
    ) AS description
FROM pg_catalog.pg_depend AS d
LEFT JOIN pg_catalog.pg_rewrite AS r ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND r.oid = d.objid
LEFT JOIN pg_catalog.pg_proc AS p ON d.classid = 'pg_catalog.pg_proc'::regclass AND p.oid = d.objid
WHERE d.refclassid = 'pg_catalog.pg_proc'::regclass
    AND d.refobjid = $1::regprocedure
    AND d.deptype = 'n'
    AND (p.oid IS NULL OR (pg_catalog.pg_get_userbyid(p.proowner) <> 'kanon_owner' AND p.pronamespace <> 'kanon'::regnamespace AND p.oid NOT IN (
{% include "called_functions.sql" %}

)))
ORDER BY description
