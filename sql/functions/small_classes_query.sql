-- The statement that counts classes of fewer than $1 people, of all classes by some columns.
CREATE OR REPLACE FUNCTION kanon.small_classes_query(relation regclass, keys name[], person name)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    -- Who is in several small classes counts for each of them.
    SELECT pg_catalog.format(
        'SELECT min(size), count(*) FILTER (WHERE size < $1::integer), '
        'coalesce(sum(size) FILTER (WHERE size < $1::integer), 0)::bigint, '
        'coalesce(sum(n) FILTER (WHERE size < $1::integer), 0)::bigint '
        'FROM (SELECT %s AS size, count(*) AS n FROM %s AS r GROUP BY %s) AS class',
        CASE
            WHEN small_classes_query.person IS NULL THEN 'count(*)'
            ELSE pg_catalog.format('greatest(1, count(DISTINCT r.%I))', small_classes_query.person)
        END,
        -- not the type's text, which leaves out schemas on the search path
        (
            SELECT pg_catalog.format('%I.%I', n.nspname, c.relname)
            FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.oid = small_classes_query.relation
        ),
        (
            SELECT pg_catalog.string_agg(pg_catalog.format('r.%I', key), ', ')
            FROM pg_catalog.unnest(small_classes_query.keys) AS k (key)
        )
    );
END;
ALTER FUNCTION kanon.small_classes_query OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.small_classes_query FROM PUBLIC;
COMMENT ON FUNCTION kanon.small_classes_query IS
'The statement that counts small classes of a relation; called by kanon.small_classes.';
GRANT EXECUTE ON FUNCTION kanon.small_classes_query TO kanon_owner;
