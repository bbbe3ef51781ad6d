-- The tables that a chain of links leads to from a table, whether its foreign keys still hold or not.
CREATE OR REPLACE FUNCTION kanon.linked_above(relation regclass) RETURNS SETOF regclass
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE above (relation) AS (
        SELECT l.parent FROM kanon.link AS l WHERE l.child = linked_above.relation
        UNION
        SELECT l.parent FROM above AS a INNER JOIN kanon.link AS l ON l.child = a.relation
    )
    SELECT a.relation FROM above AS a;
END;
COMMENT ON FUNCTION kanon.linked_above IS 'Tables that links lead to from a table; called by kanon.grant_read.';
GRANT EXECUTE ON FUNCTION kanon.linked_above TO kanon_analyst;
