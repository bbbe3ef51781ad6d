-- name: policy_name(bigint): The name of a relation as policies write it.
SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name
FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = $1::bigint::oid

-- name: policy_tables(): The declared roles of columns, by table.
SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, d.identifiers::text[] AS identifiers,
    d.quasi_identifiers::text[] AS quasi_identifiers, d.sensitive::text[] AS sensitive, d.insensitive::text[] AS insensitive,
    d.entity::text AS entity, d.weights::text AS weights
FROM kanon.declarations AS d
INNER JOIN pg_catalog.pg_class AS c ON c.oid = d.relation::oid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace ORDER BY 1

-- name: policy_links(): The links, by table.
SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, pg_catalog.format('%I.%I', pn.nspname, p.relname) AS parent,
    l.columns::text[] AS columns
FROM kanon.links AS l
INNER JOIN pg_catalog.pg_class AS c ON c.oid = l.child::oid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
INNER JOIN pg_catalog.pg_class AS p ON p.oid = l.parent::oid
INNER JOIN pg_catalog.pg_namespace AS pn ON pn.oid = p.relnamespace ORDER BY 1

-- name: policy_hierarchies(): The stored hierarchies by name, with what they were made with, and the table if that is there.
SELECT h.hierarchy AS name, h.kind, h.spec::text AS spec, h.output, h.description, h.shared,
    (
        SELECT pg_catalog.format('%I.%I', n.nspname, c.relname)
        FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        -- not by a cast, which a text that is no name would end
        WHERE h.spec ->> 'table' = pg_catalog.format(
            '"%s"."%s"', pg_catalog.replace(n.nspname, '"', '""'), pg_catalog.replace(c.relname, '"', '""')
        )
    ) AS "table"
FROM kanon.hierarchies AS h ORDER BY h.hierarchy

-- name: policy_releases(): The releases whose tables are there, by name: arguments and what the columns are.
SELECT r.release AS name, pg_catalog.format('%I.%I', n.nspname, c.relname) AS "table", r.parameters::text AS parameters,
    r.quasi_identifiers::text[] AS quasi_identifiers, r.sensitive::text[] AS sensitive, r.insensitive::text[] AS insensitive,
    r.entity::text AS entity
FROM kanon.releases AS r
INNER JOIN pg_catalog.pg_class AS c ON c.oid = r.base::oid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace ORDER BY r.release

-- name: policy_protections(): The tables that answer queries, with their rules as one JSON object.
SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name,
    (
        pg_catalog.to_jsonb(p) - ARRAY['relation', 'protected_by', 'protected_at']
        || pg_catalog.jsonb_build_object(
            'exact_for', ARRAY(SELECT pg_catalog.pg_get_userbyid(r.member::oid) FROM pg_catalog.unnest(p.exact_for) AS r (member))
        )
    )::text AS rules
FROM kanon.protections AS p
INNER JOIN pg_catalog.pg_class AS c ON c.oid = p.relation::oid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace ORDER BY 1

-- name: policy_grants(): Which roles may look into schema safe, may read what comes into it, and may read each release.
SELECT g.scope, g.release, g.role
FROM (
    SELECT 'schema' AS scope, NULL::text AS release, a.grantee, n.nspowner AS owner, a.privilege_type,
        CASE WHEN a.grantee = 0::oid THEN 'public' ELSE pg_catalog.pg_get_userbyid(a.grantee)::text END AS role
    FROM pg_catalog.pg_namespace AS n CROSS JOIN LATERAL pg_catalog.aclexplode(n.nspacl) AS a WHERE n.nspname = 'safe'
    UNION ALL
    SELECT 'new_releases', NULL, a.grantee, d.defaclrole, a.privilege_type,
        CASE WHEN a.grantee = 0::oid THEN 'public' ELSE pg_catalog.pg_get_userbyid(a.grantee)::text END
    FROM pg_catalog.pg_default_acl AS d CROSS JOIN LATERAL pg_catalog.aclexplode(d.defaclacl) AS a
    WHERE d.defaclrole = 'kanon_owner'::regrole AND d.defaclnamespace = 'safe'::regnamespace AND d.defaclobjtype = 'r'
    UNION ALL
    SELECT 'release', r.release, a.grantee, c.relowner, a.privilege_type,
        CASE WHEN a.grantee = 0::oid THEN 'public' ELSE pg_catalog.pg_get_userbyid(a.grantee)::text END
    FROM (
        SELECT r.release, r.view FROM kanon.releases AS r
        UNION ALL
        SELECT c.relname::text, t.view FROM kanon.release_tables AS t INNER JOIN pg_catalog.pg_class AS c ON c.oid = t.view::oid
    ) AS r
    INNER JOIN pg_catalog.pg_class AS c ON c.oid = r.view::oid
    CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
) AS g
WHERE g.grantee <> g.owner AND g.privilege_type IN ('SELECT', 'USAGE') ORDER BY g.scope, g.release, g.role

-- name: policy_grant(): Gives a role a right in schema safe, or takes it.
{% if default %}ALTER DEFAULT PRIVILEGES FOR ROLE kanon_owner IN SCHEMA safe {% endif %}
{{ verb }} {{ what }} {{ preposition }} {{ role }}
