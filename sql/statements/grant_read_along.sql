-- Lets readers of a table, and of those linked to it, read what its new link leads to, if the caller may allow it.
-- $1 bigint
-- $2 bigint
SELECT kanon.grant_read_along(
    t.relation,
    $2::bigint::oid::regclass
    || ARRAY(SELECT a.relation FROM kanon.linked_above($2::bigint::oid::regclass) AS a (relation)),
    false
)::text AS granted
FROM (
    SELECT $1::bigint::oid::regclass AS relation
    UNION ALL
    SELECT b.relation FROM kanon.linked_below($1::bigint::oid::regclass) AS b (relation)
) AS t
