-- The links, and whose people they lead to.
SELECT
    child::text AS child,
    parent::text AS parent,
    columns::text[] AS columns,
    foreign_key::text AS foreign_key,
    people::text AS people,
    person::text[] AS person,
    linked_by::text AS linked_by,
    pg_catalog.to_char(linked_at, 'YYYY-MM-DD HH24:MI:SS') AS linked_at
FROM kanon.links
ORDER BY 1
