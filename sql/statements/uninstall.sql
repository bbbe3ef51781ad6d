-- name: foreign_dependents(text[]): Objects of others that would be lost with the installation: what they are, as the server
-- describes them.
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
    WHERE n.nspname IN ('kanon', 'kanon_bases', 'kanon_shown', 'safe') OR p.oid IN (
{% include "called_functions" %}
)
),
dependents AS (
    SELECT CASE WHEN r.oid IS NULL THEN d.classid ELSE 'pg_catalog.pg_class'::regclass END AS classid,
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
            SELECT FROM pg_catalog.pg_namespace AS n
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

-- name: orphans(text[]): What no record in schema kanon names: views in schema safe, and the storage of releases and
-- declarations. In the order in which they can be dropped; `filled`: whether the release has rows, or its storage was never
-- filled.
WITH known AS (
    SELECT named.relation::oid AS oid FROM kanon.release AS r
    CROSS JOIN LATERAL pg_catalog.unnest(
        ARRAY[
            r.storage, r.mapping, r.parts, r.unknown, r.source, r.people_view,
            pg_catalog.to_regclass(pg_catalog.format('safe.%I', r.name))
        ]
        || r.nodes
    ) AS named (relation)
    WHERE named.relation IS NOT NULL
    UNION ALL
    SELECT named.relation::oid FROM kanon.release_table AS t
    CROSS JOIN LATERAL pg_catalog.unnest(
        ARRAY[t.storage, t.source, pg_catalog.to_regclass(pg_catalog.format('safe.%I', t.name))]
    ) AS named (relation)
    WHERE named.relation IS NOT NULL
    UNION ALL
    SELECT pg_catalog.unnest(ARRAY[s.current_rows, s.key_view, s.members, s.cohorts, s.departed, s.pending])
    FROM kanon.series AS s
    UNION ALL
    SELECT m.classes FROM kanon.remembered AS m
    UNION ALL
    SELECT pg_catalog.to_regclass(pg_catalog.format('kanon.%I', d.row_types_view)) FROM kanon.declaration AS d
    WHERE d.row_types_view IS NOT NULL
    UNION ALL
    SELECT pg_catalog.to_regclass(pg_catalog.format('kanon_bases.%I', d.row_types_view)) FROM kanon.declaration AS d
    WHERE d.row_types_view IS NOT NULL
)
SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS relation,
    CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END AS kind,
    (n.nspname = 'safe') AS published,
    NOT EXISTS (
        SELECT FROM pg_catalog.pg_rewrite AS w
        JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
        JOIN pg_catalog.pg_class AS used ON d.refclassid = 'pg_catalog.pg_class'::regclass AND used.oid = d.refobjid
        WHERE w.ev_class = c.oid AND used.relkind = 'm' AND NOT used.relispopulated
    ) AND c.relispopulated AS filled
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname IN ('kanon', 'kanon_bases', 'safe') AND c.relkind IN ('r', 'v', 'm')
    AND NOT (n.nspname = 'kanon' AND c.relname = ANY($1))
    AND pg_catalog.pg_get_userbyid(c.relowner) ~ '^kanon_(owner|base_[0-9]+)$'
    AND c.oid NOT IN (SELECT k.oid FROM known AS k WHERE k.oid IS NOT NULL)
    -- nor what reads the storage of a release that is recorded, or says of which type the rows of a base are
    AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_rewrite AS w
        JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
        JOIN pg_catalog.pg_class AS k ON (d.refclassid, d.refobjid) IN (('pg_catalog.pg_class'::regclass, k.oid), ('pg_catalog.pg_type'::regclass, k.reltype))
        JOIN known ON known.oid = k.oid
        WHERE w.ev_class = c.oid
    )
ORDER BY (n.nspname = 'safe') DESC, c.relkind = 'm' DESC, c.relkind = 'v' DESC, relation

-- name: drop_orphan(): Drops a relation that no record names, unless something else uses it.
DROP {{ kind }} IF EXISTS {{ relation }}

-- name: release_names(): Names of all releases: of the views in schema safe, whatever is recorded.
SELECT c.relname::text AS release
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'safe' AND c.relkind = 'v' AND pg_catalog.pg_get_userbyid(c.relowner) = 'kanon_owner' ORDER BY release

-- name: reader_roles(): The roles of readers.
SELECT r.rolname::text AS role FROM pg_catalog.pg_roles AS r
WHERE r.rolname ~ '^kanon_base_[0-9]+$'
ORDER BY pg_catalog.substring(r.rolname, '[0-9]+$')::integer

-- name: drop_role(): Drops a role that no database uses.
DROP ROLE IF EXISTS {{ role }}

-- name: drop_schema(): Drops an empty schema.
DROP SCHEMA IF EXISTS {{ schema }} RESTRICT

-- name: drop_function_cascade(): Drops a function with all that uses it; `function` is a regprocedure's own text.
DROP FUNCTION {{ function }} CASCADE

-- name: count_records(): How many records of answers there are.
SELECT count(*) AS records FROM kanon.record

-- name: database_number(): The database's number, which names the folder of its records.
SELECT d.oid::bigint AS database FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()
