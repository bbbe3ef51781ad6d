-- What depends on a view or the type of its rows, as the server describes it.
-- $1 text
SELECT DISTINCT pg_catalog.pg_describe_object(
    CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_catalog.pg_class'::regclass END,
    coalesce(r.ev_class, d.objid),
    0
) AS description
FROM pg_catalog.pg_depend AS d
LEFT JOIN pg_catalog.pg_rewrite AS r ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND r.oid = d.objid
INNER JOIN pg_catalog.pg_class AS v
    ON (d.refclassid, d.refobjid) IN (
        ('pg_catalog.pg_class'::regclass, v.oid), ('pg_catalog.pg_type'::regclass, v.reltype)
    )
WHERE v.oid = $1::regclass AND d.deptype = 'n' AND r.ev_class IS DISTINCT FROM v.oid
ORDER BY 1
