-- What monitoring polls: declared tables and releases with classes of fewer than k people, counted now.
CREATE OR REPLACE VIEW kanon.violations (
    kind, -- table: declared with kanon_declare. release: published by kanon.
    relation, -- The table, or the view in schema safe.
    k, -- Fewest people that a class should have.
    k_from, -- Where k is from: the largest k of a release of the table, the protection of the table, or 2 by default.
    smallest_class, -- People in the smallest class.
    classes_at_risk, -- Classes of fewer than k people.
    people_at_risk, -- Different people in these classes, at least one if there are any.
    rows_at_risk, -- Rows in these classes.
    problem -- Why nothing could be counted; NULL if it was.
) AS
WITH known AS (
    SELECT d.relation, p.k AS protection_k,
        (SELECT pg_catalog.max(r.k) FROM kanon.release AS r WHERE r.relation::oid = d.relation::oid) AS release_k,
        d.quasi_identifiers, d.entity
    FROM kanon.declaration AS d
    INNER JOIN pg_catalog.pg_class AS c ON c.oid = d.relation::oid
    LEFT JOIN kanon.protection AS p ON p.relation::oid = d.relation::oid
),
counted AS (
    SELECT 'table' AS kind, known.relation::text AS relation, coalesce(greatest(known.release_k, known.protection_k), 2) AS k,
        CASE
            WHEN known.release_k >= coalesce(known.protection_k, 0) THEN 'release'
            WHEN known.protection_k IS NOT NULL THEN 'protection'
            ELSE 'default'
        END AS k_from,
        small.*
    FROM known
    CROSS JOIN LATERAL kanon_bases.small_classes(
        known.relation, known.quasi_identifiers, known.entity, coalesce(greatest(known.release_k, known.protection_k), 2),
        pg_catalog.has_table_privilege(known.relation::oid, 'SELECT')
    ) AS small
    UNION ALL
    SELECT 'release', pg_catalog.format('safe.%I', r.name), r.k, 'release', small.*
    FROM kanon.release AS r CROSS JOIN LATERAL kanon.small_release_classes(r.name) AS small
)
SELECT kind, relation, k, k_from, smallest_class, classes_at_risk, people_at_risk, rows_at_risk, problem FROM counted
WHERE classes_at_risk > 0 OR problem IS NOT NULL;
COMMENT ON VIEW kanon.violations IS 'Declared tables and releases with classes of fewer than k people, counted whenever it is read; no row for what is as it should be. Raw tables are expected here, releases (kind = ''release'') never.';
GRANT SELECT ON TABLE kanon.violations TO kanon_owner, kanon_curator;
