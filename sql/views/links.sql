-- Links between tables that still exist, and whose people they lead to.
CREATE OR REPLACE VIEW kanon.links (
    child, -- The table whose rows belong to somebody.
    parent, -- The table that its foreign key refers to.
    columns, -- Columns of the foreign key, by name.
    parent_columns, -- What each of them refers to.
    foreign_key, -- The foreign key; NULL if there is none any more that a link can rely on.
    people, -- The table whose people these are, at the end of the chain; NULL if it leads to nobody any more, and the child answers no queries then.
    person, -- Columns of that table that tell people apart.
    linked_by, -- Who linked it.
    linked_at -- When it was linked.
) AS
WITH RECURSIVE sound (child, parent, name) AS (
    SELECT l.child::oid, l.parent::oid, pg_catalog.min(f.name) FROM kanon.link AS l INNER JOIN (
{% include "foreign_keys" %}
    ) AS f ON f.child = l.child::oid AND f.parent = l.parent::oid
        AND f.columns = l.columns AND f.parent_columns = l.parent_columns
    WHERE f.validated AND f.nullable = '{}' AND NOT f.inherited GROUP BY l.child, l.parent
),
ends (oid, person) AS (
    SELECT d.relation::oid, k.person FROM kanon.declaration AS d
    CROSS JOIN LATERAL (
        SELECT pg_catalog.array_agg(a.attname ORDER BY a.attname) AS person FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = d.relation::oid AND NOT a.attisdropped AND CASE
            WHEN d.entity IS NOT NULL THEN a.attname = d.entity
            ELSE EXISTS (
                SELECT FROM pg_catalog.pg_index AS i
                WHERE i.indrelid = a.attrelid AND i.indisprimary AND i.indimmediate AND i.indisvalid
                    AND a.attnum = ANY (pg_catalog.string_to_array(i.indkey::text, ' ')::smallint[])
                    AND NOT EXISTS (
                        SELECT FROM pg_catalog.pg_class AS r INNER JOIN pg_catalog.pg_inherits AS h ON h.inhparent = r.oid
                        WHERE r.oid = a.attrelid AND r.relkind = 'r'
                    )
            )
        END
    ) AS k
    WHERE k.person IS NOT NULL AND NOT EXISTS (SELECT FROM kanon.link AS l WHERE l.child = d.relation)
),
ways (child, oid) AS (
    SELECT s.child, s.parent FROM sound AS s
    UNION
    SELECT w.child, s.parent FROM ways AS w INNER JOIN sound AS s ON s.child = w.oid
)
SELECT l.child, l.parent, l.columns, l.parent_columns, s.name AS foreign_key, e.oid::regclass AS people, e.person, l.linked_by,
    l.linked_at
FROM kanon.link AS l
INNER JOIN pg_catalog.pg_class AS c ON c.oid = l.child::oid
LEFT JOIN sound AS s ON s.child = l.child::oid
LEFT JOIN (ways AS w INNER JOIN ends AS e ON e.oid = w.oid) ON w.child = l.child::oid;
COMMENT ON VIEW kanon.links IS 'The tables whose rows belong to people of other tables.';
GRANT SELECT ON TABLE kanon.links TO kanon_owner, kanon_curator, kanon_reader;
