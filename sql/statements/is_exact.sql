-- Whether a role is answered exactly by all of some protected relations. Roles that were dropped make nobody exact.
-- $1 bigint[]
-- $2 text
SELECT pg_catalog.bool_and(
    p.noise IS NULL
    OR EXISTS (
        SELECT
        FROM pg_catalog.unnest(p.exact_for) AS r (member)
        JOIN pg_catalog.pg_roles AS a ON a.oid = r.member::oid
        WHERE pg_catalog.pg_has_role($2::text::name, a.oid, 'MEMBER')
    )
) IS TRUE AS is_exact
FROM kanon.protection AS p
WHERE p.relation = ANY($1::bigint []::oid []::regclass [])
