-- What analysts may ask about. The names of columns are in PostgreSQL's catalog, and refusals say what each may be used for.
CREATE OR REPLACE VIEW kanon.queryable (
    relation, -- The table or view that answers queries.
    k, -- Fewest people behind every figure.
    people, -- The table whose people its rows are about: itself, or the one at the end of its links.
    parent, -- The table that it is linked to; NULL if it has the people itself.
    joined_by, -- Of the join with that: columns of its own, and the parent's column that each is equal to.
    columns -- Columns that queries may name: name, type, use (known, secret, or person: to be counted), bounds of values for noise.
) AS
SELECT p.relation, p.k, coalesce(l.people, p.relation) AS people, l.parent,
    pg_catalog.jsonb_object(l.columns::text[], l.parent_columns::text[]) AS joined_by,
    (
        SELECT pg_catalog.jsonb_agg(
            pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
                'name', a.attname, 'type', pg_catalog.format_type(a.atttypid, a.atttypmod), 'use', u.use,
                'bounds', p.noise -> 'bounds' -> a.attname::text
            ))
            ORDER BY a.attnum
        )
        FROM pg_catalog.pg_attribute AS a
        CROSS JOIN LATERAL (
            SELECT CASE
                WHEN a.attname = d.entity THEN 'person'
                WHEN a.attname = ANY (d.sensitive) THEN 'secret'
                WHEN a.attname = ANY (d.quasi_identifiers || d.insensitive) THEN 'known'
            END AS use
        ) AS u
        WHERE a.attrelid = p.relation::oid AND a.attnum > 0 AND NOT a.attisdropped AND u.use IS NOT NULL
    ) AS columns
FROM kanon.protection AS p
INNER JOIN pg_catalog.pg_class AS c ON c.oid = p.relation::oid
LEFT JOIN kanon.declaration AS d ON d.relation = p.relation
LEFT JOIN kanon.links AS l ON l.child = p.relation;
COMMENT ON VIEW kanon.queryable IS 'The tables that answer queries, and what their columns may be used for.';
GRANT SELECT ON TABLE kanon.queryable TO kanon_owner, kanon_curator, kanon_analyst;
