CREATE OR REPLACE FUNCTION {{ api }}.kanon_composition({{ composition.parameters }}) RETURNS SETOF kanon.composition
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("composition") %}
    RETURN QUERY SELECT * FROM kanon.composition({{ composition.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_composition IS 'Says what releases disclose together that remember which row is which. The first row is about all of them, then pairs, the worst first, then each by itself. Exports and versions that were not remembered are not seen.
Arguments:
{{ composition.help }}
Example: SELECT releases, smallest, people_below FROM kanon_composition(''{patients,patients_wide}'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_composition TO kanon_curator;
