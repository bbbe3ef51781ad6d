-- name: create_safe_view(): What analysts read: no ctid, no xmin, and which cells were suppressed. A version of a release over
-- time is not for the transaction that builds it: what it read and then rolled back, the next version would not know.
CREATE OR REPLACE VIEW {{ view }} AS
SELECT
    {% for name in published %}{{ name }}, {% endfor %}
    pg_catalog.array_remove(ARRAY[
{% for q in columns %}
        CASE WHEN {{ q.is_suppressed }} THEN {{ q.label }}::name END{% if not loop.last %},{% endif %}
{% endfor %}
    ], NULL) AS kanon_suppressed
FROM {{ storage }}
{% if unseen_by %}WHERE (SELECT pg_catalog.pg_current_xact_id_if_assigned()) IS DISTINCT FROM {{ unseen_by }}::xid8{% endif %}

-- name: drop_safe_view(): Drops the view that analysts read.
DROP VIEW {{ view }}

-- name: comment_view(): Says what a release is.
COMMENT ON VIEW {{ view }} IS {{ comment }}

-- name: lock_views(): Keeps readers out of a release for the moment of the swap.
LOCK TABLE {% for view in views %}{{ view }}{% if not loop.last %}, {% endif %}{% endfor %} IN ACCESS EXCLUSIVE MODE

-- name: fetch_grants(text): Who may read a view besides its owner: all of it, or a column. PUBLIC is NULL.
SELECT g.rolname::text AS role, a.is_grantable AS grantable, NULL::text AS column_name
FROM pg_catalog.pg_class AS c
CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
LEFT JOIN pg_catalog.pg_roles AS g ON g.oid = a.grantee
WHERE c.oid = $1::regclass AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner
UNION
SELECT g.rolname::text, a.is_grantable, t.attname::text
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_attribute AS t ON t.attrelid = c.oid AND NOT t.attisdropped
CROSS JOIN LATERAL pg_catalog.aclexplode(t.attacl) AS a
LEFT JOIN pg_catalog.pg_roles AS g ON g.oid = a.grantee
WHERE c.oid = $1::regclass AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner

-- name: grant_select(): Lets a role read a relation, or a column of it.
GRANT SELECT{% if column %} ({{ column }}){% endif %} ON {{ relation }} TO {{ role }}{% if grantable %} WITH GRANT OPTION{% endif %}

-- name: revoke_select(): Takes the right to read a relation from a role.
REVOKE SELECT ON {{ relation }} FROM {{ role }}

-- name: view_exists(text): Whether something has a name in schema safe.
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class AS c WHERE c.relname = $1::text::name AND c.relnamespace = 'safe'::regnamespace
) AS exists
