CREATE OR REPLACE FUNCTION {{ api }}.kanon_rectangles({{ rectangles.parameters }}) RETURNS SETOF kanon.point_class
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT * FROM kanon.rectangles({{ rectangles.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_rectangles IS 'Groups points of the plane into rectangles of at least k people. They do not overlap.
Arguments:
{{ rectangles.help }}
Example: SELECT DISTINCT rectangle::text, size FROM kanon_rectangles(''zips'', ''longitude'', ''latitude'', 150, weight => ''people'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_rectangles TO kanon_analyst;
