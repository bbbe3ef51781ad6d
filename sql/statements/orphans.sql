-- What no record in schema kanon names: views in schema safe, and the storage of releases and declarations. In
-- the order in which they can be dropped; `filled`: whether the release has rows, or its storage was never filled.
-- $1 text[]
WITH known AS (
    SELECT named.relation::oid AS oid
    FROM kanon.release AS r
    CROSS JOIN LATERAL pg_catalog.unnest(
        ARRAY[r.storage, r.mapping, r.parts, r.unknown, r.source, pg_catalog.to_regclass(pg_catalog.format('safe.%I', r.name))]
        || r.nodes
    ) AS named (relation)
    WHERE named.relation IS NOT NULL
    UNION ALL
    SELECT pg_catalog.unnest(ARRAY[s.current_rows, s.key_view, s.members, s.cohorts, s.departed, s.pending])
    FROM kanon.series AS s
    UNION ALL
    SELECT m.classes FROM kanon.remembered AS m
    UNION ALL
    SELECT pg_catalog.to_regclass(pg_catalog.format('kanon.%I', d.row_types_view))
    FROM kanon.declaration AS d
    WHERE d.row_types_view IS NOT NULL
    UNION ALL
    SELECT pg_catalog.to_regclass(pg_catalog.format('kanon_bases.%I', d.row_types_view))
    FROM kanon.declaration AS d
    WHERE d.row_types_view IS NOT NULL
)
SELECT
    pg_catalog.format('%I.%I', n.nspname, c.relname) AS relation,
    CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END AS kind,
    (n.nspname = 'safe') AS published,
    NOT EXISTS (
        SELECT
        FROM pg_catalog.pg_rewrite AS w
        JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
        JOIN pg_catalog.pg_class AS used ON d.refclassid = 'pg_catalog.pg_class'::regclass AND used.oid = d.refobjid
        WHERE w.ev_class = c.oid AND used.relkind = 'm' AND NOT used.relispopulated
    ) AND c.relispopulated AS filled
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname IN ('kanon', 'kanon_bases', 'safe') AND c.relkind IN ('r', 'v', 'm')
    AND NOT (n.nspname = 'kanon' AND c.relname = ANY($1))
    AND pg_catalog.pg_get_userbyid(c.relowner) ~ '^kanon_(owner|base_[0-9]+)$'
    AND c.oid NOT IN (SELECT k.oid FROM known AS k WHERE k.oid IS NOT NULL)
    -- nor what reads the storage of a release that is recorded, or says of which type the rows of a base are
    AND NOT EXISTS (
        SELECT
        FROM pg_catalog.pg_rewrite AS w
        JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
        JOIN pg_catalog.pg_class AS k ON (d.refclassid, d.refobjid) IN (('pg_catalog.pg_class'::regclass, k.oid), ('pg_catalog.pg_type'::regclass, k.reltype))
        JOIN known ON known.oid = k.oid
        WHERE w.ev_class = c.oid
    )
ORDER BY (n.nspname = 'safe') DESC, c.relkind = 'm' DESC, c.relkind = 'v' DESC, relation
