-- name: fetch_protection(bigint): The rules of a relation, or of the nearest protected table whose partition or inheritance child
-- it is.
WITH RECURSIVE up (oid, distance) AS (
    SELECT $1::bigint::oid, 0
    UNION ALL
    SELECT i.inhparent, up.distance + 1 FROM up JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = up.oid
)
SELECT p.relation::oid::bigint AS relation, p.k, p.mode, p.queries, p.refusals, p.seconds, p.rows, p.beside_releases,
    coalesce(p.noise, 'null')::text AS noise,
    pg_catalog.to_json(ARRAY(SELECT pg_catalog.pg_get_userbyid(r.member::oid) FROM pg_catalog.unnest(p.exact_for) AS r (member)))::text AS exact_for
FROM up JOIN kanon.protection AS p ON p.relation = up.oid::regclass ORDER BY up.distance, p.k DESC LIMIT 1

-- name: store_protection(bigint, text, text): Records or replaces the rules under which a relation answers queries; the rules are
-- one JSON object.
INSERT INTO kanon.protection AS p (
    relation, k, mode, queries, refusals, seconds, rows, beside_releases, noise, exact_for, protected_by
)
SELECT $1::bigint::oid::regclass, r.k, r.mode, r.queries, r.refusals, r.seconds, r.rows, r.beside_releases, r.noise,
    r.exact_for, $3::text::name
FROM pg_catalog.jsonb_populate_record(NULL::kanon.protection, $2::text::jsonb) AS r
ON CONFLICT (relation) DO UPDATE SET
    k = excluded.k, mode = excluded.mode, queries = excluded.queries, refusals = excluded.refusals, seconds = excluded.seconds,
    rows = excluded.rows, beside_releases = excluded.beside_releases, noise = excluded.noise, exact_for = excluded.exact_for,
    protected_by = excluded.protected_by, protected_at = pg_catalog.now()

-- name: forget_protection(bigint): Removes the rules under which a relation answers queries.
DELETE FROM kanon.protection WHERE relation = $1::bigint::oid::regclass RETURNING k

-- name: is_protected(bigint): Whether a relation answers queries.
SELECT EXISTS (SELECT FROM kanon.protection AS p WHERE p.relation = $1::bigint::oid::regclass) AS protected

-- name: missing_roles(text[]): The names among some that no role has.
SELECT n.name FROM pg_catalog.unnest($1::text []) AS n (name)
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS a WHERE a.rolname = n.name)

-- name: is_exact(bigint[], bigint[], text): Whether a role is answered exactly by some protected relations, and by all others
-- about the same people. Roles that were dropped make nobody exact.
SELECT pg_catalog.bool_and(EXISTS (
    SELECT FROM pg_catalog.unnest(p.exact_for) AS r (member) JOIN pg_catalog.pg_roles AS a ON a.oid = r.member::oid
    WHERE pg_catalog.pg_has_role($3::text::name, a.oid, 'MEMBER')
)) IS NOT FALSE AS is_exact
FROM kanon.protection AS p
WHERE p.noise IS NOT NULL AND (
    p.relation::oid::bigint = ANY($1::bigint []) OR p.relation::oid::bigint = ANY($2::bigint [])
    OR EXISTS (SELECT FROM kanon.links AS l WHERE l.child = p.relation AND l.people::oid::bigint = ANY($2::bigint []))
)

-- name: protected_names(): Names of the relations that queries may be about.
SELECT pg_catalog.array_agg(p.name::text) AS names FROM kanon.protected_names AS p

-- name: gateway_rights(): Whether kanon_pg with its functions for queries is here, and whether the role may read the names of
-- protected relations.
SELECT
    pg_catalog.bool_or(c.relname = 'protected_names') AND EXISTS (
        SELECT FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS s ON s.oid = p.pronamespace
        WHERE s.nspname = 'kanon' AND p.proname = 'answer_blocks'
    ) AS is_installed,
    pg_catalog.bool_and(
        pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
    ) AS is_permitted,
    current_user::text AS role
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'kanon' AND c.relname = 'protected_names'

-- name: readers_beside_queries(bigint, text): Relations that refuse releases beside queries, of which a release is to be
-- published, with somebody who may query but not read the relation, and may read the release: by the rights on its view or,
-- before there is one, by those on new views.
WITH RECURSIVE above (relation) AS (
    SELECT $1::bigint::oid
    UNION
    SELECT i.inhparent FROM above AS a INNER JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = a.relation
)
SELECT pg_catalog.format('%I.%I', bn.nspname, b.relname) AS relation, $2::text AS release, p.beside_releases AS rule,
    min(reader.rolname::text) AS reader
FROM above AS a
INNER JOIN kanon.protection AS p ON p.relation::oid = a.relation AND p.beside_releases = 'refuse'
INNER JOIN pg_catalog.pg_class AS b ON b.oid = a.relation
INNER JOIN pg_catalog.pg_namespace AS bn ON bn.oid = b.relnamespace
LEFT JOIN pg_catalog.pg_class AS v ON v.relname = $2::text::name AND v.relnamespace = 'safe'::regnamespace
INNER JOIN pg_catalog.pg_roles AS reader
    ON reader.rolname !~ '^pg_' AND pg_catalog.pg_has_role(reader.oid, 'kanon_analyst', 'USAGE')
    AND NOT pg_catalog.has_table_privilege(reader.oid, b.oid, 'SELECT')
    AND CASE
        WHEN v.oid IS NOT NULL THEN pg_catalog.has_table_privilege(reader.oid, v.oid, 'SELECT')
        ELSE EXISTS (
            SELECT FROM pg_catalog.pg_default_acl AS d CROSS JOIN LATERAL pg_catalog.aclexplode(d.defaclacl) AS granted
            WHERE d.defaclrole = 'kanon_owner'::regrole
                AND d.defaclnamespace IN (0::oid, 'safe'::regnamespace) AND d.defaclobjtype = 'r'
                AND granted.privilege_type = 'SELECT'
                AND (granted.grantee = 0::oid OR pg_catalog.pg_has_role(reader.oid, granted.grantee, 'USAGE'))
        )
    END
