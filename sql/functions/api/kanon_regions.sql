CREATE OR REPLACE FUNCTION {{ api }}.kanon_regions({{ regions.parameters }}) RETURNS SETOF kanon.value_class
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT * FROM kanon.regions({{ regions.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_regions IS 'Groups the values of a column into connected regions. Each is shared by at least k people; a second table has the pairs of neighbours.
Arguments:
{{ regions.help }}
Example: SELECT DISTINCT label, size FROM kanon_regions(''patients'', ''zip'', ''zip_neighbours'', 150);';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_regions TO kanon_analyst;
