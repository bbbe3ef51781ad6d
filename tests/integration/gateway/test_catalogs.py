"""Catalog queries in the manner of graphical tools and drivers: they are the server's."""

import psycopg
import pytest

AS_TOOLS_ASK = {
    "session": """
        select current_schema(), session_user, version(), pg_backend_pid(),
        current_setting('server_version')
    """,
    "settings": """
        select set_config('bytea_output', 'hex', false) from pg_show_all_settings() where name =
        'bytea_output'
    """,
    "schemas": """
        select n.oid, n.*, d.description from pg_catalog.pg_namespace as n left outer join
        pg_catalog.pg_description as d on d.objoid = n.oid and d.classoid = 'pg_namespace'::regclass order
        by nspname
    """,
    "relations": """
        select c.oid, c.*, pg_catalog.pg_get_expr(c.relpartbound, c.oid),
        pg_catalog.pg_get_partkeydef(c.oid) from pg_catalog.pg_class as c where c.relnamespace =
        'public'::regnamespace and c.relkind not in ('i', 'I', 'c')
    """,
    "columns": """
        select c.relname, a.*, pg_catalog.pg_get_expr(f.adbin, f.adrelid, true) as def, p.objid from
        pg_catalog.pg_attribute as a inner join pg_catalog.pg_class as c on (a.attrelid = c.oid) left
        outer join pg_catalog.pg_attrdef as f on (a.attrelid = f.adrelid and a.attnum = f.adnum) left
        outer join pg_depend as p on p.refobjid = a.attrelid and p.deptype = 'i' and p.refobjsubid =
        a.attnum where not a.attisdropped and c.oid = 'patients'::regclass order by a.attnum
    """,
    "indexes": """
        select i.*, i.indkey as keys, c.relname, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true) from
        pg_catalog.pg_index as i join pg_catalog.pg_class as c on c.oid = i.indexrelid where i.indrelid =
        'wards'::regclass
    """,
    "constraints": """
        select c.oid, c.*, t.relname, pg_catalog.pg_get_constraintdef(c.oid) from pg_catalog.pg_constraint
        as c join pg_catalog.pg_class as t on t.oid = c.conrelid where t.relname in ('patients', 'wards')
    """,
    "types": """
        select t.oid, t.*, c.relkind, pg_catalog.format_type(nullif(t.typbasetype, 0), t.typtypmod) as
        base from pg_catalog.pg_type as t left outer join pg_catalog.pg_class as c on c.oid = t.typrelid
        where t.typname is not null and (c.relkind is null or c.relkind = 'c') order by t.oid
    """,
    "types of a driver": """
        select ns.nspname, t.oid, case when p.proname = 'array_recv' then 'a' else t.typtype end from
        pg_type as t join pg_namespace as ns on (ns.oid = t.typnamespace) left join pg_class as c on
        (c.oid = t.typrelid) left join pg_proc as p on p.oid = t.typreceive left join pg_range on
        (pg_range.rngtypid = t.oid) where t.typtype in ('b', 'r', 'm', 'e', 'd')
    """,
    "recursion": """
        with recursive parents (oid, depth) as (select i.inhparent, 1 from pg_inherits as i union all
        select i.inhparent, p.depth + 1 from parents as p join pg_inherits as i on i.inhrelid = p.oid)
        select * from parents
    """,
    "keys": """
        select kcu.column_name from information_schema.table_constraints as tc join
        information_schema.key_column_usage as kcu using (constraint_schema, constraint_name) where
        tc.constraint_type = 'PRIMARY KEY'
    """,
    "arrays": """
        select unnest(array['a', 'b']) as x, array_to_string(array_agg(n.nspname), ',') from pg_namespace
        as n
    """,
    "rights": """
        select has_table_privilege('wards', 'select'), has_schema_privilege(n.oid, 'usage') from
        pg_namespace as n
    """,
    "roles": """
        select r.oid, r.rolname, r.rolsuper from pg_catalog.pg_roles as r where rolname = current_user
    """,
    "columns with comments, by joins that took minutes": """
        select n.oid, relname, relpages, a.attname, t.typname, tn.nspname, d.description from pg_class join
        pg_namespace as n on relnamespace = n.oid join pg_attribute as a on pg_class.oid = a.attrelid join
        pg_type as t on a.atttypid = t.oid join pg_namespace as tn on t.typnamespace = tn.oid left join
        pg_description as d on d.objoid = pg_class.oid and d.objsubid = a.attnum where a.attnum > 0 and
        relkind in ('r', 'v', 'm', 'f', 'p') order by n.oid, relname, a.attnum
    """,
    "fields of row types, by joins that took minutes": """
        select n.oid, t.typrelid, t.typname, a.attname, s.typname, sn.nspname from pg_type as t join
        pg_namespace as n on n.oid = t.typnamespace join pg_class as c on c.oid = t.typrelid join
        pg_attribute as a on a.attrelid = t.typrelid join pg_type as s on a.atttypid = s.oid join
        pg_namespace as sn on sn.oid = s.typnamespace where t.typtype = 'c' and a.attnum > 0
    """,
    "extensions": """
        select e.extname, e.extversion, n.nspname from pg_extension as e join pg_namespace as n on n.oid =
        e.extnamespace
    """,
    "functions": """
        select p.oid, p.proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid)
        from pg_proc as p where p.pronamespace = 'public'::regnamespace
    """,
}


@pytest.mark.parametrize("name", AS_TOOLS_ASK)
def test_queries_of_tools_are_answered(client: psycopg.Connection, name: str) -> None:
    cursor = client.execute(AS_TOOLS_ASK[name].encode())
    assert cursor.description
