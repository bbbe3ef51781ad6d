-- From which column of which table each column of a relation comes, unchanged: of a partition those of the partitioned
-- table; of a view or materialized view what its query takes over, as PostgreSQL noted when it was made. A query with
-- others inside it is not followed.
-- $1 bigint
WITH RECURSIVE origin (name, relation, place) AS (
    SELECT a.attname, a.attrelid, a.attnum
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT origin.name, next.relation, next.place
    FROM origin
    CROSS JOIN LATERAL (
        SELECT a.attrelid AS relation, a.attnum AS place
        FROM pg_catalog.pg_inherits AS i
        INNER JOIN pg_catalog.pg_class AS c ON c.oid = i.inhparent AND c.relkind = 'p'
        INNER JOIN pg_catalog.pg_attribute AS own ON own.attrelid = i.inhrelid AND own.attnum = origin.place
        INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.inhparent AND a.attname = own.attname
        WHERE i.inhrelid = origin.relation
        UNION ALL
        SELECT e.entry[2]::oid, e.entry[3]::smallint
        FROM pg_catalog.pg_rewrite AS r
        CROSS JOIN LATERAL pg_catalog.regexp_matches(
            r.ev_action::text, ':resno ([0-9]+) [^{}]*?:resorigtbl ([0-9]+) :resorigcol ([0-9]+)', 'g'
        ) AS e (entry)
        WHERE r.ev_class = origin.relation AND r.ev_type = '1' AND e.entry[1] = origin.place::text
            AND e.entry[2] <> '0' AND r.ev_action::text !~ ':querySource.*:querySource'
    ) AS next
)

SELECT DISTINCT ON (origin.name)
    origin.name::text AS name,
    origin.relation::bigint AS relation,
    a.attname::text AS origin
FROM origin
INNER JOIN pg_catalog.pg_class AS c ON c.oid = origin.relation AND c.relkind IN ('r', 'p', 'f') AND NOT c.relispartition
INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = origin.relation AND a.attnum = origin.place
ORDER BY origin.name