GROUP BY bn.nspname, b.relname, p.beside_releases ORDER BY bn.nspname, b.relname

-- name: releases_beside_queries(bigint, text): Releases of relations that answer queries, or of their partitions, which somebody
-- may read who may query but not read the relation itself; with the rule for that. Either of the parameters chooses, NULL any.
WITH RECURSIVE covered (protected, relation) AS (
    SELECT p.relation::oid, p.relation::oid FROM kanon.protection AS p
    UNION
    SELECT c.protected, i.inhrelid FROM covered AS c INNER JOIN pg_catalog.pg_inherits AS i ON i.inhparent = c.relation
)
SELECT pg_catalog.format('%I.%I', bn.nspname, b.relname) AS relation, r.name AS release, p.beside_releases AS rule,
    min(reader.rolname::text) AS reader
FROM covered AS c
INNER JOIN kanon.protection AS p ON p.relation::oid = c.protected
INNER JOIN (
    SELECT f.name AS release, f.name, f.relation FROM kanon.release AS f
    UNION ALL
    SELECT t.release, t.name, t.relation FROM kanon.release_table AS t
) AS r ON r.relation::oid = c.relation
INNER JOIN pg_catalog.pg_class AS b ON b.oid = c.protected
INNER JOIN pg_catalog.pg_namespace AS bn ON bn.oid = b.relnamespace
INNER JOIN pg_catalog.pg_class AS v ON v.relname = r.name::name AND v.relnamespace = 'safe'::regnamespace
INNER JOIN pg_catalog.pg_roles AS reader
    ON reader.rolname !~ '^pg_' AND pg_catalog.pg_has_role(reader.oid, 'kanon_analyst', 'USAGE')
    AND NOT pg_catalog.has_table_privilege(reader.oid, b.oid, 'SELECT')
    AND pg_catalog.has_table_privilege(reader.oid, v.oid, 'SELECT')
WHERE ($1::bigint IS NULL OR c.protected = $1::bigint::oid) AND ($2::text IS NULL OR r.release = $2::text)
GROUP BY bn.nspname, b.relname, r.name, p.beside_releases ORDER BY p.beside_releases <> 'refuse', r.name

-- name: queryable(): What may be asked about.
SELECT q.relation::text AS relation, q.k, q.people::text AS people, q.parent::text AS parent, q.joined_by::text AS joined_by,
    coalesce(q.columns, '[]')::text AS columns
FROM kanon.queryable AS q ORDER BY q.relation::text

-- name: more_than_calculating(text[]): Names among some of functions that may write, wait, ask a query or run a text. Of those that
-- call themselves stable PostgreSQL's own are believed, but for those that read the tables whose names they get: those of extensions
-- run texts, too.
SELECT DISTINCT p.proname::text AS name FROM pg_catalog.pg_proc AS p
WHERE p.proname = ANY($1::text []::name [])
    AND (
        p.provolatile = 'v'
        OR (p.provolatile = 's' AND (p.pronamespace <> 'pg_catalog'::regnamespace OR p.proname ~ '_to_xml'))
    )
ORDER BY 1

-- name: beyond_asking(): What the login may do beyond asking, in any role that it can take: none of it is for a program that asks
-- what a model writes. A few of all that there is.
WITH RECURSIVE roles AS (
    SELECT r.* FROM pg_catalog.pg_roles AS r WHERE pg_catalog.pg_has_role(SESSION_USER, r.oid, 'MEMBER')
),
people (oid) AS (
    SELECT u.relation::oid FROM kanon.queryable AS q
    CROSS JOIN LATERAL (VALUES (q.relation), (q.parent), (q.people)) AS u (relation)
    UNION
    -- who may read a parent reads the rows of its children
    SELECT u.oid FROM people AS p INNER JOIN pg_catalog.pg_inherits AS i ON p.oid IN (i.inhparent, i.inhrelid)
    CROSS JOIN LATERAL (VALUES (i.inhparent), (i.inhrelid)) AS u (oid)
)
SELECT pg_catalog.format('%I %s', r.rolname, w.what) AS what
FROM roles AS r
CROSS JOIN LATERAL (
    VALUES
    (1, r.rolsuper, 'is a superuser'), (2, r.rolcreaterole, 'may create roles'),
    (2, r.rolreplication, 'may copy the server''s files'), (2, r.rolbypassrls, 'passes policies of rows'),
    (3, r.rolname ~ '^(pg_|kanon_(owner|curator|reader|base_))', 'is more than an analyst')
) AS w (rank, is_so, what)
WHERE w.is_so
UNION ALL
SELECT pg_catalog.format('%I may read %s', r.rolname, p.oid::regclass)
FROM people AS p INNER JOIN pg_catalog.pg_class AS c ON c.oid = p.oid
INNER JOIN roles AS r ON r.oid = c.relowner OR pg_catalog.has_any_column_privilege(r.oid, c.oid, 'SELECT')
LIMIT 3
