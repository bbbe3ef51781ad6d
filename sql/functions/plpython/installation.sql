-- Bodies in kanon_pg/plpython/installation.py.

CREATE OR REPLACE FUNCTION kanon.install_check() RETURNS TABLE (item text, ok boolean, detail text, hint text)
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("installation.install_check()") }};
COMMENT ON FUNCTION kanon.install_check IS 'Proves that everything works; called by kanon_install_check.';

CREATE OR REPLACE FUNCTION kanon.versions()
RETURNS TABLE (sql_version text, package_version text, python_version text, server_version text, installed_by text)
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("installation.version()") }};
COMMENT ON FUNCTION kanon.versions IS 'Shows versions; called by kanon_version.';

-- Who may use them.
GRANT EXECUTE ON FUNCTION kanon.install_check, kanon.versions TO kanon_analyst;
