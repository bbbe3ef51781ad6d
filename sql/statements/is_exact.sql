-- Whether a role is answered exactly by some protected relations, and by all others about the same people. Roles that were
-- dropped make nobody exact.
-- $1 bigint[]
-- $2 bigint[]
-- $3 text
SELECT pg_catalog.bool_and(EXISTS (
    SELECT
    FROM pg_catalog.unnest(p.exact_for) AS r (member)
    JOIN pg_catalog.pg_roles AS a ON a.oid = r.member::oid
    WHERE pg_catalog.pg_has_role($3::text::name, a.oid, 'MEMBER')
)) IS NOT FALSE AS is_exact
FROM kanon.protection AS p
WHERE p.noise IS NOT NULL AND (
    p.relation::oid::bigint = ANY($1::bigint [])
    OR p.relation::oid::bigint = ANY($2::bigint [])
    OR EXISTS (
        SELECT FROM kanon.links AS l WHERE l.child = p.relation AND l.people::oid::bigint = ANY($2::bigint [])
    )
)
