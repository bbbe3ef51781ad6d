CREATE OR REPLACE FUNCTION {{ api }}.kanon_drop(release text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("drop") %}
    PERFORM kanon.drop(release);
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_drop IS 'Drops a release and everything it is made of; the base table stays.
Arguments:
release: Its name, or its view: ''patients'' or ''safe.patients''.
Example: SELECT kanon_drop(''patients'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_drop TO kanon_curator;
