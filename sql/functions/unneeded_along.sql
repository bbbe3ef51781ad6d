-- What readers may read, as kanon granted it, that no link and no release of linked tables needs any more.
CREATE OR REPLACE FUNCTION kanon.unneeded_along() RETURNS TABLE (reader integer, relation regclass)
LANGUAGE sql STABLE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT g.reader, g.relation FROM kanon.granted_along AS g
    LEFT JOIN kanon.base AS b ON b.reader = g.reader
    WHERE NOT EXISTS (SELECT FROM kanon.linked_above(b.relation) AS a (relation) WHERE a.relation = g.relation)
        AND NOT EXISTS (
            SELECT FROM kanon.release_table AS t INNER JOIN kanon.release AS r ON r.name = t.release
            WHERE r.relation = b.relation AND t.relation = g.relation
        );
END;
COMMENT ON FUNCTION kanon.unneeded_along IS 'Tables that readers may read for nothing any more; called by kanon.revoke_read_along.';
GRANT EXECUTE ON FUNCTION kanon.unneeded_along TO kanon_analyst;
