CREATE OR REPLACE FUNCTION {{ api }}.kanon_refresh(release text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("refresh") %}
    PERFORM kanon.refresh(release);
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_refresh IS 'Brings a release up to date with its base table. The rules and guarantees stay the same; kanon.releases gets its new figures.
Arguments:
release: Its name, or its view: ''patients'' or ''safe.patients''.
Example: SELECT kanon_refresh(''patients'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_refresh TO kanon_curator;
