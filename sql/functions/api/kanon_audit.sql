CREATE OR REPLACE FUNCTION {{ api }}.kanon_audit({{ audit.parameters }}) RETURNS SETOF kanon.violating_set
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT * FROM kanon.audit({{ audit.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_audit IS 'Finds every minimal set of columns that singles people out. By each fewer than k people share their values; it counts the people at risk.
Arguments:
{{ audit.help }}
Example: SELECT columns, kind, people_at_risk FROM kanon_audit(''patients'', 5);';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_audit TO kanon_analyst;
