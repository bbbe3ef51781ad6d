-- Writes a hierarchy given as a JSON list of lists: a value, then its nodes from level 1.
-- $1 text
INSERT INTO {{ table }} (value, nodes)
SELECT
    r.cells ->> 0,
    ARRAY(
        SELECT n.node
        FROM pg_catalog.jsonb_array_elements_text(r.cells) WITH ORDINALITY AS n (node, place)
        WHERE n.place > 1
        ORDER BY n.place
    )
FROM pg_catalog.jsonb_array_elements($1::text::jsonb) AS r (cells)
