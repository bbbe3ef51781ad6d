CREATE OR REPLACE FUNCTION {{ api }}.kanon_version()
RETURNS TABLE (sql_version text, package_version text, python_version text, server_version text, installed_by text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT * FROM kanon.versions();
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_version IS 'Shows the versions of everything that works together. They are those of the SQL objects, the Python package, the server''s Python and the server; a mismatch is refused. The last column says whether the objects are an extension or made by kanon install.
Example: SELECT * FROM kanon_version();';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_version TO kanon_analyst;
