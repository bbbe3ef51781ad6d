"""A picture of everything in a database that an installation could leave behind."""

import psycopg

_OBJECTS = """
    SELECT pg_describe_object(classid, oid, 0) || ' owned by ' || pg_get_userbyid(owner) || ' ' || coalesce((
        SELECT string_agg(pg_get_userbyid(a.grantee) || ' ' || a.privilege_type || ' ' || a.is_grantable, ', '
            ORDER BY pg_get_userbyid(a.grantee), a.privilege_type)
        FROM aclexplode(coalesce(acl, acldefault(kind, owner))) AS a
    ), 'nobody')
    FROM (
        SELECT 'pg_class'::regclass AS classid, oid, relowner AS owner, relacl AS acl,
            CASE WHEN relkind = 'S' THEN 's' ELSE 'r' END::"char" AS kind
        FROM pg_class WHERE oid >= 16384 AND relnamespace <> 'pg_toast'::regnamespace
        UNION ALL SELECT 'pg_namespace'::regclass, oid, nspowner, nspacl, 'n' FROM pg_namespace
            WHERE nspname !~ '^pg_(toast_)?temp_'
        UNION ALL SELECT 'pg_proc'::regclass, oid, proowner, proacl, 'f' FROM pg_proc
            WHERE oid >= 16384 AND pronamespace <> pg_my_temp_schema()
        UNION ALL SELECT 'pg_type'::regclass, oid, typowner, typacl, 'T' FROM pg_type WHERE oid >= 16384
        UNION ALL SELECT 'pg_language'::regclass, oid, lanowner, lanacl, 'l' FROM pg_language
            WHERE oid >= 16384
        UNION ALL SELECT 'pg_database'::regclass, oid, datdba, datacl, 'd' FROM pg_database
            WHERE datname = current_database()
    ) AS found
"""

_REST = """
    SELECT 'extension ' || extname FROM pg_extension
    UNION ALL SELECT 'role ' || rolname || ' ' || rolsuper || rolcanlogin FROM pg_roles
    UNION ALL SELECT 'member ' || pg_get_userbyid(member) || ' of ' || pg_get_userbyid(roleid)
        FROM pg_auth_members
    UNION ALL SELECT 'default privileges ' || pg_get_userbyid(defaclrole) || defaclacl::text
        FROM pg_default_acl
    UNION ALL SELECT 'description of ' || pg_describe_object(classoid, objoid, objsubid) FROM pg_description
        WHERE objoid >= 16384
    UNION ALL SELECT 'initial rights on ' || coalesce(pg_describe_object(classoid, objoid, objsubid), '?')
        FROM pg_init_privs WHERE objoid >= 16384 AND classoid <> 'pg_database'::regclass
"""
# From PostgreSQL 16 on, what an extension's script revokes on its database is kept as an initial right, too.
# That one changes nothing: pg_dump does not read it, and it goes with the database.


def picture(connection: psycopg.Connection) -> set[str]:
    """Return one line per object with owner and effective privileges, and per role and membership."""
    lines = connection.execute(_OBJECTS).fetchall() + connection.execute(_REST).fetchall()
    return {line for (line,) in lines}
