-- The links from a table to its people, in order; the last table has the columns that tell people apart. One row without
-- them if the links lead to nobody any more.
-- $1 bigint
WITH RECURSIVE way AS (
    SELECT 1 AS step, l.child, l.parent, l.columns, l.parent_columns, l.people, l.person
    FROM kanon.links AS l
    WHERE l.child = $1::bigint::oid::regclass
    UNION ALL
    SELECT w.step + 1, l.child, l.parent, l.columns, l.parent_columns, l.people, l.person
    FROM way AS w INNER JOIN kanon.links AS l ON l.child = w.parent AND w.people IS NOT NULL
)

SELECT
    w.columns::text[] AS columns,
    w.parent_columns::text[] AS parent_columns,
    w.parent::oid::bigint AS parent,
    w.person::text[] AS person
FROM way AS w
ORDER BY w.step
