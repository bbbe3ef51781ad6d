{# With whose rights queries read the relation c: a superuser's code is trusted, that of others reaches what they own. #}
    SELECT CASE
        WHEN o.rolsuper OR o.rolname = 'kanon_owner' THEN 'kanon_reader'::name
        ELSE (
            SELECT q.rolname
            FROM kanon.base AS b INNER JOIN pg_catalog.pg_roles AS q ON q.rolname = pg_catalog.format('kanon_base_%s', b.reader)
            WHERE b.answers_for = o.oid
        )
    END AS reader
    FROM pg_catalog.pg_roles AS o
    WHERE o.oid = c.relowner
