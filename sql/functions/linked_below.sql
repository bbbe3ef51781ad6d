-- The tables from which a chain of links leads to a table, whether its foreign keys still hold or not.
CREATE OR REPLACE FUNCTION kanon.linked_below(relation regclass) RETURNS SETOF regclass
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE below (relation) AS (
        SELECT l.child FROM kanon.link AS l WHERE l.parent = linked_below.relation
        UNION
        SELECT l.child FROM below AS b INNER JOIN kanon.link AS l ON l.parent = b.relation
    )
    SELECT b.relation FROM below AS b INNER JOIN pg_catalog.pg_class AS c ON c.oid = b.relation::oid
    WHERE b.relation <> linked_below.relation;
END;
COMMENT ON FUNCTION kanon.linked_below IS 'Tables from which links lead to a table; called by kanon_link and kanon_unlink.';
GRANT EXECUTE ON FUNCTION kanon.linked_below TO kanon_curator;
