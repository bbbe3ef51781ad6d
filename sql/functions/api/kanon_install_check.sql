CREATE OR REPLACE FUNCTION {{ api }}.kanon_install_check() RETURNS TABLE (item text, ok boolean, detail text, hint text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT * FROM kanon.install_check();
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_install_check IS 'Proves on this server that everything works; leaves nothing behind. It takes seconds.
Example: SELECT * FROM kanon_install_check();';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_install_check TO kanon_analyst;
