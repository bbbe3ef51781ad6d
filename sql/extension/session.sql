-- What the scripts rely on, until the script of the extension ends; see kanon_pg.admin.install.scripts.prepare_session.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
SELECT pg_catalog.pg_advisory_xact_lock({{ lock }})
